// A comparator for tests: the greatest key first.

bool trm_less(KEY a, KEY b, TrmUserData data) { return a > b; }
