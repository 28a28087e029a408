// Sort of a problem that fits one tile: all digits in shared memory, one read and one write.
//
// In:  keys (and values), the count where it lies on the device.
// Out: keys (and values) sorted, in place; the problem's status.
// Groups: one a problem.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "sort/problem.glsl"
#include "sort/tile.glsl"

// Orders the tile by one digit: keys to their places in sh_keys, places told for the values.
void order_by_digit(uint keys[ITEMS], uint shift, out uint places[PLACE_WORDS]) {
    clear_counts();
    barrier();
    count_digits(keys, shift);
    barrier();
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    scan_digits(totals);
    place_rows(totals);
    barrier();
    rank_keys(keys, shift, places);
    barrier();
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    SortProblem problem = load_problem(p);
    uint count = problem.max_count;
    uint status = 0;
    if (!is_null(problem.count)) {
        uint device_count = Words(problem.count).v[0];
        if (device_count > count) status = STATUS_COUNT_CLAMPED;
        count = min(device_count, count);
    }
    if (thread_id() == 0 && !is_null(problem.status)) Words(problem.status).v[0] = status;
    if (count == 0) return;

    // 1. Load.
    uint keys[ITEMS];
    load_keys(Words(problem.keys), 0, count, keys);
    uint values[ITEMS];
    if (VALUE_WORDS != 0) load_keys(Words(problem.values), 0, count, values);

    // 2. Every digit, through shared memory. The pads sort behind the last key and stay there.
    for (uint shift = 0; shift < 32; shift += RADIX_BITS) {
        uint places[PLACE_WORDS];
        order_by_digit(keys, shift, places);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) keys[k] = sh_keys[striped(k)];
        barrier();
        if (VALUE_WORDS != 0) {
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[place_of(places, k)] = values[k];
            barrier();
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) values[k] = sh_keys[striped(k)];
            barrier();
        }
    }

    // 3. Store.
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = striped(k);
        if (i < count) {
            Words(problem.keys).v[i] = keys[k];
            if (VALUE_WORDS != 0) Words(problem.values).v[i] = values[k];
        }
    }
}
