// The status word of a problem.

PROBLEM_MEMBER(uvec2, status)

// Writes the status of a problem. One invocation for each problem. `more`: further flags.
void write_status(uint p, uint more) {
    uvec2 status = problem_status(p);
    if (is_null(status)) return;
    uvec2 count = problem_count(p);
    bool clamped = !is_null(count) && Words(count).v[0] > problem_max_count(p);
    Words(status).v[0] = (clamped ? STATUS_COUNT_CLAMPED : 0) | more;
}

void write_status(uint p) { write_status(p, 0); }
