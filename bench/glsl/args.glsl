// What every kernel of the comparisons is given: one block of addresses and numbers (the host's twin is `Args` in
// src/primitives/split/kernels.rs). All arrays are reached by address, and none is longer than 2^30 words, which an
// index into them reaches.
//
// A bucket is a field of the key's uppermost bits.

// The value of an empty slot of an area. No key may have it.
#define EMPTY 0xffffffffu

layout(constant_id = 0) const bool PAIRS = false;

layout(local_size_x = 256) in;
const uint THREADS = 256u;
// Items that an invocation asks for at a time, a workgroup apart.
const uint RUN = 8u;
const uint TILE = THREADS * RUN;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Pairs { uvec2 v[]; };

layout(push_constant, scalar) uniform Args {
    uvec2 keys;
    uvec2 values;
    uvec2 keys_out;
    uvec2 values_out;
    uvec2 ids;         // of buckets
    uvec2 pairs;       // keys with their values
    uvec2 pairs_out;   // the same, sorted by ids
    uvec2 areas;       // of buckets, one behind the other: keys
    uvec2 area_values;
    uint count;
    uint shift;        // of a key, to its bucket
    uint area;         // slots of one area
    uint slots;        // of all areas
} args;

// The first item of this invocation in the workgroup's first tile. The next one lies `next_tile` further.
uint first_item() { return gl_WorkGroupID.x * TILE + gl_LocalInvocationIndex; }

uint next_tile() { return gl_NumWorkGroups.x * TILE; }
