// Sort by merging, step 2 of a level: groups of runs, each made one.
//
// In:  runs, in planes; where windows begin.
// Out: longer runs, in planes, or the sorted keys (and values).
// Groups: one a window, as many for each problem.
// Progress: none needed.
//
// What the window has of each run lies one behind the other in shared memory, and neighbouring runs are merged two by two until one is left.
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

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

const uint TILE = THREADS * ITEMS;
const uint WINDOW = TILE;

uint striped(uint k) { return k * THREADS + thread_id(); }

#include "radix/whole.glsl"

#include "merge/merging.glsl"
#include "merge/windows.glsl"

// Of each run: what comes before the window, what is in it, where that begins in shared memory, and how much further on it lies in the group.
shared uint sh_taken[FAN];
shared uint sh_sizes[FAN];
shared uint sh_begins[FAN + 1];
shared uint sh_ahead[FAN];
// Items of all runs before the window.
shared uint sh_before;

void find_runs(uint p, Group group, uint window) {
    uint r = thread_id();
    if (r < FAN) {
        Words rows = tile_words_of(p);
        uint row = row_of(group, window);
        bool last = window + 1 == windows_of(group.items);
        uint end = last ? items_of_run(group, r) : rows.v[row + FAN + r];
        sh_taken[r] = rows.v[row + r];
        sh_sizes[r] = end - sh_taken[r];
    }
    barrier();
    if (r > FAN) return;
    uint begin = 0;
    uint before = 0;
    for (uint i = 0; i < r; ++i) {
        begin += sh_sizes[i];
        before += sh_taken[i];
    }
    sh_begins[r] = begin;
    if (r < FAN) sh_ahead[r] = r * run_items() + sh_taken[r] - begin;
    else sh_before = before;
}

// The run that has a place of shared memory.
uint run_at(uint position) {
    uint r = 0;
    [[unroll]] for (uint step = FAN / 2; step > 0; step /= 2) {
        if (sh_begins[r + step] <= position) r += step;
    }
    return r;
}

// Neighbouring items by neighbouring threads.
void load_window(Part part, PassIo io) {
    [[dont_unroll]] for (uint first = 0; first < ITEMS && first * THREADS < part.items; first += LOADS) {
        // From the part's first item, before which some lie: what wraps here wraps back when that is added.
        uint from[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            uint position = min(striped(first + k), part.items - 1);
            from[k] = position + sh_ahead[run_at(position)] - sh_before;
        }
        stage_items(part, io, first, from);
    }
}

// So many neighbouring runs, and as many behind them.
struct Pair {
    uint a;
    uint b;
    uint end;
};

Pair pair_at(uint position, uint runs) {
    uint r = run_at(position) & ~(2 * runs - 1);
    Pair pair;
    pair.a = sh_begins[r];
    pair.b = sh_begins[r + runs];
    pair.end = sh_begins[r + 2 * runs];
    return pair;
}

// The items of this thread's places once every pair is merged, of which its places may meet several.
Places merge_pairs(uint runs, uint count, out uint items[ITEMS_WORDS]) {
    Places own = own_places(count);
    if (own.first >= own.end) return own;
    Pair pair = pair_at(own.first, runs);
    uint before = own.first - pair.a;
    uint from_a = co_rank(before, pair.a, pair.b - pair.a, pair.b, pair.end - pair.b);
    uint a_next = pair.a + from_a;
    uint b_next = pair.b + (before - from_a);
    uint of_a[MERGED_WORDS];
    uint of_b[MERGED_WORDS];
    load_item(a_next, of_a);
    load_item(b_next, of_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = own.first + k;
        if (position >= own.end) continue;
        if (position == pair.end) {
            pair = pair_at(position, runs);
            a_next = pair.a;
            b_next = pair.b;
            load_item(a_next, of_a);
            load_item(b_next, of_b);
        }
        bool takes_b = b_next < pair.end && (a_next >= pair.b || comes_after(of_a, of_b));
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) items[k * MERGED_WORDS + w] = takes_b ? of_b[w] : of_a[w];
        advance_runs(takes_b, a_next, b_next, count - 1, of_a, of_b);
    }
    return own;
}

void main() {
    uint p = linear_group() / args.groups;
    if (p >= args.problem_count) return;
    uint windows = windows_of(group_items());
    uint index = linear_group() % args.groups;
    uint count = requested_count(p);
    Group group = group_at(index / windows, count);
    uint window = index % windows;
    if (window >= windows_of(group.items)) return;

    find_runs(p, group, window);
    barrier();
    Part part;
    part.problem = p;
    part.count = count;
    part.first = group.first + sh_before;
    part.items = sh_begins[FAN];
    PassIo io = level_io();
    load_window(part, io);
    barrier();
    uint items[ITEMS_WORDS];
    for (uint runs = 1; runs < tiles_of(group.items, run_items()); runs *= 2) {
        Places own = merge_pairs(runs, part.items, items);
        barrier();
        store_items(items, own);
        barrier();
    }
    store_merged(part, io);
}
