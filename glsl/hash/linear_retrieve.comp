// Writes the values that a multimap has for each key of a batch.
//
// In:  keys; their count, if it is in device memory; the table; for each key, the number of values of the keys before
//      it in its workgroup; in scratch, for each workgroup, the number of values of all before it.
// Out: the index of the first value of each key; the values with indices below max_values, unless their address is
//      null. STENCIL: keys that are not selected have none.
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

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/stencil.glsl"

// Without a loop: see are_key().
void copy_value(Words source, Words target) {
    if (VALUE_WORDS > 0) target.v[0] = source.v[0];
    if (VALUE_WORDS > 1) target.v[1] = source.v[1];
    if (VALUE_WORDS > 2) target.v[2] = source.v[2];
    if (VALUE_WORDS > 3) target.v[3] = source.v[3];
}

void main() {
    open_table();
    uint index = linear_group() * THREADS + thread_id();
    if (index >= batch_count()) return;
    uint before = Words(scratch_part(args.totals)).v[linear_group()];
    Words numbers = Words(args.problem.numbers);
    uint position = before + min(numbers.v[index], ~before);
    numbers.v[index] = position;
    if (is_null(args.problem.values) || !is_selected(index)) return;

    uint key[KEY_WORDS];
    load_key(index, key);
    Wanted wanted = wanted_of(key);
    for (uint probe = 0; probe < most_probes() && position < args.problem.max_values; ++probe) {
        uint slot = (wanted.home + probe) & (slot_count() - 1);
        uint state = slot_words(slot, 0).v[0];
        if (state == EMPTY_SLOT) break;
        if (state != wanted.state || !has_key(slot, key)) continue;
        Words target = Words(advance(args.problem.values, bytes_of(position, VALUE_WORDS * 4)));
        copy_value(slot_words(slot, VALUE_BEGIN), target);
        ++position;
    }
}
