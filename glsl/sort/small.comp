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
    begin_digit(shift);
    barrier();
    count_digits(keys, shift);
    barrier();
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    scan_digits(totals);
    place_rows(totals);
    barrier();
    rank_keys(keys, places);
    barrier();
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint count = problem_max_count(p);
    uint clamped = 0;
    uvec2 count_address = problem_count(p);
    if (!is_null(count_address)) {
        uint found = Words(count_address).v[0];
        if (found > count) clamped = STATUS_COUNT_CLAMPED;
        count = min(found, count);
    }
    uvec2 status = problem_status(p);
    if (thread_id() == 0 && !is_null(status)) Words(status).v[0] = clamped;
    if (count == 0) return;

    // 1. Load.
    uint keys[ITEMS];
    load_keys(Words(problem_keys(p)), 0, count, keys);
    uint values[ITEMS];
    if (VALUE_WORDS != 0) load_keys(Words(problem_values(p)), 0, count, values);

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
    Words to_keys = Words(problem_keys(p));
    Words to_values = Words(problem_values(p));
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = striped(k);
        if (i < count) {
            to_keys.v[i] = keys[k];
            if (VALUE_WORDS != 0) to_values.v[i] = values[k];
        }
    }
}
