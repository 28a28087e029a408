// The requested count of a problem, clamped to its maximum.

PROBLEM_MEMBER(uvec2, count)

uint requested_count(uint p) {
    uvec2 address = problem_count(p);
    uint most = problem_max_count(p);
    if (is_null(address)) return most;
    return min(Words(address).v[0], most);
}
