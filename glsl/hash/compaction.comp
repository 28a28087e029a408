// Brings the keys of a batch that a stencil selects to scratch, with their values, in the order of the batch.
//
// In:  keys and values; their count, if it is in device memory; the stencil; in scratch, for each workgroup, the number
//      of selected keys of all before it.
// Out: in scratch: the selected keys and their values.
// COUNT: reads the count and the stencil. Out: in scratch: the number of selected keys of each workgroup.
// Workgroups: one for each THREADS words of the stencil at the maximum count.
// Memory order: no other invocation of the dispatch accesses what one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashCompactionPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#ifndef COUNT
layout(constant_id = SPEC_KEY_WORDS) const uint KEY_WORDS = 1;
layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 1;
#endif

#include "core/sum_threads.glsl"
#include "radix/scratch.glsl"
#include "hash/count.glsl"

shared uint sh_bits[THREADS];
// For each word of the stencil, the position of its first selected key.
shared uint sh_positions[THREADS];

uint bits_below(uint bit) { return (1u << bit) - 1; }

// A word of the stencil, with bits of keys of the batch alone.
uint load_bits(uint word, uint count) {
    if (word >= count / 32 + (count % 32 != 0 ? 1 : 0)) return 0;
    uint bits = Words(args.problem.stencil).v[word];
    return word == count / 32 ? bits & bits_below(count % 32) : bits;
}

void copy(uvec2 source, uvec2 target, uint from, uint to, uint words) {
    uint bytes = words * 4;
    for (uint w = 0; w < words; ++w) {
        Words(advance(target, bytes_of(to, bytes))).v[w] = Words(advance(source, bytes_of(from, bytes))).v[w];
    }
}

void main() {
    uint count = batch_count();
    uint first = linear_group() * THREADS;
    // Dispatches may have more workgroups than totals.
    if (first >= count / 32 + 1) return;
    uint bits = load_bits(first + thread_id(), count);
    uint total;
    uint before = sum_threads(bitCount(bits), total);
    Words totals = Words(scratch_part(args.totals));
#ifdef COUNT
    if (thread_id() == 0 && first * 32 < count) totals.v[linear_group()] = total;
#else
    if (total == 0) return;
    sh_bits[thread_id()] = bits;
    sh_positions[thread_id()] = totals.v[linear_group()] + before;
    barrier();
    // Neighboring threads read neighboring keys.
    for (uint key = thread_id(); key < THREADS * 32; key += THREADS) {
        uint word_bits = sh_bits[key / 32];
        if ((word_bits >> key % 32 & 1) == 0) continue;
        uint index = first * 32 + key;
        uint position = sh_positions[key / 32] + bitCount(word_bits & bits_below(key % 32));
        copy(args.problem.keys, scratch_part(args.keys), index, position, KEY_WORDS);
        if (!is_null(args.problem.values)) {
            copy(args.problem.values, scratch_part(args.values), index, position, VALUE_WORDS);
        }
    }
#endif
}
