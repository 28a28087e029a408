// Bucket starts of the caller.

PROBLEM_MEMBER(uvec2, starts)
PROBLEM_MEMBER(uint, capacity)
