// Segment offsets of the caller: offsets[segments + 1]. The number of segments may be in device memory.

Words offsets() { return Words(args.segments.offsets); }

uint segment_count() {
    uvec2 address = args.segments.count;
    uint most = args.segments.max_count;
    return is_null(address) ? most : min(Words(address).v[0], most);
}

// Returns the first item of a segment, clamped to the capacity of the arrays. Segment `segment` ends at
// segment_begin(segment + 1).
uint segment_begin(uint segment) { return min(offsets().v[segment], problem_max_count(0)); }

// Returns the extent of all segments: from the first item of the first to the end of the last.
Segment extent_of_segments() {
    uint first = segment_begin(0);
    return Segment(first, max(segment_begin(segment_count()), first) - first);
}
