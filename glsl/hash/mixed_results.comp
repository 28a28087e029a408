// Writes what a table has for each key of a mixed batch before the operation of the key.
//
// In:  in scratch: for each item, the composition of the operations of its key before it, and a bit: whether the table
//      has its key before the batch. The values of the batch; their count, if it is in device memory. In values_out,
//      the value that the table has before the batch.
// Out: values_out[i]: the value of key i, or all ones if the table does not have the key; found: bit i % 32 of word
//      i / 32. Both may be null.
// Workgroups: one for each THREADS keys at the maximum count.
// Memory order: no other invocation of the dispatch accesses what one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashMixedPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 1;

#include "radix/scratch.glsl"
#include "hash/count.glsl"
#include "hash/mixed.glsl"

shared uint sh_found[THREADS / 32];

void store_value(uint index, uint element) {
    Words target = Words(advance(args.problem.values_out, bytes_of(index, VALUE_WORDS * 4)));
    if (opcode_of(element) == OPCODE_ERASE) {
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) target.v[w] = 0xffffffffu;
        return;
    }
    Words source = Words(advance(args.problem.values, bytes_of(index_of(element), VALUE_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) target.v[w] = source.v[w];
}

void main() {
    uint count = batch_count();
    uint first = linear_group() * THREADS;
    if (first >= count || !wants_results()) return;
    if (thread_id() < THREADS / 32) {
        uint word = first / 32 + thread_id();
        sh_found[thread_id()] = word * 32 < count ? Words(scratch_part(args.had_keys)).v[word] : 0;
    }
    barrier();
    uint index = first + thread_id();
    uint bit = 1u << thread_id() % 32;
    bool had_key = (sh_found[thread_id() / 32] & bit) != 0;
    barrier();
    if (index < count) {
        uint element = Words(scratch_part(args.before)).v[index];
        uint opcode = opcode_of(element);
        bool stays = opcode == OPCODE_FIND || opcode == OPCODE_INSERT && had_key;
        if (!stays) {
            if (opcode == OPCODE_ERASE) atomicAnd(sh_found[thread_id() / 32], ~bit);
            else atomicOr(sh_found[thread_id() / 32], bit);
            if (VALUE_WORDS != 0 && !is_null(args.problem.values_out)) store_value(index, element);
        }
    }
    barrier();
    uint word = thread_id();
    if (word < THREADS / 32 && first + word * 32 < count && !is_null(args.problem.found)) {
        Words(args.problem.found).v[first / 32 + word] = sh_found[word];
    }
}
