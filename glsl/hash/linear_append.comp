// Inserts a batch into a multimap: each item takes a slot.
//
// In:  keys; values; their count, if it is in device memory; the table.
// Out: keys and values in the table; in the header the numbers of keys and of erased slots; the slot of each item in
//      scratch; the status; a leftover count of zero.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: states of slots are read by relaxed atomic loads, and change by compare-and-swap. No other invocation
//               of the dispatch reads the key or the value of a slot.
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

// Slots that this workgroup has taken, and those of them that were erased.
shared uint sh_new;
shared uint sh_reused;

struct Taken {
    uint slot;
    bool was_erased;
};

// Takes the first slot of a path that is empty or erased.
Taken take_slot(Wanted wanted) {
    for (uint probe = 0; probe < most_probes(); ++probe) {
        uint slot = (wanted.home + probe) & (slot_count() - 1);
        Words words = slot_words(slot, 0);
        uint state = load_relaxed(words, 0);
        if (state < ERASED_SLOT) continue;
        if (atomicCompSwap(words.v[0], state, wanted.state) == state) return Taken(slot, state == ERASED_SLOT);
    }
    return Taken(NO_SLOT, false);
}

// Stores the key of an item and its value.
void store_item(uint slot, uint key[KEY_WORDS], uint index) {
    Words words = slot_words(slot, KEY_BEGIN);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) words.v[w] = key[w];
    uint value[MOST_VALUE_WORDS];
    load_item_value(index, value);
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) words.v[KEY_WORDS + w] = value[w];
}

void main() {
    open_table();
    uint count = batch_count();
    if (linear_group() == 0 && thread_id() == 0) {
        write_status(args.problem.requested);
        if (!is_null(args.problem.count_out)) Words(args.problem.count_out).v[0] = 0;
    }
    if (thread_id() == 0) {
        sh_new = 0;
        sh_reused = 0;
    }
    barrier();
    uint index = linear_group() * THREADS + thread_id();
    if (index < count) {
        uint key[KEY_WORDS];
        load_key(index, key);
        Taken taken = take_slot(wanted_of(key));
        item_slots().v[index] = taken.slot;
        if (taken.slot != NO_SLOT) {
            store_item(taken.slot, key, index);
            atomicAdd(sh_new, 1u);
        }
        if (taken.was_erased) atomicAdd(sh_reused, 1u);
    }
    barrier();
    if (thread_id() == 0) {
        Header header = Header(args.problem.table);
        if (sh_new != 0) atomicAdd(header.v[0].entries, sh_new);
        if (sh_reused != 0) atomicAdd(header.v[0].erased, 0 - sh_reused);
    }
}
