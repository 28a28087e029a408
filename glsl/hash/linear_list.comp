// Lists the items of a batch that have no slot.
//
// In:  keys; values; their count, if it is in device memory; the slots of the items in scratch; a leftover count of
//      zero.
// Out: the leftover items, their number, the status.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: the status and the number of leftover items are atomic.
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
    uint index = linear_group() * THREADS + thread_id();
    if (index < batch_count() && item_slots().v[index] == NO_SLOT) list_item(index);
}
