// A comparator for tests: compares the bits of words.w alone. The others tell apart keys that are equal.

bool trm_less(KEY a, KEY b, TrmUserData data) { return (a & data.words.w) < (b & data.words.w); }
