// The status word of a merge.

PROBLEM_MEMBER(uvec2, status)

// Returns whether a count in device memory exceeds its maximum.
bool is_clamped(uvec2 address, uint most) { return !is_null(address) && Words(address).v[0] > most; }

// Writes the status of a problem. One invocation for each problem.
void write_status(uint p) {
    uvec2 status = problem_status(p);
    if (is_null(status)) return;
    uint most_a = problem_max_a(p);
    bool clamped = is_clamped(problem_count_a(p), most_a);
    if (is_clamped(problem_count_b(p), problem_max_count(p) - most_a)) clamped = true;
    Words(status).v[0] = clamped ? STATUS_COUNT_CLAMPED : 0;
}
