// Sort, before the passes: resolves the counts and clears what the passes accumulate in.
//
// In:  the problems, and the counts that lie on the device.
// Out: states[problem_count + 1] (count, first tile; the last holds the number of tiles), each problem's status; as the flags say, the
//      arguments of the indirect dispatches, tickets and histograms zeroed. Of segments, states of those that are sorted by tiles.
// Groups: one a problem; group 0 also lays out the line of tiles. One, where problems are segments: step 1 has done the rest.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/sum_threads.glsl"
#include "sort/problem.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

shared uint sh_end;

// Neighbouring problems that a thread goes over by itself.
const uint RUN = 8;

SortStates found_segments() { return SortStates(scratch_part(args.problems)); }

uint count_of(uint p) {
    if (p >= args.problem_count) return 0;
    return SEGMENTS ? found_segments().v[p].count : told_count(p);
}

// The largest of the earlier threads' values.
uint most_before(uint value) {
    uint thread = thread_id();
    sh_sums[thread] = value;
    for (uint step = 1; step < THREADS; step *= 2) {
        barrier();
        uint other = thread >= step ? sh_sums[thread - step] : 0;
        barrier();
        sh_sums[thread] = max(sh_sums[thread], other);
    }
    barrier();
    uint most = thread == 0 ? 0 : sh_sums[thread - 1];
    barrier();
    return most;
}

// Where one ends at the latest of the longer segments that begin in a thread's windows, and in all before.
uint ends_before(uint start, inout uint all) {
    uint end = 0;
    for (uint p = start; p < start + RUN; ++p) {
        if (count_of(p) != 0) end = max(end, found_segments().v[p].first + count_of(p));
    }
    uint before = max(all, most_before(end));
    if (thread_id() == THREADS - 1) sh_end = max(before, end);
    barrier();
    all = sh_end;
    barrier();
    return before;
}

// A problem's items, as far as none before it has them. (Offsets that fall have segments overlap; of those the later ones are left out.)
uint count_apart(uint p, inout uint ends) {
    uint count = count_of(p);
    if (!SEGMENTS || count == 0) return count;
    uint first = found_segments().v[p].first;
    bool apart = first >= ends;
    ends = max(ends, first + count);
    return apart ? count : 0;
}

// Windows in which no longer segment begins are left out.
uint lay_out_line(out uint problems) {
    SortStates states = states();
    uint line = 0;
    uint end = 0;
    problems = 0;
    for (uint first = 0; first < args.problem_count; first += THREADS * RUN) {
        uint start = first + thread_id() * RUN;
        uint before = SEGMENTS ? ends_before(start, end) : 0;
        uint tiles = 0;
        uint full = 0;
        uint ends = before;
        for (uint p = start; p < start + RUN; ++p) {
            uint count = count_apart(p, ends);
            tiles += tiles_of(count, TILE);
            full += count != 0 ? 1 : 0;
        }
        uint all_tiles, all_full;
        uint tile = line + sum_threads(tiles, all_tiles);
        uint place = problems + sum_threads(full, all_full);
        ends = before;
        for (uint p = start; p < min(start + RUN, args.problem_count); ++p) {
            uint count = count_apart(p, ends);
            if (!SEGMENTS) states.v[p] = SortState(count, tile, 0);
            else if (count != 0) states.v[place++] = SortState(count, tile, found_segments().v[p].first);
            tile += tiles_of(count, TILE);
        }
        line += all_tiles;
        problems += all_full;
    }
    if (thread_id() == 0) states.v[args.problem_count] = SortState(SEGMENTS ? problems : 0, line, 0);
    return line;
}

// VkDispatchIndirectCommand: a line of groups, folded where it exceeds what one dimension takes.
void write_arguments(Words arguments, uint index, uint groups) {
    uint x = min(groups, args.max_groups_x);
    arguments.v[index * 3] = x;
    arguments.v[index * 3 + 1] = x == 0 ? 0 : (groups + x - 1) / x;
    arguments.v[index * 3 + 2] = 1;
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;

    // 1. This group's problem.
    if (!SEGMENTS && has_flag(FLAG_HISTOGRAMS)) {
        Words histogram = histogram_of(p);
        // One word more: the digits that all keys share.
        for (uint i = thread_id(); i <= pass_digits() * RADIX; i += THREADS) histogram.v[i] = 0;
    }
    if (!SEGMENTS && thread_id() == 0) write_status(p);
    if (p != 0) return;

    // 2. The line of tiles, and what follows from its length.
    uint problems;
    uint tiles = lay_out_line(problems);
    if (has_flag(FLAG_TICKETS)) {
        for (uint i = thread_id(); i < 2 * pass_digits(); i += THREADS) tickets().v[i] = 0;
    }
    if (thread_id() == 0 && has_flag(FLAG_INDIRECT)) {
        Words arguments = Words(scratch_part(args.arguments));
        write_arguments(arguments, ARGUMENTS_TILES, tiles);
        write_arguments(arguments, ARGUMENTS_CHUNKS, (tiles + args.chunk - 1) / args.chunk);
        if (SEGMENTS) write_arguments(arguments, ARGUMENTS_DIGITS, problems * RADIX);
    }
}
