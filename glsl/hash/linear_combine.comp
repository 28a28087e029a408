// Combines the values of the items of a batch with those of their slots.
//
// In:  the slots of the items; the identity in the values of new slots.
// Out: values in the table. Of the first round: keys of several words in new slots, the leftover items, their number,
//      the status.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: values are atomic, and so are the status and the number of leftover items. The invocation that a state
//               has the index of writes the key.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashLinearPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_CHANGE) const uint CHANGE = HASH_ADD;

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/values.glsl"
#include "hash/leftovers.glsl"
#include "hash/placed.glsl"
#include "hash/publish.glsl"

void main() {
    open_table();
    uint index = linear_group() * THREADS + thread_id();
    if (index >= batch_count()) return;
    uint slot = item_slots().v[index];
    if (slot == NO_SLOT) {
        if (args.round == 0) list_item(index);
        return;
    }
    if (args.round == 0) publish_key(slot, index);
    uint value[MOST_VALUE_WORDS];
    [[unroll]] for (uint w = 0; w < MOST_VALUE_WORDS; ++w) value[w] = w == 0 ? 1 : 0;
    if (CHANGE != HASH_INCREMENT) load_item_value(index, value);
    combine_value(value_of(slot), value, args.round);
}
