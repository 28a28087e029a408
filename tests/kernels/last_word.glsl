// A comparator for tests, for keys of several words: by the last word, the greatest first; then by the first word.

uint last_word(uvec2 key) { return key.y; }
uint last_word(uvec3 key) { return key.z; }

bool trm_less(KEY a, KEY b, TrmUserData data) {
    uint x = last_word(a);
    uint y = last_word(b);
    return x == y ? a.x < b.x : x > y;
}
