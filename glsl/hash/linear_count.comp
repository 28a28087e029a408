// Counts the values that a multimap has for each key of a batch.
//
// In:  keys; their count, if it is in device memory; the table.
// Out: the numbers of values, and the status. If they are scanned: for each key, the number of values of the keys
//      before it in its workgroup; for each workgroup, the number of all its values in scratch; no status.
//      STENCIL: keys that are not selected have no values.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: no other invocation of the dispatch accesses what one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashValuesPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "core/sum_threads.glsl"
#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/stencil.glsl"

uint count_values(uint key[KEY_WORDS]) {
    Wanted wanted = wanted_of(key);
    uint values = 0;
    for (uint probe = 0; probe < most_probes(); ++probe) {
        uint slot = (wanted.home + probe) & (slot_count() - 1);
        uint state = slot_words(slot, 0).v[0];
        if (state == EMPTY_SLOT) break;
        if (state == wanted.state && has_key(slot, key)) ++values;
    }
    return values;
}

void main() {
    open_table();
    uint count = batch_count();
    bool scans = args.scans != 0;
    if (linear_group() == 0 && thread_id() == 0 && !scans) write_status(args.problem.count);
    uint index = linear_group() * THREADS + thread_id();
    uint number = 0;
    if (index < count && is_selected(index)) {
        uint key[KEY_WORDS];
        load_key(index, key);
        number = count_values(key);
    }
    if (scans) {
        uint total;
        number = sum_threads(number, total);
        // Dispatches may have more workgroups than totals.
        bool has_items = linear_group() * THREADS < count;
        if (has_items && thread_id() == 0) Words(scratch_part(args.totals)).v[linear_group()] = total;
    }
    if (index < count) Words(args.problem.numbers).v[index] = number;
}
