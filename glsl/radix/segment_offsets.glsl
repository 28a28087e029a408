// Segment offsets of the caller: offsets[segments + 1]. The number of segments may be in device memory.

Words offsets() { return Words(uvec2(args.arguments, args.tickets)); }

uint told_segments() {
    uvec2 address = problem_count(0);
    return is_null(address) ? args.chunk : min(Words(address).v[0], args.chunk);
}

// Offsets are clamped to the arrays.
uint begin_of(uint segment) { return min(offsets().v[segment], problem_max_count(0)); }

// Returns the range that all segments cover.
SortState told_cover() {
    uint first = begin_of(0);
    return SortState(max(begin_of(told_segments()), first) - first, 0, first);
}
