// Finds the slots of the keys of a batch, and claims slots for the keys that the table does not have.
//
// In:  keys; their count, if it is in device memory; the table.
// Out: the slot of each item in scratch; the status; a leftover count of zero; in the header the numbers of keys and of
//      erased slots. New slots have their keys, or the index of an item if the key has several words.
//      To insert or assign values: each candidate for the value of a slot has put its index into the first word of the
//      value, and is its own owner. For an insertion, candidates are the items with new slots. For an assignment, all
//      items are. To combine values: new slots have the identity.
//      CONCURRENT: any candidate has stored its value, instead of its index.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: states of slots are read by relaxed atomic loads, and change by compare-and-swap. A state is all that
//               another invocation of the dispatch needs.
// Progress: never waits. A path is read at most twice.
//
// A key takes the first slot of its path that is empty or erased. All items with the key try the same slots in the same
// order, and slots never lose their keys in the dispatch: so one slot has the key in the end. CONCURRENT: keys may be
// erased at the same time. Then erased slots are not reused. Otherwise one item could take such a slot, while another
// one has passed it and takes the empty slot at the end.
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
layout(constant_id = SPEC_CONCURRENT) const uint CONCURRENT = 0;

#include "radix/scratch.glsl"
#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/values.glsl"
#include "hash/placed.glsl"

const bool COMBINES = CHANGE >= HASH_ADD;

// New keys of this workgroup, and erased slots that they have taken.
shared uint sh_new;
shared uint sh_reused;

struct Claim {
    uint slot;
    bool is_new;
    bool was_erased;
};

// Whether a slot with this state has the key. Another item of the batch may have claimed the slot. In a corrupt table,
// a state may have the index of no item.
bool has_state_of(uint slot, uint state, uint key[KEY_WORDS], Wanted wanted) {
    if (state == wanted.state) return has_key(slot, key);
    if (!HAS_TAG || state < CLAIMED || (state & ~CLAIMED) >= batch_count()) return false;
    return are_key(Words(advance(args.problem.keys, bytes_of(state & ~CLAIMED, KEY_WORDS * 4))), key);
}

// Finds or claims the slot of a key.
Claim claim_slot(uint key[KEY_WORDS], uint index) {
    Wanted wanted = wanted_of(key);
    if (wanted.reserved != NOT_RESERVED) {
        uint before = atomicExchange(reserved_flag(wanted.reserved).v[0], 1u);
        return Claim(slot_count() + wanted.reserved, before == 0, false);
    }
    uint claimed = HAS_TAG ? CLAIMED | index : wanted.state;
    uint most = most_probes();
    // The first erased slot, which the key takes if the path does not have it.
    uint candidate = most;
    bool takes_erased = false;
    for (uint probe = 0; probe < most;) {
        uint slot = (wanted.home + probe) & (slot_count() - 1);
        Words words = slot_words(slot, 0);
        uint state = load_relaxed(words, 0);
        bool is_free = state == EMPTY_SLOT || takes_erased && state == ERASED_SLOT;
        if (is_free && (takes_erased || candidate == most)) {
            uint before = atomicCompSwap(words.v[0], state, claimed);
            if (before == state) return Claim(slot, true, state == ERASED_SLOT);
            state = before;
        }
        if (has_state_of(slot, state, key, wanted)) return Claim(slot, false, false);
        if (CONCURRENT == 0 && state == ERASED_SLOT && candidate == most) candidate = probe;
        ++probe;
        // The path does not have the key: back to its first erased slot.
        if (!takes_erased && candidate != most && (state == EMPTY_SLOT || probe == most)) {
            takes_erased = true;
            probe = candidate;
        }
    }
    return Claim(NO_SLOT, false, false);
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
        Claim claim = claim_slot(key, index);
        bool is_candidate = claim.is_new || CHANGE == HASH_ASSIGN && claim.slot != NO_SLOT;
        if (VALUE_WORDS != 0 && is_candidate) {
            Words target = value_of(claim.slot);
            uint value[MOST_VALUE_WORDS];
            if (COMBINES) {
                [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) target.v[w] = IDENTITY;
            } else if (CONCURRENT != 0) {
                load_item_value(index, value);
                [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) store_relaxed(target, w, value[w]);
            } else {
                store_relaxed(target, 0, index);
                owners().v[index] = index;
            }
        }
        bool is_owned = VALUE_WORDS != 0 && !COMBINES && CONCURRENT == 0 && is_candidate;
        item_slots().v[index] = claim.slot | (is_owned ? CANDIDATE : 0);
        if (claim.is_new) atomicAdd(sh_new, 1u);
        if (claim.was_erased) atomicAdd(sh_reused, 1u);
    }
    barrier();
    if (thread_id() == 0) {
        Header header = Header(args.problem.table);
        if (sh_new != 0) atomicAdd(header.v[0].entries, sh_new);
        if (sh_reused != 0) atomicAdd(header.v[0].erased, 0 - sh_reused);
    }
}
