// Sort by count, scan and reorder, step 2 of a digit: where in its digit each tile's keys begin.
//
// In, out: tile_words[RADIX][tiles]: each row becomes its exclusive sum.
// Out:     histogram[RADIX]: the sum of each row.
// Groups:  one for each digit of each problem.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "sort/problem.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

// Neighbouring words a thread sums by itself before the workgroup scans.
const uint RUN = 4;

shared uint sh_subgroup_sums[THREADS / 4];

// Exclusive sum over the threads of the workgroup.
uint scan_threads(uint value, out uint total) {
    uint inclusive = inclusive_add(value);
    if (lane_id() == lane_count() - 1) sh_subgroup_sums[subgroup_id()] = inclusive;
    barrier();
    uint before = 0;
    total = 0;
    for (uint s = 0; s < THREADS / lane_count(); ++s) {
        if (s == subgroup_id()) before = total;
        total += sh_subgroup_sums[s];
    }
    barrier();
    return before + inclusive - value;
}

void main() {
    uint group = linear_group();
    uint p = group / RADIX;
    uint digit = group % RADIX;
    if (p >= args.problem_count) return;

    uint count = problem_max_count(p);
    if (!is_null(problem_count(p))) count = SortStates(args.states).v[p].count;
    uint tiles = tiles_of(count, TILE);
    Words row = Words(problem_tile_words(p));
    uint base = digit * tiles;

    uint sum = 0;
    for (uint first = 0; first < tiles; first += THREADS * RUN) {
        uint start = first + thread_id() * RUN;
        uint run[RUN];
        uint value = 0;
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            run[i] = start + i < tiles ? row.v[base + start + i] : 0;
            value += run[i];
        }
        uint total;
        uint before = sum + scan_threads(value, total);
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            if (start + i < tiles) row.v[base + start + i] = before;
            before += run[i];
        }
        sum += total;
    }
    if (thread_id() == 0) Words(problem_histogram(p)).v[digit] = sum;
}
