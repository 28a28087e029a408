// The items of a batch: their number, their keys, and the status word of the operation.

#include "hash/count.glsl"
#include "hash/status.glsl"
#include "hash/load_key.glsl"
