// Chooses the prefix path of a sort: passes over the most significant digits only, before equal prefixes are sorted.
// The alternative is passes over all digits. Runs between the histogram and the passes.
//
// In:  the word of skipped digits, with the constant digits marked; after it, bins[PREFIX_BINS], which count the keys
//      by a hash of their prefix.
// Out: the word of skipped digits. Prefix path: all digits below the prefix, and the mark of the path. Otherwise: the
//      constant digits, if the sort skips these, or none.
// Workgroups: one for each problem.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// Sorting equal prefixes takes as many steps for a key as there are keys with its prefix. In total, this is the sum
// over all prefixes of the squared number of their keys. The sum of the squared deviations of the bins from their mean
// estimates it. (Alon, Matias and Szegedy, "The space complexity of approximating the frequency moments", 1996.)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH PathPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_map.glsl"

// Steps are counted in units of 1 / UNITS_PER_STEP. A thread adds at most MOST_UNITS, so the sum does not overflow.
const float UNITS_PER_STEP = 4096;
const float MOST_UNITS = 1048576;

shared uint sh_steps;

// Estimates the average number of steps for each key, in these units.
uint estimate_steps(Words bins, uint count) {
    if (thread_id() == 0) sh_steps = 0;
    barrier();
    float mean = float(count) / float(PREFIX_BINS);
    float squares = 0;
    for (uint i = thread_id(); i < PREFIX_BINS; i += THREADS) {
        float deviation = float(bins.v[1 + i]) - mean;
        squares += deviation * deviation;
    }
    atomicAdd(sh_steps, uint(min(squares * (UNITS_PER_STEP / float(max(count, 1))), MOST_UNITS)));
    barrier();
    return sh_steps;
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;

    // 1. Estimate the steps for each key.
    Words skipped_digits = skipped_digits_words(p);
    uint steps = estimate_steps(skipped_digits, resolved_count(p));

    // 2. Few steps: mark the digits below the prefix as skipped. Otherwise: keep the constant digits as skipped, or
    // none.
    if (thread_id() != 0) return;
    if (steps <= MOST_STEPS * uint(UNITS_PER_STEP)) {
        skipped_digits.v[0] = SORTED_BY_PREFIXES | all_digits() >> PREFIX_DIGITS;
    } else if (!has_flag(FLAG_SKIPS_CONSTANT_DIGITS)) {
        skipped_digits.v[0] = 0;
    }
}
