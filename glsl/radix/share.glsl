// The share of a workgroup in its problem, for kernels without tiles.
//
// Kernels that treat all items of segments alike define ALL_SEGMENTS(), the extent of all segments. This extent then is
// the only problem. Other kernels call find_share only without segments.

struct Share {
    uint problem;
    uint count;  // items in the problem
    uint index;   // of this share: the workgroups with shares of a problem are numbered from 0
    uint shares;  // shares of the problem
};

// Finds the share of this workgroup. Returns false if there is none.
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
    // Dispatches with several rows (y) may have excess workgroups.
    return share.index < share.shares;
}
