// Sort, the last move where one is left: items from where the passes have left them to where they are wanted, in the same order.
//
// In:  keys (and values), of the input or of the alternate planes; the digits that are passed over. What is sorted by prefixes is not copied but finished.
// Out: keys (and values).
// Groups: as many for each problem; of segments, one a tile.
// Progress: none needed.
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

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

// Items in flight a thread.
const uint BATCH = 8;

void main() {
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
    uint passed_over = passed_over_by(p);
    Move move = move_of_pass(passed_over);
    if (!move.moves || by_prefixes(passed_over)) return;
    for (uint w = DROPS_KEYS && move.last ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        Plane source = source_plane(p, w, move, count);
        Plane target = target_plane(p, w, move, count);
        // In place, what no pass has moved is where it is wanted. Indices are not.
        if (source == target && !(VALUES_ARE_INDICES && w >= KEY_WORDS)) continue;
        for (uint from = first; from < end; from += BATCH * step) {
            uint words[BATCH];
            [[unroll]] for (uint k = 0; k < BATCH; ++k) {
                uint i = from + k * step;
                if (i < end && i >= from) words[k] = load_word(w, source, move.first, i);
            }
            [[unroll]] for (uint k = 0; k < BATCH; ++k) {
                uint i = from + k * step;
                if (i < end && i >= from) store_word(target, i, turn_moving(p, w, move, count, i, words[k]));
            }
            // The next step would begin beyond 2^32.
            if (end - from <= BATCH * step) break;
        }
    }
}
