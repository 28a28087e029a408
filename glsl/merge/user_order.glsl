// The order of items by a user-defined comparator, in place of merge/comes_after.glsl. Keys are not encoded.
//
// The includer defines MERGED_WORDS, the words of an item. The words of the key come first.

#include "radix/user_key.glsl"

// Input of the comparator. A workgroup merges items of one problem: main() loads it once.
TrmUserData user_data;

KEY key_of(uint item[MERGED_WORDS]) {
    uint key[KEY_WORDS];
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = item[w];
    return user_key(key);
}

// Whether `a` belongs after `b`.
bool comes_after(uint a[MERGED_WORDS], uint b[MERGED_WORDS]) { return trm_less(key_of(b), key_of(a), user_data); }
