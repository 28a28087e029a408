// The list of long segments, which radix/segments.comp writes. Entry w: the long segment that begins in window w, or a
// count of 0. After the last window: the extent of all segments.

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Windows {
    Segment v[];
};

Windows windows() { return Windows(scratch_part(args.windows)); }

Segment stored_extent_of_segments() { return windows().v[args.problem_count]; }
