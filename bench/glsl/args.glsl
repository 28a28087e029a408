// Push constants of every comparison kernel: device addresses and numbers. `Args` in src/primitives/split/kernels.rs
// has the same members. No array is longer than 2^30 words, the range that an index reaches.
//
// The bucket of a key is a field of its uppermost bits.

// The key of an empty slot of an area. No item may have this key.
#define EMPTY 0xffffffffu

layout(constant_id = 0) const bool PAIRS = false;

layout(local_size_x = 256) in;
const uint THREADS = 256u;
// Items that an invocation loads at a time. Their indices are THREADS apart.
const uint RUN = 8u;
const uint TILE = THREADS * RUN;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Pairs { uvec2 v[]; };

layout(push_constant, scalar) uniform Args {
    uvec2 keys;
    uvec2 values;
    uvec2 keys_out;
    uvec2 values_out;
    uvec2 ids;         // bucket of each item
    uvec2 pairs;       // keys with their values
    uvec2 pairs_out;   // pairs sorted by ids
    uvec2 areas;       // keys in the areas of all buckets, one area after the other
    uvec2 area_values;
    uint count;
    uint shift;        // right shift from a key to its bucket
    uint area;         // slots of one area
    uint slots;        // slots of all areas
} args;

// Returns the index of this invocation's first item in the workgroup's first tile. Each further tile adds next_tile().
uint first_item() { return gl_WorkGroupID.x * TILE + gl_LocalInvocationIndex; }

uint next_tile() { return gl_NumWorkGroups.x * TILE; }
