// Hashes the keys of a batch, and prepares what the following passes write.
//
// In:  keys; their count, if it is in device memory; the table's header.
// Out: hashes[i]: the first hash of key i, or both of a key of two words; a zero for each 32 items in `spilled` and
//      `moved`; the status; a leftover count of zero; in `state`: whether the table has been used since it was cleared,
//      and that no key has moved between slices; in the header that the table has been used.
// Workgroups: one for each THREADS * ITEMS keys at the maximum count, at least one.
// Memory order: inputs come from earlier dispatches; every word is written once.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

#include "radix/scratch.glsl"
#include "hash/table.glsl"
#include "hash/batch.glsl"

// The first hash is the last word of two: batches are sorted by its first bits.
void store_hashes(uint index, uint first, uint second) {
    Words hashes = Words(advance(scratch_part(args.hashes), bytes_of(index, HASH_WORDS * 4)));
    if (HASH_WORDS == 2) hashes.v[0] = second;
    hashes.v[HASH_WORDS - 1] = first;
}

void main() {
    uint count = batch_count();
    uint first = linear_group() * THREADS * ITEMS;
    if (linear_group() == 0 && thread_id() == 0) {
        write_status(args.problem.requested);
        if (!is_null(args.problem.count_out)) Words(args.problem.count_out).v[0] = 0;
        Header header = Header(args.problem.table);
        Words state = Words(scratch_part(args.state));
        state.v[STATE_USED] = header.v[0].used;
        state.v[STATE_MOVED] = 0;
        if (count != 0) header.v[0].used = 1;
    }
    Words spilled = Words(scratch_part(args.spilled));
    Words moved = Words(scratch_part(args.moved));
    uint keys[ITEMS * KEY_WORDS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint key[KEY_WORDS];
        uint index = first + k * THREADS + thread_id();
        if (index < count) load_key(index, key);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[k * KEY_WORDS + w] = key[w];
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint key[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = keys[k * KEY_WORDS + w];
        uint index = first + k * THREADS + thread_id();
        if (index < count) {
            uint first_hash, second_hash;
            hash_key(key, first_hash, second_hash);
            store_hashes(index, first_hash, second_hash);
            if (index % 32 == 0) {
                spilled.v[index / 32] = 0;
                moved.v[index / 32] = 0;
            }
        }
    }
}
