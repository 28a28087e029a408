// Erases keys from a table with linear probing. MULTIMAP: all slots of each key.
//
// In:  keys; their count, if it is in device memory; the table.
// Out: erased slots; in the header the numbers of keys and of erased slots; in scratch, for each item that has erased a
//      slot, the last one of its path; the status.
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

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/placed.glsl"

// Keys that this workgroup has erased, and those of them that had slots.
shared uint sh_keys;
shared uint sh_slots;

// Slots that an item has erased.
struct Erased {
    uint count;
    uint last;
};

// Erases the slots of a key: one, or all of MULTIMAP.
Erased erase_slots(uint key[KEY_WORDS], Wanted wanted) {
    Erased erased = Erased(0, NO_SLOT);
    for (uint probe = 0; probe < most_probes(); ++probe) {
        uint slot = (wanted.home + probe) & (slot_count() - 1);
        Words words = slot_words(slot, 0);
        uint state = load_relaxed(words, 0);
        if (state == EMPTY_SLOT) break;
        if (state != wanted.state || !has_key(slot, key)) continue;
        if (atomicCompSwap(words.v[0], state, ERASED_SLOT) == state) erased = Erased(erased.count + 1, slot);
        if (MULTIMAP == 0) break;
    }
    return erased;
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
        uint key[KEY_WORDS];
        load_key(index, key);
        Wanted wanted = wanted_of(key);
        Erased erased = Erased(0, NO_SLOT);
        uint keys = 0;
        if (wanted.reserved == NOT_RESERVED) {
            erased = erase_slots(key, wanted);
            keys = erased.count;
        } else {
            keys = atomicExchange(reserved_flag(wanted.reserved).v[0], 0u);
        }
        item_slots().v[index] = erased.last;
        if (keys != 0) atomicAdd(sh_keys, keys);
        if (erased.count != 0) atomicAdd(sh_slots, erased.count);
    }
    barrier();
    if (thread_id() == 0 && sh_keys != 0) {
        Header header = Header(args.problem.table);
        atomicAdd(header.v[0].entries, 0 - sh_keys);
        atomicAdd(header.v[0].erased, sh_slots);
    }
}
