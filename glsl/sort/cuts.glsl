// Where the caller cuts arrays into segments: offsets[segments + 1], and how many segments there are, which may lie on the device.

Words offsets() { return Words(uvec2(args.arguments, args.tickets)); }

uint told_segments() {
    uvec2 address = problem_count(0);
    return is_null(address) ? args.chunk : min(Words(address).v[0], args.chunk);
}

// What lies beyond the arrays is cut off.
uint begin_of(uint segment) { return min(offsets().v[segment], problem_max_count(0)); }

// What all segments cover, from the first one on.
SortState told_cover() {
    uint first = begin_of(0);
    return SortState(max(begin_of(told_segments()), first) - first, 0, first);
}
