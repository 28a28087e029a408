// Erases keys from a table with linear probing.
//
// In:  keys; their count, if it is in device memory; the table.
// Out: erased slots; in the header the numbers of keys and of erased slots; in scratch the slot of each item that has
//      erased a key; the status.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: states of slots are read by relaxed atomic loads, and change by compare-and-swap: of several items with
//               a key, one erases it.
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

layout(constant_id = SPEC_CHANGE) const uint CHANGE = HASH_ERASE;

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/values.glsl"
#include "hash/placed.glsl"

// Keys that this workgroup has erased, and those of them that had slots.
shared uint sh_keys;
shared uint sh_slots;

void main() {
    uint count = batch_count();
    if (linear_group() == 0 && thread_id() == 0) write_status();
    if (thread_id() == 0) {
        sh_keys = 0;
        sh_slots = 0;
    }
    barrier();
    uint index = linear_group() * THREADS + thread_id();
    if (index < count) {
        uint key[KEY_WORDS];
        load_key(index, key);
        uint slot = find_changing_slot(key);
        bool has_slot = slot != NO_SLOT && !is_in_header(slot);
        bool erases = false;
        if (has_slot) {
            uint state = wanted_of(key).state;
            erases = atomicCompSwap(slot_words(slot, 0).v[0], state, ERASED_SLOT) == state;
        } else if (slot != NO_SLOT) {
            erases = atomicExchange(reserved_flag(slot - slot_count()).v[0], 0u) != 0;
        }
        item_slots().v[index] = erases && has_slot ? slot : NO_SLOT;
        if (erases) atomicAdd(sh_keys, 1u);
        if (erases && has_slot) atomicAdd(sh_slots, 1u);
    }
    barrier();
    if (thread_id() == 0 && sh_keys != 0) {
        Header header = Header(args.problem.table);
        atomicAdd(header.v[0].entries, 0 - sh_keys);
        atomicAdd(header.v[0].erased, sh_slots);
    }
}
