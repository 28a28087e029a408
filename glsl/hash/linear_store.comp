// Stores the keys of several words in new slots, and the values of elected items. Lists the items without a slot.
//
// In:  the slots of the items; the owners of the candidates.
// Out: keys and values in the table; the leftover items, their number, the status.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: one invocation writes a slot: the one that its state has the index of writes its key, and the candidate
//               writes its value. The status and the number of leftover items are atomic.
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

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/leftovers.glsl"
#include "hash/placed.glsl"
#include "hash/publish.glsl"

void main() {
    open_table();
    uint index = linear_group() * THREADS + thread_id();
    if (index >= batch_count()) return;
    uint slot = item_slots().v[index];
    if (slot == NO_SLOT) {
        list_item(index);
        return;
    }
    publish_key(slot & ~CANDIDATE, index);
    if (VALUE_WORDS != 0 && slot >= CANDIDATE) {
        uint value[MOST_VALUE_WORDS];
        load_item_value(owners().v[index], value);
        Words target = value_of(slot & ~CANDIDATE);
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) target.v[w] = value[w];
    }
}
