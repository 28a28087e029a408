// A comparator for tests: floats by their absolute value, so that -1 and 1 are equal. NaN is not compared.

bool trm_less(KEY a, KEY b, TrmUserData data) { return abs(a) < abs(b); }
