// Sort, before the passes: resolves the counts and clears what the passes accumulate in.
//
// In:  the problems, and the counts that lie on the device.
// Out: states[problem_count + 1] (count, first tile; the last holds the number of tiles), the arguments of the indirect dispatches
//      where args.arguments is given, each problem's
//      status; for look-back, tickets and histograms zeroed.
// Groups: one a problem; group 0 also lays out the line of tiles.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "sort/problem.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

shared uint sh_sums[THREADS];

uint resolve_count(uint p) {
    uvec2 address = problem_count(p);
    uint most = problem_max_count(p);
    if (is_null(address)) return most;
    return min(Words(address).v[0], most);
}

uint resolve_status(uint p) {
    uvec2 address = problem_count(p);
    if (is_null(address)) return 0;
    return Words(address).v[0] > problem_max_count(p) ? STATUS_COUNT_CLAMPED : 0;
}

// Exclusive sum over the workgroup, which this kernel needs once for every THREADS problems.
uint scan_threads(uint value, out uint total) {
    uint thread = thread_id();
    sh_sums[thread] = value;
    for (uint step = 1; step < THREADS; step *= 2) {
        barrier();
        uint add = thread >= step ? sh_sums[thread - step] : 0;
        barrier();
        sh_sums[thread] += add;
    }
    barrier();
    total = sh_sums[THREADS - 1];
    uint exclusive = sh_sums[thread] - value;
    barrier();
    return exclusive;
}

uint lay_out_line() {
    SortStates states = SortStates(args.states);
    uint line = 0;
    for (uint first = 0; first < args.problem_count; first += THREADS) {
        uint p = first + thread_id();
        uint count = 0;
        if (p < args.problem_count) count = resolve_count(p);
        uint total;
        uint before = scan_threads(tiles_of(count, TILE), total);
        if (p < args.problem_count) states.v[p] = SortState(count, line + before);
        line += total;
    }
    if (thread_id() == 0) states.v[args.problem_count] = SortState(0, line);
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
    bool look_back = !is_null(args.tickets);
    if (look_back) {
        Words histogram = Words(problem_histogram(p));
        for (uint i = thread_id(); i < PASSES * RADIX; i += THREADS) histogram.v[i] = 0;
    }
    uvec2 status = problem_status(p);
    if (thread_id() == 0 && !is_null(status)) Words(status).v[0] = resolve_status(p);
    if (p != 0) return;

    // 2. The line of tiles, and what follows from its length.
    uint tiles = lay_out_line();
    if (look_back && thread_id() < PASSES) Words(args.tickets).v[thread_id()] = 0;
    if (thread_id() == 0 && !is_null(args.arguments)) {
        write_arguments(Words(args.arguments), ARGUMENTS_TILES, tiles);
        write_arguments(Words(args.arguments), ARGUMENTS_CHUNKS, (tiles + args.chunk - 1) / args.chunk);
    }
}
