// Includes a user-defined bucket function:
//
//   uint trm_bucket(KEY key, uint index, TrmUserData data)
//
// It returns the bucket of the item `index`, or a number that is no bucket. KEY depends on the type of the keys:
// - keys of 32 bits: uint, int or float;
// - keys of 64 bits: uvec2, low word first;
// - keys of several words: uvec2, uvec3 or uvec4, in the order of the words in memory.

struct TrmUserData {
    uvec2 address;  // SplitInfo::user_address, for buffer references
    uvec4 words;    // SplitInfo::user_words
};

#include "trm_bucket.glsl"
