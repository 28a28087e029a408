// What a function of the caller is given, and its text: `uint trm_bucket(KEY key, uint index, TrmUserData data)`, which says the bucket of the item
// `index`, or a number that is none. KEY is uint, int or float for keys of 32 bits, uvec2 for those of 64, low word first, and uvec2, uvec3 or uvec4
// for several words, in their order.

struct TrmUserData {
    uvec2 address;  // SplitInfo::user_address, for buffer references
    uvec4 words;    // SplitInfo::user_words
};

#include "trm_bucket.glsl"
