// Writes the elements of a mixed batch, and the identities of their keys, by which they are sorted.
//
// In:  keys and opcodes; their count, if it is in device memory; for keys of more than two words, in scratch: slots,
//      all 0.
// Out: in scratch: identities and elements; before[i] = NO_CHANGE, which the scan overwrites, if the caller wants
//      results.
// Workgroups: one for each THREADS * ITEMS keys at the maximum count.
// Memory order: inputs come from earlier dispatches. A slot is claimed once, by an atomic exchange, and all accesses to
//               it are atomic. Every other word is written once.
// Progress: never waits. At least half of the slots are free, so every search for one ends. It is bounded besides.
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
#include "hash/identity.glsl"
#include "hash/mixed.glsl"

// The number of a key in the batch. The first one of its items to claim a slot is the one that all others find there.
// Both hashes select the first slot: keys with one equal hash do not meet.
uint number_of(uint index, uint key[KEY_WORDS], uint first_hash, uint second_hash) {
    uint start = second_hash ^ mix_bits(first_hash);
    for (uint k = 0; k <= args.last_slot; ++k) {
        uvec2 slot = advance(scratch_part(args.slots), bytes_of(start + k & args.last_slot, 4));
        // Without an exchange if the slot has been claimed: all items of a key come here.
        uint number = load_relaxed(Words(slot), 0);
        if (number == 0) number = atomicCompSwap(Words(slot).v[0], 0, index + 1);
        if (number == 0) return index + 1;
        uint other[KEY_WORDS];
        load_key(number - 1, other);
        if (keys_equal(other, key)) return number;
    }
    // Not reached: some slot is free. The item would have a number of its own.
    return index + 1;
}

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
        uint other = KEY_WORDS > 2 ? number_of(index, key, first_hash, second_hash) : second_hash;
        store_identity(index, first_hash, other);
        if (wants_results()) Words(scratch_part(args.before)).v[index] = NO_CHANGE;
        elements.v[index] = element_of(Words(args.problem.opcodes).v[index] & 3, index);
    }
}
