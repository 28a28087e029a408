// Sort by merging, step 1 of a level: where the windows of groups of runs begin.
//
// In:  runs, in planes.
// Out: for each window, how many items of each run come before it.
// Groups: as many for each problem; each asks about as many samples as it has threads for the runs of.
// Progress: none needed.
//
// A thread asks how many of the samples of one run come before the sample of another. The sum over the runs is the sample's place among all
// samples, so none has to be sorted. Of those that begin a window, what lies between two samples is then searched too.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/keys.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"
#include "sort/planes.glsl"

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;
layout(constant_id = SPEC_TILE) const uint WINDOW = 2048;

#include "sort/compare.glsl"
#include "sort/windows.glsl"

const uint SAMPLES = THREADS / FAN;

shared uint sh_before[SAMPLES];

void load_planes_item(uint p, uint count, uint index, out uint item[MERGED_WORDS]) {
    // What is carried is not compared.
    item[MERGED_WORDS - 1] = 0;
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        item[w] = Words(source_plane(p, FIRST_WORD + w, move_of_level(), count).base).v[index];
    }
}

// Of the items first, first + step, ... of a run, how many come before the sample: `low` at least, `high` at most.
uint count_before(uint p, uint count, uint first, uint step, uint low, uint high, uint sample_words[MERGED_WORDS], bool earlier) {
    while (low < high) {
        uint middle = (low + high) / 2;
        uint item[MERGED_WORDS];
        load_planes_item(p, count, first + middle * step, item);
        bool before = earlier ? !turned(item, sample_words) : turned(sample_words, item);
        if (before) low = middle + 1;
        else high = middle;
    }
    return low;
}

void main() {
    uint p = linear_group() / args.chunk;
    if (p >= args.problem_count) return;
    uint count = told_count(p);
    uint first_sample = linear_group() % args.chunk * SAMPLES;
    if (first_sample >= tiles_of(count, STEP)) return;

    uint asked = thread_id() % SAMPLES;
    uint r = thread_id() / SAMPLES;
    uint place = (first_sample + asked) * STEP;
    bool asks = place < count;
    Group group = group_at(place / group_items(), count);
    uint items = items_of_run(group, r);
    uint first = group.first + r * run_items();
    bool own = place - first < items;
    bool earlier = first < place;

    // 1. How many samples of the run come before this one.
    if (thread_id() < SAMPLES) sh_before[thread_id()] = 0;
    barrier();
    uint words[MERGED_WORDS];
    uint before = 0;
    if (asks && own) {
        before = (place - first) / STEP;
    } else if (asks) {
        load_planes_item(p, count, place, words);
        before = count_before(p, count, first, STEP, 0, tiles_of(items, STEP), words, earlier);
    }
    atomicAdd(sh_before[asked], before);
    barrier();
    uint rank = sh_before[asked];
    if (!asks || rank % SPACING != 0) return;

    // 2. And how many items: one more than lie before the last of these samples, or more.
    uint taken = place - first;
    if (!own) taken = before == 0 ? 0 : count_before(p, count, first, 1, (before - 1) * STEP + 1, min(before * STEP, items), words, earlier);
    tile_words_of(p).v[row_of(group, rank / SPACING) + r] = taken;
}
