// The order of items by a user-defined comparator, in place of merge/comes_after.glsl. Keys are not encoded.

#include "radix/user_key.glsl"

// Input of the comparator. A workgroup merges items of one problem: main() loads it once.
TrmUserData user_data;

// Whether `a` belongs after `b`.
bool comes_after(uint a[MERGED_WORDS], uint b[MERGED_WORDS]) { return trm_less(user_key(b), user_key(a), user_data); }
