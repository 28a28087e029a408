// The list of longer segments: one for each window, if any begins there; then the items of all segments.

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Windows {
    Segment v[];
};

Windows windows() { return Windows(scratch_part(args.windows)); }

Segment all_segments() { return windows().v[args.problem_count]; }
