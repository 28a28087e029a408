// Split, beside its move: what is known of the buckets, for whoever comes next.
//
// In:  histogram[rows][BINS] of each problem; where the caller says that bins begin, starts[BINS]. With RECOUNTS, where items are few: keys, or
//      labels, and the count where it lies on the device.
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, where they are wanted; in the status, whether
//      there are items of no bucket. Where the caller says that bins begin: histogram[BINS + 1], which is what it says and how many items the output has
//      room for; in the status, whether some item's place lies beyond those. With RECOUNTS: the whole status.
// Groups: one a problem.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "lib/commands.glsl"
#include "sort/problem.glsl"
#ifdef RECOUNTS
#include "lib/keys.glsl"
#include "sort/pass_io.glsl"
#include "sort/planes.glsl"
#include "split/recount.glsl"
#endif
#include "split/tell.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;

#ifdef RECOUNTS
// One workgroup, which nobody has told anything: it counts, as those do that move.
void count_bins(uint p, out uint counts[MAX_DIGITS]) {
    enter_function(p);
    Rest all;
    all.problem = p;
    all.count = requested_count(p);
    all.first = 0;
    all.items = 0;
    clear_recount();
    [[dont_unroll]] for (uint from = 0; from < all.count; from += BATCH * THREADS) {
        uint keys[BATCH];
        load_batch(all, input_to_output(), from, keys);
        if (from == 0) barrier();
        count_batch(all, from, keys);
    }
    barrier();
    for (uint j = 0; j < DIGITS; ++j) counts[j] = digit_of_thread(j) < BINS ? recounted(1, digit_of_thread(j)) : 0;
}
#else
const uint MAX_ROWS = 16;
#include "sort/totals.glsl"
#include "sort/room.glsl"

// What the caller says of where a bin begins, for the pass that moves.
void take_start(uint p, Words histogram, uint bin, uint count) {
    uint start = Words(starts_of(p)).v[bin];
    uint items = output_items_of(p);
    histogram.v[bin] = start;
    if (bin == 0) histogram.v[BINS] = items;
    if (count > room_from(start, items)) set_status(p, STATUS_OUTPUT_CLAMPED);
}

void count_bins(uint p, out uint counts[MAX_DIGITS]) {
    // Where there is nothing, nothing has been counted.
    bool counted = resolved_count(p) != 0;
    Words histogram = histogram_of(p);
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        counts[j] = counted && bin < BINS ? total_of(histogram, bin) : 0;
        if (OUTPUT == OUTPUT_PLACED && bin < BINS && counted) take_start(p, histogram, bin, counts[j]);
    }
}
#endif

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint counts[MAX_DIGITS];
    count_bins(p, counts);
    uint starts[MAX_DIGITS] = counts;
    scan_digits(starts);
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        bool strays = bin >= BUCKETS && bin < BINS && counts[j] != 0;
        if (bin < BUCKETS) tell_bucket(p, 0, bin, starts[j], counts[j]);
#ifdef RECOUNTS
        if (bin == BINS - 1) write_status(p, strays ? STATUS_NO_BUCKET : 0);
#else
        if (strays) tell_strays(p);
#endif
    }
}
