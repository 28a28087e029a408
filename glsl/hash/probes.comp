// Counts the keys of a table by the number of buckets that a search reads to find them.
//
// In:  the table; counters of zero.
// Out: the counters. Keys of overflow slices follow those of home slices.
// Workgroups: one for each slice, overflow slices included.
// Memory order: counters are atomic.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashStatisticsPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "hash/table.glsl"

const uint COUNTERS = 2 * MOST_PROBES;

// The counters of this slice.
shared uint sh_counts[COUNTERS];

// Counts a key in a bucket of a slice.
void count_key(uint key[KEY_WORDS], uint slice, uint bucket) {
    uint first, second;
    hash_key(key, first, second);
    bool overflows = slice >= args.problem.slices;
    Probe probe = home_probe(first, second);
    if (overflows) probe = overflow_probe(first, second);
    for (uint k = 0; k < MOST_PROBES; ++k) {
        if (probe.bucket == bucket) {
            atomicAdd(sh_counts[overflows ? MOST_PROBES + k : k], 1u);
            return;
        }
        advance_probe(probe);
    }
}

void main() {
    uint slice = linear_group();
    if (slice >= args.problem.slices + overflow_slices()) return;
    for (uint k = thread_id(); k < COUNTERS; k += THREADS) sh_counts[k] = 0;
    barrier();

    // 1. Count the keys of the slice.
    uvec2 address = slice_address(slice);
    for (uint at = thread_id(); at < SLICE_SLOTS; at += THREADS) {
        uint slot[SLOT_WORDS];
        uint key[KEY_WORDS];
        load_slot(address, at, slot);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = slot[w];
        if (reserved_index(key) == NOT_RESERVED) count_key(key, slice, at / SLOTS);
    }
    barrier();

    // 2. Add them up.
    Words counters = Words(advance(args.problem.statistics, uvec2(STATISTICS_PROBES * 4, 0)));
    for (uint k = thread_id(); k < COUNTERS; k += THREADS) {
        if (sh_counts[k] != 0) atomicAdd(counters.v[k], sh_counts[k]);
    }
}
