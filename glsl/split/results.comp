// Split, beside its move: what is known of the buckets, for whoever comes next.
//
// In:  histogram[rows][BINS] of each problem.
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, where they are wanted; in the status, whether
//      there are items of no bucket.
// Groups: one a problem.
// Progress: none needed.
//
// The problems of this pass are those of the others, with addresses of results in place of items': see for_each_result() in
// src/sort/table.rs.
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

layout(constant_id = SPEC_BUCKETS) const uint BUCKETS = 256;

const uint MAX_ROWS = 16;
#include "sort/totals.glsl"

uvec2 offsets_of(uint p) { return problem_keys(p); }
uvec2 counts_of(uint p) { return problem_values(p); }
uvec2 commands_of(uint p) { return problem_to_keys(p); }
// That a workgroup of the commands takes.
uint command_items_of(uint p) { return problem_strides(p); }

void write_bucket(uint p, uint bucket, uint start, uint count) {
    if (!is_null(offsets_of(p))) {
        Words offsets = Words(offsets_of(p));
        offsets.v[bucket] = start;
        if (bucket == BUCKETS - 1) offsets.v[BUCKETS] = start + count;
    }
    if (!is_null(counts_of(p))) Words(counts_of(p)).v[bucket] = count;
    if (!is_null(commands_of(p))) {
        write_command(Words(commands_of(p)), bucket, tiles_of(count, command_items_of(p)), args.max_groups_x);
    }
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;

    // 1. Count. Where there is nothing, nothing has been counted.
    bool counted = resolved_count(p) != 0;
    Words histogram = histogram_of(p);
    uint counts[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        counts[j] = counted && bin < BINS ? total_of(histogram, bin) : 0;
    }
    uint starts[MAX_DIGITS] = counts;
    scan_digits(starts);

    // 2. Tell.
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        if (bin < BUCKETS) write_bucket(p, bin, starts[j], counts[j]);
        else if (bin < BINS && counts[j] != 0 && !is_null(problem_status(p))) Words(problem_status(p)).v[0] |= STATUS_NO_BUCKET;
    }
}
