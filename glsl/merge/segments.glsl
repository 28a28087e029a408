// Segments of both sequences: segment s of the output is the merge of segment s of A and segment s of B. The merge
// paths of all segments, concatenated, are one path: where a segment ends, the path has taken all items of this segment
// from both sequences.

MERGE_DETAIL(uvec2, offsets_a)
MERGE_DETAIL(uvec2, offsets_b)
MERGE_DETAIL(uvec2, offsets_out)
MERGE_DETAIL(uvec2, segment_count)
MERGE_DETAIL(uint, max_segments)

uint segments_of(uint p) { return clamped_count(merge_segment_count(p), merge_max_segments(p)); }

// Returns the index of the first item of a segment, clamped to the number of items of its sequence.
uint segment_offset(uvec2 offsets, uint segment, uint count) {
    return segment == 0 ? 0 : min(Words(offsets).v[segment], count);
}

// Items of A and of B before a segment.
Counts segment_start(uint p, uint segment, Counts most) {
    Counts start;
    start.a = segment_offset(merge_offsets_a(p), segment, most.a);
    start.b = segment_offset(merge_offsets_b(p), segment, most.b);
    return start;
}

// The number of items of each sequence: the ends of the last segment.
Counts all_counts(uint p) {
    Counts most = counts_of(p);
    return SEGMENTED ? segment_start(p, segments_of(p), most) : most;
}

// Returns whether there are more segments than the maximum, or the last one ends past the end of an array.
bool segments_exceed_limits(uint p) {
    uint segments = segments_of(p);
    uvec2 count = merge_segment_count(p);
    if (!is_null(count) && Words(count).v[0] > segments) return true;
    if (segments == 0) return false;
    uint most_a = problem_max_a(p);
    return Words(merge_offsets_a(p)).v[segments] > most_a ||
           Words(merge_offsets_b(p)).v[segments] > problem_max_count(p) - most_a;
}

// Returns the segment of an item of the output: the last one from `first` on that begins at or before its diagonal. The
// distance of the tested segments doubles, from `step` on; then a binary search follows.
uint find_segment(uint p, uint diagonal, Counts most, uint first, uint step) {
    uint end = max(segments_of(p), 1);
    bool doubles = true;
    while (first + 1 < end) {
        uint tried = doubles ? min(first + step, end - 1) : first + (end - first) / 2;
        Counts start = segment_start(p, tried, most);
        if (start.a + start.b <= diagonal) {
            first = tried;
            step *= 2;
        } else {
            end = tried;
            doubles = false;
        }
    }
    return first;
}
