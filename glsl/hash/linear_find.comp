// Looks keys up in a table with linear probing: which of them it has, and their values.
//
// In:  keys; their count, if it is in device memory; the table.
// Out: values[i]: the value of key i, or all ones if the table does not have the key; found: bit i % 32 of word i / 32;
//      the status. STENCIL: the table is taken not to have keys that are not selected.
// Workgroups: one for each THREADS keys at the maximum count, at least one.
// Memory order: no other invocation of the dispatch accesses what one writes. CONCURRENT: others insert and erase keys
//               at the same time. Keys and values are read by relaxed atomic loads then. A key of which the value is
//               all ones, as in empty slots, is being inserted: it is not there yet.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashFindPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_CONCURRENT) const uint CONCURRENT = 0;

#include "hash/linear.glsl"
#include "hash/batch.glsl"
#include "hash/stencil.glsl"

const uint RESULT_WORDS = VALUE_WORDS == 0 ? 1 : VALUE_WORDS;

shared uint sh_found[THREADS / 32];

void main() {
    open_table();
    uint count = batch_count();
    uint first = linear_group() * THREADS;
    if (linear_group() == 0 && thread_id() == 0) write_status(args.problem.count);
    if (first >= count) return;
    if (thread_id() < THREADS / 32) sh_found[thread_id()] = 0;
    barrier();

    uint index = first + thread_id();
    if (index < count) {
        // 1. Find the key.
        uint key[KEY_WORDS];
        load_key(index, key);
        uint slot = NO_SLOT;
        if (is_selected(index)) {
            if (CONCURRENT != 0) slot = find_changing_slot(key);
            else slot = find_slot(key);
        }

        // 2. Load its value.
        uint value[RESULT_WORDS];
        [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = 0xffffffffu;
        if (slot != NO_SLOT) {
            Words source = value_of(slot);
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) {
                value[w] = CONCURRENT != 0 ? load_relaxed(source, w) : source.v[w];
            }
            if (CONCURRENT != 0 && VALUE_WORDS != 0 && value[0] == 0xffffffffu) slot = NO_SLOT;
        }
        if (slot != NO_SLOT) atomicOr(sh_found[thread_id() / 32], 1u << (thread_id() % 32));

        // 3. Store.
        if (VALUE_WORDS != 0 && !is_null(args.problem.values)) {
            Words target = Words(advance(args.problem.values, bytes_of(index, VALUE_WORDS * 4)));
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) target.v[w] = value[w];
        }
    }
    barrier();
    uint word = thread_id();
    if (word < THREADS / 32 && first + word * 32 < count && !is_null(args.problem.found)) {
        Words(args.problem.found).v[first / 32 + word] = sh_found[word];
    }
}
