// Prepare: resolves counts, maps tiles to problems, and clears counters that the passes increment.
//
// In:  the table of problems, and counts in device memory. With segments: the list of long segments that segments.comp
//      has written.
// Out: the tile map and the status of each problem. By flags: indirect commands, cleared tickets, cleared histograms.
//      With segments: only the tile map of the long segments, tickets and commands; segments.comp has done the rest.
// Workgroups: one for each problem; workgroup 0 also computes the tile map. With segments: one.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/sum_threads.glsl"
#include "core/commands.glsl"
#define PUSH PreparePush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tickets.glsl"
#include "radix/tile_map.glsl"
#include "radix/windows.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

shared uint sh_any;
shared uint sh_end;

// Consecutive problems of a thread: all loads are in flight together.
const uint RUN = 8;

// Loads the counts of a thread's problems; with segments, counts and first items of the long segments in its windows.
void load_run(uint start, out uint counts[RUN], out uint firsts[RUN]) {
    [[unroll]] for (uint i = 0; i < RUN; ++i) {
        uint p = min(start + i, args.problem_count - 1);
        counts[i] = SEGMENTS ? windows().v[p].count : requested_count(p);
        firsts[i] = SEGMENTS ? windows().v[p].first : 0;
    }
    [[unroll]] for (uint i = 0; i < RUN; ++i) {
        if (start + i >= args.problem_count) counts[i] = 0;
    }
}

// Returns the largest value of preceding threads (an exclusive max-scan).
uint max_of_preceding_threads(uint value) {
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

// Returns the largest end of the long segments that begin in a thread's windows.
uint last_end(uint counts[RUN], uint firsts[RUN]) {
    uint end = 0;
    [[unroll]] for (uint i = 0; i < RUN; ++i) {
        if (counts[i] != 0) end = max(end, firsts[i] + counts[i]);
    }
    return end;
}

// Whether `has` is true for any thread.
bool any_thread(bool has) {
    if (thread_id() == 0) sh_any = 0;
    barrier();
    if (has) atomicOr(sh_any, 1);
    barrier();
    bool any = sh_any != 0;
    barrier();
    return any;
}

// Returns the largest end in the windows of preceding threads and in earlier windows. `all`: the largest end in all
// windows so far; this function includes the windows of all threads.
uint max_end_of_preceding_windows(uint end, inout uint all) {
    uint before = max(all, max_of_preceding_threads(end));
    if (thread_id() == THREADS - 1) sh_end = max(before, end);
    barrier();
    all = sh_end;
    barrier();
    return before;
}

// Drops segments that overlap a preceding one: with descending offsets. `ends`: the largest end so far.
void drop_overlapping_segments(inout uint counts[RUN], uint firsts[RUN], uint ends) {
    [[unroll]] for (uint i = 0; i < RUN; ++i) {
        if (counts[i] == 0) continue;
        uint end = firsts[i] + counts[i];
        if (firsts[i] < ends) counts[i] = 0;
        ends = max(ends, end);
    }
}

// Writes the tile map and returns the number of tiles. With segments, a scan compacts the long segments: they become
// problems 0, 1, ... of the map. `problems`: their number.
uint write_tile_map(out uint problems) {
    TileMap map = tile_map();
    uint all_tiles_before = 0;
    uint ends = 0;
    problems = 0;
    for (uint first = 0; first < args.problem_count; first += THREADS * RUN) {
        uint start = first + thread_id() * RUN;
        uint counts[RUN];
        uint firsts[RUN];
        load_run(start, counts, firsts);
        if (SEGMENTS) {
            uint end = last_end(counts, firsts);
            // Most windows have no long segment.
            if (!any_thread(end != 0)) continue;
            drop_overlapping_segments(counts, firsts, max_end_of_preceding_windows(end, ends));
        }
        uint tiles = 0;
        uint nonempty = 0;
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            tiles += tiles_of(counts[i], TILE);
            nonempty += counts[i] != 0 ? 1 : 0;
        }
        uint all_tiles, all_nonempty;
        uint tile = all_tiles_before + sum_threads(tiles, all_tiles);
        uint position = problems + sum_threads(nonempty, all_nonempty);
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            if (start + i >= args.problem_count) continue;
            if (!SEGMENTS) map.states[start + i] = ProblemState(counts[i], tile, 0);
            else if (counts[i] != 0) map.states[position++] = ProblemState(counts[i], tile, firsts[i]);
            tile += tiles_of(counts[i], TILE);
        }
        all_tiles_before += all_tiles;
        problems += all_nonempty;
    }
    if (!SEGMENTS) problems = args.problem_count;
    if (thread_id() == 0) {
        map.problems = problems;
        map.states[args.problem_count] = ProblemState(0, all_tiles_before, 0);
    }
    return all_tiles_before;
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;

    // 1. Clear the histogram of this workgroup's problem and write its status.
    if (!SEGMENTS && has_flag(FLAG_HISTOGRAMS)) {
        Words histogram = histogram_of(p);
        // Includes the word of constant digits and the bins of prefixes.
        uint words = pass_digits() * BINS + 1 + (PREFIXES ? PREFIX_BINS : 0);
        for (uint i = thread_id(); i < words; i += THREADS) histogram.v[i] = 0;
    }
    if (!SEGMENTS && thread_id() == 0) write_status(p);
    if (p != 0) return;

    // 2. Workgroup 0: write the tile map, clear the tickets, and write the indirect commands of the passes.
    uint problems;
    uint tiles = write_tile_map(problems);
    if (has_flag(FLAG_TICKETS)) {
        for (uint i = thread_id(); i < ticket_words(); i += THREADS) tickets().v[i] = 0;
    }
    if (thread_id() == 0 && has_flag(FLAG_INDIRECT)) {
        Words commands = Words(scratch_part(args.commands));
        write_command(commands, ARGUMENTS_TILES, tiles, 0);
        write_command(commands, ARGUMENTS_CHUNKS, (tiles + args.chunk - 1) / args.chunk, 0);
        if (SEGMENTS) write_command(commands, ARGUMENTS_DIGITS, problems * BINS, 0);
    }
}
