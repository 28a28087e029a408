// Sorted search: writes a bound in B for each key of A. Lower bound: the number of keys of B before the key. Upper
// bound (with UPPER): the number of keys of B that do not come after it.
//
// In:  keys of A, the needles, in any order; keys of B, sorted; their counts, if they are in device memory.
// Out: values_out[i]: the bound of needle i; their number; the status of the problem.
// Workgroups: args.groups for each problem: one for each THREADS * ITEMS needles at the maximum count of A. If the
//             actual count is smaller, the others exit.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// Each thread searches for ITEMS needles at once, so that as many loads are in flight. All searches of a problem take
// the same number of rounds, so the lanes of a subgroup do not diverge.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH MergePathPush
#define ROW MergeProblem
#include "radix/problem.glsl"

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

const uint TILE = THREADS * ITEMS;

#include "merge/sequences.glsl"
#include "merge/status.glsl"

// Returns whether a key of B lies before the bound of a needle. Such keys are the first ones of B.
bool is_before_bound(uint key[KEY_WORDS], uint needle[KEY_WORDS]) {
#ifdef UPPER
    return !comes_after(key, needle);
#else
    return comes_after(needle, key);
#endif
}

void main() {
    // 1. Find the needles of this workgroup. The first workgroup of a problem writes its results.
    uint p = linear_group() / args.groups;
    uint tile = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    Counts counts = counts_of(p);
    if (tile == 0 && thread_id() == 0) write_results(p, counts.a);
    if (tile >= tiles_of(counts.a, TILE)) return;
    uint first = tile * TILE + thread_id();

    // 2. Load them. Threads without a needle search for the last one.
    uint needles[ITEMS * KEY_WORDS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint needle[KEY_WORDS];
        load_key(problem_keys_a(p), min(first + k * THREADS, counts.a - 1), needle);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) needles[k * KEY_WORDS + w] = needle[w];
    }

    // 3. Search. The bound of needle k is in [bounds[k], bounds[k] + left]. Each round halves `left`, rounded up. The
    //    last one, with a single key left, decides whether it lies before the bound.
    uint bounds[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) bounds[k] = 0;
    for (uint left = counts.b; left != 0; left = left == 1 ? 0 : left - left / 2) {
        uint step = max(left / 2, 1);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint key[KEY_WORDS];
            uint needle[KEY_WORDS];
            load_key(problem_keys_b(p), bounds[k] + step - 1, key);
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) needle[w] = needles[k * KEY_WORDS + w];
            if (is_before_bound(key, needle)) bounds[k] += step;
        }
    }

    // 4. Store the bounds.
    Words target = Words(advance(problem_values_out(p), bytes_of(tile * TILE, 4)));
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint index = thread_id() + k * THREADS;
        if (index < counts.a - tile * TILE) target.v[index] = bounds[k];
    }
}
