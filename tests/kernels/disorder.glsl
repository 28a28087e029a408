// A comparator for tests that is no order: each pair of keys has a random answer.

bool trm_less(KEY a, KEY b, TrmUserData data) { return ((a * 0x9e3779b9u ^ b * 0x85ebca6bu) >> 13 & 1) != 0; }
