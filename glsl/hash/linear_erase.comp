// Erases keys from a table with linear probing. MULTIMAP: all slots of each key. BY_SLOT: the slots of the items.
//
// In:  keys, or in scratch the numbers of slots; their count, if it is in device memory; the table.
// Out: erased slots; in the header the numbers of keys and of erased slots; in scratch, for each item that has erased a
//      slot, the last one of its path; the status.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: states of slots are read by relaxed atomic loads, and change by compare-and-swap: of several items with
//               a key, one erases it. BY_SLOT: items have different slots.
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

layout(constant_id = SPEC_BY_SLOT) const uint BY_SLOT = 0;

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/placed.glsl"

// Keys that this workgroup has erased, and those of them that had slots.
shared uint sh_keys;
shared uint sh_slots;

// The number of keys that an item has erased, the number of their slots, and the last one. A reserved key has no slot.
struct Erased {
    uint keys;
    uint slots;
    uint last;
};

Erased erase_reserved(uint reserved) {
    return Erased(atomicExchange(reserved_flag(reserved).v[0], 0u), 0, NO_SLOT);
}

// Erases the slots of a key: one, or all of MULTIMAP.
Erased erase_slots(uint key[KEY_WORDS], Wanted wanted) {
    Erased erased = Erased(0, 0, NO_SLOT);
    for (uint probe = 0; probe < most_probes(); ++probe) {
        uint slot = (wanted.home + probe) & (slot_count() - 1);
        Words words = slot_words(slot, 0);
        uint state = load_relaxed(words, 0);
        if (state == EMPTY_SLOT) break;
        if (state != wanted.state || !has_key(slot, key)) continue;
        if (atomicCompSwap(words.v[0], state, ERASED_SLOT) == state) {
            erased = Erased(erased.keys + 1, erased.slots + 1, slot);
        }
        if (MULTIMAP == 0) break;
    }
    return erased;
}

// Erases the keys of an item.
Erased erase_item(uint index) {
    if (BY_SLOT != 0) {
        uint slot = item_slots().v[index];
        if (is_in_header(slot)) return erase_reserved(slot - slot_count());
        store_relaxed(slot_words(slot, 0), 0, ERASED_SLOT);
        return Erased(1, 1, slot);
    }
    uint key[KEY_WORDS];
    load_key(index, key);
    Wanted wanted = wanted_of(key);
    return wanted.reserved == NOT_RESERVED ? erase_slots(key, wanted) : erase_reserved(wanted.reserved);
}

void main() {
    open_table();
    uint count = batch_count();
    if (linear_group() == 0 && thread_id() == 0) write_status(args.problem.requested);
    if (thread_id() == 0) {
        sh_keys = 0;
        sh_slots = 0;
    }
    barrier();
    uint index = linear_group() * THREADS + thread_id();
    if (index < count) {
        Erased erased = erase_item(index);
        item_slots().v[index] = erased.last;
        if (erased.keys != 0) atomicAdd(sh_keys, erased.keys);
        if (erased.slots != 0) atomicAdd(sh_slots, erased.slots);
    }
    barrier();
    if (thread_id() == 0 && sh_keys != 0) {
        Header header = Header(args.problem.table);
        atomicAdd(header.v[0].entries, 0 - sh_keys);
        atomicAdd(header.v[0].erased, sh_slots);
    }
}
