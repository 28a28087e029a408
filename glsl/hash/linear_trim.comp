// Makes erased slots empty that no path of a key leads across.
//
// In:  the keys of a batch, and in scratch the last slots of their paths from which they have been erased; the table.
// Out: empty slots; the number of erased slots in the header.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: states are read by relaxed atomic loads, and change by compare-and-swap from erased to empty alone. No
//               key is inserted or erased at the same time. So a slot across which no path leads remains one, and a
//               scan may end at an empty slot, whichever invocation has made it empty.
// Progress: never waits. An invocation reads at most MOST_BEHIND slots behind an erased one, and the path of its key.
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

// Slots behind an erased one that are scanned for keys. Without an empty slot among them, the erased one stays as it
// is, unless these are all slots of the table.
const uint MOST_BEHIND = SLICE_SLOTS;

// Slots that this workgroup has made empty.
shared uint sh_emptied;

// The number of slots from the first one of the path of a slot's key to the slot.
int path_before(uint slot) {
    uint key[KEY_WORDS];
    Words words = slot_words(slot, KEY_BEGIN);
    // Without a loop: see are_key().
    key[0] = words.v[0];
    if (KEY_WORDS > 1) key[1 % KEY_WORDS] = words.v[1];
    if (KEY_WORDS > 2) key[2 % KEY_WORDS] = words.v[2];
    if (KEY_WORDS > 3) key[3 % KEY_WORDS] = words.v[3];
    return int((slot - wanted_of(key).home) & (slot_count() - 1));
}

bool make_empty(uint slot) {
    Words words = slot_words(slot, 0);
    if (VALUE_WORDS > 0) store_relaxed(words, VALUE_BEGIN, 0xffffffffu);
    if (VALUE_WORDS > 1) store_relaxed(words, VALUE_BEGIN + 1, 0xffffffffu);
    if (VALUE_WORDS > 2) store_relaxed(words, VALUE_BEGIN + 2, 0xffffffffu);
    if (VALUE_WORDS > 3) store_relaxed(words, VALUE_BEGIN + 3, 0xffffffffu);
    return atomicCompSwap(words.v[0], ERASED_SLOT, EMPTY_SLOT) == ERASED_SLOT;
}

// The erased slots on the path of a key that has been erased from `slot`: makes those empty that no other path leads
// across. Returns their number.
uint trim(uint slot, uint home) {
    uint mask = slot_count() - 1;
    uint length = (slot - home) & mask;
    // 1. How far the paths of the keys behind the slot begin before it; below zero: none leads across it.
    int reach = -1;
    bool has_end = false;
    for (uint k = 1; k < MOST_BEHIND && !has_end; ++k) {
        uint behind = (slot + k) & mask;
        uint state = load_relaxed(slot_words(behind, 0), 0);
        has_end = state == EMPTY_SLOT;
        if (state < ERASED_SLOT) reach = max(reach, path_before(behind) - int(k));
        // Paths lead across all slots that this invocation could make empty.
        if (reach >= int(length)) return 0;
    }
    if (!has_end && slot_count() > MOST_BEHIND) return 0;

    // 2. Back along the path.
    uint emptied = 0;
    for (uint k = 0; k <= length; ++k) {
        uint at = (slot - k) & mask;
        uint state = load_relaxed(slot_words(at, 0), 0);
        if (state == ERASED_SLOT) {
            if (reach < int(k) && make_empty(at)) ++emptied;
        } else if (state < ERASED_SLOT) {
            reach = max(reach, path_before(at) + int(k));
        }
    }
    return emptied;
}

void main() {
    open_table();
    if (thread_id() == 0) sh_emptied = 0;
    barrier();
    uint index = linear_group() * THREADS + thread_id();
    if (index < batch_count()) {
        uint slot = item_slots().v[index];
        uint key[KEY_WORDS];
        load_key(index, key);
        uint emptied = slot == NO_SLOT ? 0 : trim(slot, wanted_of(key).home);
        if (emptied != 0) atomicAdd(sh_emptied, emptied);
    }
    barrier();
    if (thread_id() == 0 && sh_emptied != 0) {
        atomicAdd(Header(args.problem.table).v[0].erased, 0 - sh_emptied);
    }
}
