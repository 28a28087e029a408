// Includes a user-defined comparator:
//
//   bool trm_less(KEY a, KEY b, TrmUserData data)
//
// It returns whether `a` comes before `b`: a strict weak order. radix/user_key.glsl describes KEY.

#include "radix/user_data.glsl"
#include "trm_less.glsl"
