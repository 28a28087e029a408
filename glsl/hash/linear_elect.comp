// Elects the item that provides the value of each slot: the first or last one of an insertion, the last one of an
// assignment.
//
// In:  the slots of the items; the index of a candidate in the first word of each slot's value.
// Out: the owner of each candidate that its slot has the index of. Other candidates are none any more.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: owners are atomic. An item clears its own bit, if its slot has another index: no invocation reads it.
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

layout(constant_id = SPEC_CHANGE) const uint CHANGE = HASH_INSERT;

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/placed.glsl"

void main() {
    open_table();
    uint count = batch_count();
    uint index = linear_group() * THREADS + thread_id();
    if (index >= count) return;
    Words slots = item_slots();
    uint slot = slots.v[index];
    if (slot == NO_SLOT) return;
    uint candidate = value_of(slot & ~CANDIDATE).v[0];
    if (candidate == index && slot >= CANDIDATE) return;
    // An insertion leaves values of the table as they are: these may be equal to an index.
    if (candidate >= count || slots.v[candidate] != (slot | CANDIDATE)) return;
    if (CHANGE == HASH_ASSIGN) {
        atomicMax(owners().v[candidate], index);
        slots.v[index] = slot & ~CANDIDATE;
    } else if (CHANGE == HASH_INSERT_LAST) {
        atomicMax(owners().v[candidate], index);
    } else {
        atomicMin(owners().v[candidate], index);
    }
}
