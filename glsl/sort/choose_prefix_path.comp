// Choose: decides between passes over all digits and passes over the prefix only. Runs between the histogram and the
//         passes.
//
// In:  the histograms: constant digits, and the number of keys with a prefix in each bin.
// Out: the skipped digits, after the rows of the histogram: all below the prefix; or the constant digits, if these are
//      skipped; or none.
// Workgroups: one for each problem.
// Progress: never waits.
//
// Sorting equal prefixes takes each key as many steps as there are keys with its prefix: in total, the sum of the
// squares of the prefix counts. Apart from chance, this is the sum of the squared deviations of the bins from their
// mean. (Alon, Matias and Szegedy, "The space complexity of approximating the frequency moments", 1996.)
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

// Unit of the sum of steps: small enough that no thread's sum overflows.
const float FRACTIONS = 4096;
const float MOST_OF_A_THREAD = 1048576;

shared uint sh_steps;

// Steps for each key, in these units.
uint steps_of(Words bins, uint count) {
    if (thread_id() == 0) sh_steps = 0;
    barrier();
    float mean = float(count) / float(PREFIX_BINS);
    float squares = 0;
    for (uint i = thread_id(); i < PREFIX_BINS; i += THREADS) {
        float distance = float(bins.v[1 + i]) - mean;
        squares += distance * distance;
    }
    atomicAdd(sh_steps, uint(min(squares * (FRACTIONS / float(max(count, 1))), MOST_OF_A_THREAD)));
    barrier();
    return sh_steps;
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    Words chosen = skipped_digits_words(p);
    uint steps = steps_of(chosen, resolved_count(p));
    if (thread_id() != 0) return;
    if (steps <= MOST_STEPS * uint(FRACTIONS)) chosen.v[0] = PASSED_OVER_PREFIXES | all_digits() >> PREFIX_DIGITS;
    else if (!has_flag(FLAG_SHARED_DIGITS)) chosen.v[0] = 0;
}
