// An item as merge kernels hold it: the compared words of the key, then at most one carried word.
//
// The carried word is the value, if the item has no further word. Otherwise the carried word is the source index of the
// item. The last step then loads the missing words by source index.

#include "merge/compare.glsl"

// Whether the compared words are all words of the key.
const bool COMPARES_WHOLE_KEYS = COMPARED_WORDS == KEY_WORDS;
const bool CARRIES_WORD = VALUE_WORDS != 0 || !COMPARES_WHOLE_KEYS;
const bool CARRIES_VALUE = COMPARES_WHOLE_KEYS && VALUE_WORDS == 1;
const uint MERGED_WORDS = COMPARED_WORDS + (CARRIES_WORD ? 1 : 0);

#ifdef USER_FUNCTION
#include "merge/user_order.glsl"
#else
#include "merge/comes_after.glsl"
#endif
