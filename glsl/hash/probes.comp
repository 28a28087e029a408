// Counts the keys of a table by the number of probes that a search takes to find them: buckets that it reads, or slots
// of LINEAR tables.
//
// In:  the table; counters of zero.
// Out: the counters: keys by the number of probes, their sum, which has two words, the largest one, and the keys of
//      overflow slices.
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

#ifdef LINEAR
#include "hash/linear.glsl"
#else
#include "hash/table.glsl"
#endif

// The counters of this slice.
shared uint sh_counts[STATISTICS_BINS];
// Its keys have at most 2^24 probes: SLICE_SLOTS times the most of a key.
shared uint sh_total;
shared uint sh_most;

// The number of probes for a key in a slot.
uint probes_of(uint key[KEY_WORDS], uint slice, uint slot) {
#ifdef LINEAR
    return ((slice * SLICE_SLOTS + slot - wanted_of(key).home) & (slot_count() - 1)) + 1;
#else
    uint first, second;
    hash_key(key, first, second);
    bool overflows = slice >= table_slices();
    Probe probe = home_probe(first, second);
    if (overflows) probe = overflow_probe(first, second);
    uint probes = overflows ? HOME_PROBES + 1 : 1;
    while (probe.bucket != slot / SLOTS && probes < HOME_PROBES + OVERFLOW_PROBES) {
        advance_probe(probe);
        ++probes;
    }
    return probes;
#endif
}

void main() {
    open_table();
    uint slice = linear_group();
    if (slice >= all_slices()) return;
    for (uint k = thread_id(); k < STATISTICS_BINS; k += THREADS) sh_counts[k] = 0;
    if (thread_id() == 0) {
        sh_total = 0;
        sh_most = 0;
    }
    barrier();

    // 1. Count the keys of the slice. Bin k has those with more than 2^(k - 1) probes, and at most 2^k.
    uvec2 address = slice_address(slice);
    for (uint slot = thread_id(); slot < SLICE_SLOTS; slot += THREADS) {
        uint key[KEY_WORDS];
        if (!load_slot_key(address, slot, key)) continue;
        uint probes = probes_of(key, slice, slot);
        atomicAdd(sh_counts[findMSB(probes - 1) + 1], 1u);
        atomicAdd(sh_total, probes);
        atomicMax(sh_most, probes);
    }
    barrier();

    // 2. Add them up.
    Words statistics = Words(args.problem.statistics);
    for (uint k = thread_id(); k < STATISTICS_BINS; k += THREADS) {
        if (sh_counts[k] == 0) continue;
        atomicAdd(statistics.v[STATISTICS_PROBES + k], sh_counts[k]);
        if (slice >= table_slices()) atomicAdd(statistics.v[STATISTICS_OVERFLOW_KEYS], sh_counts[k]);
    }
    if (thread_id() == 0 && sh_total != 0) {
        atomicMax(statistics.v[STATISTICS_MOST_PROBES], sh_most);
        uint before = atomicAdd(statistics.v[STATISTICS_TOTAL_PROBES], sh_total);
        if (before + sh_total < before) atomicAdd(statistics.v[STATISTICS_TOTAL_PROBES + 1], 1u);
    }
}
