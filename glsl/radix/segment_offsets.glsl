// Segment offsets of the caller: offsets[segments + 1]. The number of segments may be in device memory.

Words offsets() { return Words(args.segments.offsets); }

uint told_segments() {
    uvec2 address = args.segments.count;
    uint most = args.segments.max_count;
    return is_null(address) ? most : min(Words(address).v[0], most);
}

// Offsets are clamped to the arrays.
uint begin_of(uint segment) { return min(offsets().v[segment], problem_max_count(0)); }

// Returns the items of all segments.
Segment told_cover() {
    uint first = begin_of(0);
    return Segment(first, max(begin_of(told_segments()), first) - first);
}
