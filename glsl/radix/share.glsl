// The share of a workgroup in its problem, for kernels without tiles.
//
// Kernels that treat all segments alike define ALL_SEGMENTS(), the items of all segments: they are one problem. Kernels
// that do not, call find_share only without segments.

struct Share {
    uint problem;
    uint count;  // items in the problem
    uint index;
    uint shares;
};

bool find_share(out Share share) {
    uint problems = SEGMENTS ? 1 : args.problem_count;
    share.problem = linear_group() % problems;
    share.index = linear_group() / problems;
    share.shares = max(gl_NumWorkGroups.x * gl_NumWorkGroups.y / problems, 1);
#ifdef ALL_SEGMENTS
    if (SEGMENTS) {
        Segment all = ALL_SEGMENTS();
        segment_first = all.first;
        share.count = all.count;
    } else {
        share.count = resolved_count(share.problem);
    }
#else
    share.count = resolved_count(share.problem);
#endif
    // Folded dispatches have excess workgroups.
    return share.index < share.shares;
}
