// Spine of reduce-then-scan: scans the counts of each bin over the chunks.
//
// In:      the skipped digits.
// In, out: tile_words[tiles][BINS]. The row of each chunk's first tile holds the counts of the chunk; they become the
//          counts of all preceding chunks (exclusive scan).
// Out:     histogram[digit][BINS]: the total of each bin. The histogram pass, if there is one, has stored the same
//          values.
// Paper: Merrill and Grimshaw, "Revisiting sorting for GPGPU", 2010.
// Workgroups: one for each bin of each problem.
// Memory order: inputs come from earlier dispatches; each counter belongs to one workgroup.
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

// Returns the offset of a chunk's row: the row of its first tile that belongs to the problem. `tiles_of_others`: tiles
// of other problems in chunk 0.
uint row_of(uint chunk, uint chunk_size, uint tiles_of_others) {
    return (max(chunk * chunk_size, tiles_of_others) - tiles_of_others) * BINS;
}

void main() {
    // 1. Find the problem, the bin, and the chunks that contain tiles of the problem.
    uint group = linear_group();
    uint p = group / BINS;
    uint digit = group % BINS;
    if (p >= problems()) return;
    enter_segment(p);
    PassIo io = pass_io(load_skipped_digits(p));
    if (!io.is_active) return;

    Words rows = tile_words_of(p);
    uint tiles = tiles_of(resolved_count(p), TILE);
    uint chunk_size = chunk_tiles();
    // Tiles of other problems in the first chunk of this one.
    uint tiles_of_others = (SINGLE ? 0 : tile_map().states[p].first_tile) % chunk_size;
    uint chunks = tiles == 0 ? 0 : tiles_of(tiles_of_others + tiles, chunk_size);

    // 2. Scan the counts of the chunks, THREADS * RUN at a time.
    uint sum = 0;
    for (uint first = 0; first < chunks; first += THREADS * RUN) {
        uint start = first + thread_id() * RUN;
        uint run[RUN];
        uint value = 0;
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            run[i] = start + i < chunks ? rows.v[row_of(start + i, chunk_size, tiles_of_others) + digit] : 0;
            value += run[i];
        }
        uint total;
        uint before = sum + scan_threads(value, total);
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            if (start + i < chunks) rows.v[row_of(start + i, chunk_size, tiles_of_others) + digit] = before;
            before += run[i];
        }
        sum += total;
    }

    // 3. Store the total.
    if (thread_id() == 0) histogram_of(p).v[pass_index() * BINS + digit] = sum;
}
