// Sort, between the histogram and the passes: whether to sort by prefixes and then what has the same, or by every digit.
//
// In:  the histograms: digits that all keys share, and how many keys have a prefix of each bin.
// Out: behind their rows, the digits that are passed over: all below the prefix; or those that all keys share, where these are wanted; or
//      none.
// Groups: one a problem.
// Progress: none needed.
//
// Sorting what has the same prefix takes as many steps a key as there are such keys. All of them are in one bin, so where no bin has many more
// than its share, no prefix has many keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"

// Items that a workgroup finishes.
layout(constant_id = SPEC_FINISH_TILE) const uint FINISH_TILE = 2048;

shared uint sh_most;

// The most keys of any bin.
uint fullest_bin(Words bins) {
    if (thread_id() == 0) sh_most = 0;
    barrier();
    uint most = 0;
    for (uint i = thread_id(); i < PREFIX_BINS; i += THREADS) most = max(most, bins.v[1 + i]);
    atomicMax(sh_most, most);
    barrier();
    return sh_most;
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    Words chosen = passed_over_of(p);
    uint most = fullest_bin(chosen);
    if (thread_id() != 0) return;
    uint share = resolved_count(p) / PREFIX_BINS;
    // By chance the fullest bin has a few square roots more than its share.
    if (most <= share + share / 32 + FINISH_TILE / 2) {
        chosen.v[0] = PASSED_OVER_PREFIXES | all_digits() >> PREFIX_DIGITS;
    } else if (!has_flag(FLAG_SHARED_DIGITS)) {
        chosen.v[0] = 0;
    }
}
