// Sort by merging, step 1 of a level: where the windows of groups of runs begin.
//
// In:  runs, in planes.
// Out: for each window, how many items of each run come before it.
// Groups: as many for each problem; a group asks about as many samples as it has threads for their runs.
// Progress: none needed.
//
// A thread asks how many of the samples of one run come before the sample of another. The sum over the runs is the sample's place among all
// samples, so none has to be sorted. Of those that begin a window, what lies between two samples is then searched too.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH MergePush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/tile_words.glsl"
#include "radix/pass_io.glsl"
#include "merge/levels.glsl"
#include "radix/planes.glsl"

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;
layout(constant_id = SPEC_TILE) const uint WINDOW = 2048;

#include "merge/merged.glsl"
#include "merge/windows.glsl"

const uint SAMPLES = THREADS / FAN;

shared uint sh_before[SAMPLES];

// An item of the problem, as far as items are compared.
void load_compared(uint p, uint count, uint index, out uint item[MERGED_WORDS]) {
    item[MERGED_WORDS - 1] = 0;
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        item[w] = Words(middle_plane(p, FIRST_WORD + w, level_io().to_output, count)).v[index];
    }
}

// Every so many items of a run.
struct Row {
    uint problem;
    uint count;  // items in the problem
    uint first;
    uint step;
    bool earlier;  // than the run of whatever they are compared with
};

// How many of them come before the key: `low` at least, `high` at most.
uint count_before(Row row, uint key[MERGED_WORDS], uint low, uint high) {
    while (low < high) {
        uint middle = (low + high) / 2;
        uint item[MERGED_WORDS];
        load_compared(row.problem, row.count, row.first + middle * row.step, item);
        bool before = row.earlier ? !comes_after(item, key) : comes_after(key, item);
        if (before) low = middle + 1;
        else high = middle;
    }
    return low;
}

void main() {
    uint p = linear_group() / args.groups;
    if (p >= args.problem_count) return;
    uint count = requested_count(p);
    uint first_sample = linear_group() % args.groups * SAMPLES;
    if (first_sample >= tiles_of(count, STEP)) return;

    uint asked = thread_id() % SAMPLES;
    uint r = thread_id() / SAMPLES;
    uint position = (first_sample + asked) * STEP;
    bool asks = position < count;
    Group group = group_at(position / group_items(), count);
    uint items = items_of_run(group, r);
    uint first = group.first + r * run_items();
    Row row = Row(p, count, first, STEP, first < position);
    uint key[MERGED_WORDS];
    if (asks) load_compared(p, count, position, key);

    // 1. How many samples of the run come before this one.
    if (thread_id() < SAMPLES) sh_before[thread_id()] = 0;
    barrier();
    bool own = position - first < items;
    uint before = (position - first) / STEP;
    if (!own) before = asks ? count_before(row, key, 0, tiles_of(items, STEP)) : 0;
    atomicAdd(sh_before[asked], before);
    barrier();
    uint rank = sh_before[asked];
    if (!asks || rank % SPACING != 0) return;

    // 2. And how many items: the last of these samples and all before it, and some of those behind it.
    uint taken = position - first;
    row.step = 1;
    if (!own) taken = before == 0 ? 0 : count_before(row, key, (before - 1) * STEP + 1, min(before * STEP, items));
    tile_words_of(p).v[row_of(group, rank / SPACING) + r] = taken;
}
