// Items as they are merged.
//
// An item is the words of its key that are compared, and one that it may carry: its value, or the place it came from, by which all that is
// missing follows at the end.

#include "merge/compare.glsl"

const bool MERGES_KEYS = COMPARED_WORDS == KEY_WORDS;
const bool CARRIES_WORD = VALUE_WORDS != 0 || !MERGES_KEYS;
const bool CARRIES_VALUE = MERGES_KEYS && VALUE_WORDS == 1;
const uint MERGED_WORDS = COMPARED_WORDS + (CARRIES_WORD ? 1 : 0);

// Whether b, which comes after a, belongs before it.
bool comes_after(uint a[MERGED_WORDS], uint b[MERGED_WORDS]) {
    bool greater = false;
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        uint x = a[w] & sorted_bits(w);
        uint y = b[w] & sorted_bits(w);
        greater = x > y || x == y && greater;
    }
    return greater;
}
