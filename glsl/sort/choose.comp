// Sort, between the histogram and the passes: whether to sort by prefixes and then what has the same, or by every digit.
//
// In:  the histograms: digits that all keys share, and how many keys have a prefix of each bin.
// Out: behind their rows, the digits that are passed over: all below the prefix; or those that all keys share, where these are wanted; or
//      none.
// Groups: one a problem.
// Progress: none needed.
//
// Sorting what has the same prefix takes each key as many steps as there are such keys: in all, the sum of the squares of how many keys each
// prefix has. That is what the bins' squared distances from their mean add up to, but for chance. (Alon, Matias and Szegedy, "The space
// complexity of approximating the frequency moments", 1996.)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "sort/problem.glsl"
#include "sort/pass_io.glsl"

// Steps are added up in fractions of so many, and no thread adds more than would fit.
const float FRACTIONS = 4096;
const float MOST_OF_A_THREAD = 1048576;

shared uint sh_steps;

// Steps a key, as fractions.
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
