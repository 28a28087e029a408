// Writes the statistics of a table that its header has, and clears the counters that hash_probes adds to.
//
// In:  the header of the table.
// Out: the statistics: numbers of keys and slots; counters of zero.
// Workgroups: one.
// Memory order: every word is written once.
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

void main() {
    open_table();
    Words statistics = Words(args.problem.statistics);
    if (thread_id() == 0) {
        HashHeader header = Header(args.problem.table).v[0];
        statistics.v[STATISTICS_KEYS] = header.entries;
        statistics.v[STATISTICS_ERASED_SLOTS] = header.erased;
        statistics.v[STATISTICS_SLOTS] = table_slices() * SLICE_SLOTS;
        statistics.v[STATISTICS_OVERFLOW_SLOTS] = (all_slices() - table_slices()) * SLICE_SLOTS;
    }
    for (uint k = STATISTICS_COUNTED + thread_id(); k < STATISTICS_WORDS; k += THREADS) statistics.v[k] = 0;
}
