// Adds up the numbers of values of all workgroups of hash_linear_count.
//
// In:  their numbers in scratch.
// Out: for each workgroup, the number of values of all before it; the number of all values, also behind the offsets of
//      the keys; the status. Numbers are at most 2^32 - 1.
// Workgroups: one.
// Memory order: an invocation reads what it overwrites.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashValuesPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "radix/scratch.glsl"
#include "hash/hashes.glsl"
#include "hash/batch.glsl"

shared uint sh_sums[THREADS];

// The sum, or 2^32 - 1 if it is larger. Associative, as the sum itself.
uint add_limited(uint a, uint b) { return a + min(b, ~a); }

// Replaces each thread's value by the sum of those up to it.
void scan_limited(uint value) {
    uint thread = thread_id();
    barrier();
    sh_sums[thread] = value;
    for (uint step = 1; step < THREADS; step *= 2) {
        barrier();
        uint before = thread >= step ? sh_sums[thread - step] : 0;
        barrier();
        sh_sums[thread] = add_limited(sh_sums[thread], before);
    }
    barrier();
}

void main() {
    uint count = batch_count();
    uint groups = (count + THREADS - 1) / THREADS;
    Words totals = Words(scratch_part(args.totals));
    uint sum = 0;
    for (uint first = 0; first < groups; first += THREADS) {
        uint group = first + thread_id();
        scan_limited(group < groups ? totals.v[group] : 0);
        uint before = thread_id() == 0 ? 0 : sh_sums[thread_id() - 1];
        if (group < groups) totals.v[group] = add_limited(sum, before);
        sum = add_limited(sum, sh_sums[THREADS - 1]);
    }
    if (thread_id() != 0) return;
    Words(args.problem.numbers).v[count] = sum;
    if (!is_null(args.problem.count_out)) Words(args.problem.count_out).v[0] = sum;
    write_status();
    bool clamped = !is_null(args.problem.values) && sum > args.problem.max_values;
    if (clamped && !is_null(args.problem.status)) Words(args.problem.status).v[0] |= STATUS_OUTPUT_CLAMPED;
}
