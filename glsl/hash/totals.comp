// Adds up the numbers of all workgroups of a dispatch: those of values that hash_linear_count has counted, or those of
// keys that a stencil selects.
//
// In:  their numbers in scratch.
// Out: for each workgroup, the sum of the numbers of all before it; the sum of all, also behind the numbers of the
//      keys; the status. Addresses may be null. Sums are at most 2^32 - 1.
// Workgroups: one.
// Memory order: an invocation reads what it overwrites.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashTotalsPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "radix/scratch.glsl"
#include "hash/saturating.glsl"
#include "hash/count.glsl"
#include "hash/status.glsl"

shared uint sh_sums[THREADS];

// Replaces each thread's value by the sum of those up to it.
void scan_saturating(uint value) {
    uint thread = thread_id();
    barrier();
    sh_sums[thread] = value;
    for (uint step = 1; step < THREADS; step *= 2) {
        barrier();
        uint before = thread >= step ? sh_sums[thread - step] : 0;
        barrier();
        sh_sums[thread] = add_saturating(sh_sums[thread], before);
    }
    barrier();
}

void main() {
    uint count = batch_count();
    uint groups = count / args.group_keys + (count % args.group_keys != 0 ? 1 : 0);
    Words totals = Words(scratch_part(args.totals));
    uint sum = 0;
    for (uint first = 0; first < groups; first += THREADS) {
        uint group = first + thread_id();
        scan_saturating(group < groups ? totals.v[group] : 0);
        uint before = thread_id() == 0 ? 0 : sh_sums[thread_id() - 1];
        if (group < groups) totals.v[group] = add_saturating(sum, before);
        sum = add_saturating(sum, sh_sums[THREADS - 1]);
    }
    if (thread_id() != 0) return;
    if (!is_null(args.problem.numbers)) Words(advance(args.problem.numbers, bytes_of(count, 4))).v[0] = sum;
    if (!is_null(args.problem.count_out)) Words(args.problem.count_out).v[0] = sum;
    write_status(args.problem.count);
    bool clamped = sum > args.problem.max_sum;
    if (clamped && !is_null(args.problem.status)) Words(args.problem.status).v[0] |= STATUS_OUTPUT_CLAMPED;
}
