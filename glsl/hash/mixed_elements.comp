// Writes the elements of a mixed batch, and the hashes by which they are sorted.
//
// In:  keys and opcodes; their count, if it is in device memory.
// Out: in scratch: the first hash of each key, or both of a key of two words; the elements; before[i] = NO_CHANGE,
//      which the scan overwrites, if the caller wants results.
// Workgroups: one for each THREADS * ITEMS keys at the maximum count.
// Memory order: inputs come from earlier dispatches; every word is written once.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashMixedPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

#include "radix/scratch.glsl"
#include "hash/key.glsl"
#include "hash/count.glsl"
#include "hash/load_key.glsl"
#include "hash/store_hashes.glsl"
#include "hash/mixed.glsl"

void main() {
    uint count = batch_count();
    uint first = linear_group() * THREADS * ITEMS;
    Words elements = Words(scratch_part(args.elements));
    for (uint k = 0; k < ITEMS; ++k) {
        uint index = first + k * THREADS + thread_id();
        if (index >= count) return;
        uint key[KEY_WORDS];
        load_key(index, key);
        uint first_hash, second_hash;
        hash_key(key, first_hash, second_hash);
        store_hashes(index, first_hash, second_hash);
        if (wants_results()) Words(scratch_part(args.before)).v[index] = NO_CHANGE;
        elements.v[index] = element_of(Words(args.problem.opcodes).v[index] & 3, index);
    }
}
