// Copies items to the output: the last pass of a sort or split, if the other passes leave the items elsewhere. Keeps
// the order.
//
// In:  keys (and values), in the input or in the alternate planes; the skipped digits. Sorts by prefixes copy nothing:
//      sort/equal_prefixes.comp writes the output.
// Out: keys (and values).
// Workgroups: the same number for each problem; with segments, one for each tile.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH PathPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_map.glsl"
#include "radix/share.glsl"
#include "radix/pass_io.glsl"
#include "radix/ping_pong.glsl"
#include "radix/planes.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

// Items in flight for each thread, with all their words.
const uint BATCH = ITEM_WORDS > 4 ? 1 : 8 / ITEM_WORDS;

// Whether a word needs no copy: it is dropped, or source and target are the same. Indices always need a copy.
bool is_in_place(uint p, uint w, PassIo io, uint count) {
    if (DROPS_KEYS && io.last && w < KEY_WORDS) return true;
    return source_plane(p, w, io, count) == target_plane(p, w, io, count) && !is_index(w);
}

void main() {
    // 1. Find this thread's items: first, first + step, ... below end.
    uint p, count, first, end, step;
    if (SEGMENTS) {
        Tile tile;
        if (!find_tile(linear_group(), TILE, tile)) return;
        p = tile.problem;
        count = tile.count;
        first = tile.index * TILE + thread_id();
        end = tile.index * TILE + min(TILE, count - tile.index * TILE);
        step = THREADS;
    } else {
        Share share;
        if (!find_share(share)) return;
        p = share.problem;
        count = share.count;
        first = share.index * THREADS + thread_id();
        end = count;
        step = share.shares * THREADS;
    }

    // 2. Copy them, BATCH at a time.
    uint skipped_digits = load_skipped_digits(p);
    PassIo io = pass_io(skipped_digits);
    if (!io.is_active || by_prefixes(skipped_digits)) return;
    for (uint from = first; from < end; from += BATCH * step) {
        uint words[BATCH * ITEM_WORDS];
        [[unroll]] for (uint w = 0; w < ITEM_WORDS; ++w) {
            if (is_in_place(p, w, io, count)) continue;
            Plane source = source_plane(p, w, io, count);
            [[unroll]] for (uint k = 0; k < BATCH; ++k) {
                uint i = from + k * step;
                words[k * ITEM_WORDS + w] = load_word(w, source, io.first, i < end && i >= from ? i : from);
            }
        }
        [[unroll]] for (uint w = 0; w < ITEM_WORDS; ++w) {
            if (is_in_place(p, w, io, count)) continue;
            Plane target = target_plane(p, w, io, count);
            [[unroll]] for (uint k = 0; k < BATCH; ++k) {
                uint i = from + k * step;
                if (i < end && i >= from) {
                    store_word(target, i, transcode_in_pass(p, w, io, count, i, words[k * ITEM_WORDS + w]));
                }
            }
        }
        // The next step would begin beyond 2^32.
        if (end - from <= BATCH * step) break;
    }
}
