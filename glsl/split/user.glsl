// Includes a user-defined bucket function:
//
//   uint trm_bucket(KEY key, uint index, TrmUserData data)
//
// It returns the bucket of the item `index`, or a number that is no bucket. radix/user_key.glsl describes KEY.

#include "radix/user_data.glsl"
#include "trm_bucket.glsl"
