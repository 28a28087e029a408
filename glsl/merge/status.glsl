// The results of a merge besides its items: the status word, and the number of items.

PROBLEM_MEMBER(uvec2, status)
PROBLEM_MEMBER(uvec2, count_out)

// Returns whether a count in device memory exceeds its maximum.
bool is_clamped(uvec2 address, uint most) { return !is_null(address) && Words(address).v[0] > most; }

// Writes the status of a problem, and the number of items that it writes. One invocation for each problem.
void write_results(uint p, uint items) {
    uvec2 count_out = problem_count_out(p);
    if (!is_null(count_out)) Words(count_out).v[0] = items;
    uvec2 status = problem_status(p);
    if (is_null(status)) return;
    uint most_a = problem_max_a(p);
    bool clamped = is_clamped(problem_count_a(p), most_a);
    if (is_clamped(problem_count_b(p), problem_max_count(p) - most_a)) clamped = true;
#ifdef MERGE_DETAIL
    if (SEGMENTED && segments_exceed_limits(p)) clamped = true;
#endif
    Words(status).v[0] = clamped ? STATUS_COUNT_CLAMPED : 0;
}
