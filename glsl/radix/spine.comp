// Spine of reduce-then-scan: scans the counts of one digit over the chunks.
//
// In:      the skipped digits.
// In, out: tile_words[tiles][BINS]: the row of each chunk's first tile becomes the exclusive scan.
// Out:     histogram[BINS] of the digit: the totals. The histogram pass, if there is one, has stored the same values.
// Workgroups: one for each digit of each problem.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/scan_threads.glsl"
#define PUSH SpinePush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_words.glsl"
#include "radix/tile_map.glsl"
#include "radix/pass_io.glsl"
#include "radix/ping_pong.glsl"

#define TILE args.tile_items

#include "radix/chunks.glsl"

// Consecutive chunks of a thread.
const uint RUN = 4;

// The row of a chunk in the problem.
uint row_of(uint chunk, uint size, uint others) { return (max(chunk * size, others) - others) * BINS; }

void main() {
    uint group = linear_group();
    uint p = group / BINS;
    uint digit = group % BINS;
    if (p >= problems()) return;
    enter_segment(p);
    PassIo io = pass_io(load_skipped_digits(p));
    if (!io.is_active) return;

    Words rows = tile_words_of(p);
    uint tiles = tiles_of(resolved_count(p), TILE);
    uint size = chunk_tiles();
    // Tiles of other problems in the first chunk of this one.
    uint others = (SINGLE ? 0 : tile_map().states[p].first_tile) % size;
    uint chunks = tiles == 0 ? 0 : tiles_of(others + tiles, size);

    uint sum = 0;
    for (uint first = 0; first < chunks; first += THREADS * RUN) {
        uint start = first + thread_id() * RUN;
        uint run[RUN];
        uint value = 0;
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            run[i] = start + i < chunks ? rows.v[row_of(start + i, size, others) + digit] : 0;
            value += run[i];
        }
        uint total;
        uint before = sum + scan_threads(value, total);
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            if (start + i < chunks) rows.v[row_of(start + i, size, others) + digit] = before;
            before += run[i];
        }
        sum += total;
    }
    if (thread_id() == 0) histogram_of(p).v[pass_index() * BINS + digit] = sum;
}
