// A comparator for tests: compares the bits of words.w alone. The other bits distinguish equal keys.

bool trm_less(KEY a, KEY b, TrmUserData data) { return (a & data.words.w) < (b & data.words.w); }
