// Sort, between the histogram and the passes: whether one pass by the topmost digit leaves buckets small enough for a workgroup each.
//
// In:  the histograms.
// Out: behind their rows, the digits that are passed over: all but one, and then where each bucket begins, or those that all keys share, if
//      these are known and wanted, or none.
// Groups: one a problem.
// Progress: none needed.
//
// The topmost digit is that of the digits that not all keys share. No run of keys that agree in several digits is longer than the largest
// bucket of any one of them: so what is chosen here always fits, whatever the keys are.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/sum_threads.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"

// Items that one workgroup sorts.
layout(constant_id = SPEC_BUCKET_TILE) const uint BUCKET_TILE = 2048;

const uint MAX_ROWS = 16;
#include "sort/totals.glsl"

shared uint sh_most;

// Neighbouring digits of a thread.
const uint MAX_RUN = 4;
const uint RUN = (RADIX - 1) / THREADS + 1;

// The size of the largest bucket, and of this thread's.
uint largest_bucket(uint p, uint d, out uint counts[MAX_RUN]) {
    Words histogram = histogram_of(p);
    if (thread_id() == 0) sh_most = 0;
    barrier();
    for (uint i = 0; i < RUN; ++i) {
        uint value = thread_id() * RUN + i;
        counts[i] = value < RADIX ? total_of(histogram, d * RADIX + value) : 0;
        atomicMax(sh_most, counts[i]);
    }
    barrier();
    uint most = sh_most;
    barrier();
    return most;
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint count = resolved_count(p);

    // 1. The topmost digit that tells keys apart.
    uint digit = pass_digits();
    uint most = count;
    uint counts[MAX_RUN];
    while (digit > 0 && most == count) {
        digit -= 1;
        most = largest_bucket(p, digit, counts);
    }

    // 2. What it comes to. By the lowest digit alone there is nothing left for buckets.
    bool buckets = digit > 0 && most <= BUCKET_TILE;
    Words chosen = passed_over_of(p);
    if (thread_id() == 0) {
        if (buckets) chosen.v[0] = PASSED_OVER_BUCKETS | all_digits() & ~(1u << digit);
        else if (!has_flag(FLAG_SHARED_DIGITS)) chosen.v[0] = 0;
    }
    if (!buckets) return;
    uint sum = 0;
    for (uint i = 0; i < RUN; ++i) sum += counts[i];
    uint total;
    uint first = sum_threads(sum, total);
    for (uint i = 0; i < RUN; ++i) {
        uint value = thread_id() * RUN + i;
        if (value < RADIX) chosen.v[1 + value] = first;
        first += counts[i];
    }
}
