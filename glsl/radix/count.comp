// Count of reduce-then-scan: counts one digit in every tile, and stores the sums over preceding tiles of the chunk.
//
// In:  keys; the skipped digits.
// Out: tile_words[tiles][BINS] of the problem: a row of counts for each tile. The row holds the counts of the preceding
//      tiles of the chunk. Exception: the row of the chunk's first tile holds the counts of the whole chunk. Without a
//      prepare pass, also the status of the problem.
// Paper: Blelloch, "Prefix sums and their applications", 1990; Merrill and Grimshaw, "Revisiting sorting for GPGPU",
//        2010.
// Workgroups: one for each chunk, a number of consecutive tiles (chunks.glsl).
// Memory order: inputs come from earlier dispatches. Each tile, and so each row, belongs to one workgroup.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#include "core/counters.glsl"
#define PUSH ReorderPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_words.glsl"
#include "radix/tile_map.glsl"
#include "radix/function.glsl"
#include "radix/pass_io.glsl"
#include "radix/ping_pong.glsl"
#include "radix/planes.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

#include "radix/chunks.glsl"
const uint COUNTED = 1;
#include "radix/copies.glsl"

// Keys in flight for each thread: those of a whole tile, if they fit the registers.
const uint KEYS = (TILE - 1) / THREADS + 1;
const uint BATCHES = (KEYS - 1) / 16 + 1;
const uint BATCH = (KEYS - 1) / BATCHES + 1;

// Consecutive tiles of one problem in one chunk.
struct Run {
    Tile first;
    uint tiles;
    PassIo io;
    Plane plane;
    uint word;
};

// Index of this thread's first item of the batch, in its tile.
uint first_item(uint batch) { return batch % BATCHES * (BATCH * THREADS) + thread_id(); }

// Number of items of the batch's tile from this thread's first one on.
uint items_from(Run run, uint batch) {
    uint items = min(TILE, run.first.count - (run.first.index + batch / BATCHES) * TILE);
    return items - min(first_item(batch), items);
}

// Loads a batch of keys. `batch`: counted from the first tile of the run; each tile has BATCHES.
void load_batch(Run run, uint batch, inout uint keys[BATCH]) {
    uint first = (run.first.index + batch / BATCHES) * TILE + first_item(batch);
    uint items = items_from(run, batch);
    // Constant offsets from the first key: no address for each key.
    Words dense = Words(advance(run.plane.base, bytes_of(first, 4)));
    [[unroll]] for (uint k = 0; k < BATCH; ++k) {
        uint i = k * THREADS;
        if (i >= items) continue;
        if (KEYS_ARE_PLANES) keys[k] = dense.v[i];
        else if (run.io.first) keys[k] = load_encoded(run.first.problem, run.word, first + i);
        else keys[k] = load_strided(run.plane, first + i);
    }
}

// Counts a batch in shared memory.
void count_batch(Run run, uint batch, uint keys[BATCH]) {
    uint mask = (1u << (args.digit >> 16)) - 1;
    uint items = items_from(run, batch);
    bool encodes = KEYS_ARE_PLANES && ENCODES && run.io.first;
    [[unroll]] for (uint k = 0; k < BATCH; ++k) {
        uint key = encodes ? encode_top(keys[k]) : keys[k];
        if (k * THREADS < items) atomicAdd(sh_histogram[own_counter(bin_of(key, args.digit & 0xff, mask))], 1);
    }
}

// Stores the counts so far in the row of a tile. For the tile that follows, these are the counts of all preceding tiles
// of the chunk. After the last tile, they are the counts of the chunk, and go to the row of the first tile.
void store_row(Words rows, uint tile) {
    for (uint d = thread_id(); d < BINS; d += THREADS) rows.v[tile * BINS + d] = count_of(d);
}

// Counts the tiles of a run, one after the other. The keys of the next batch are in flight while the current ones are
// counted.
void count_run(Run run) {
    Words rows = tile_words_of(run.first.problem);
    uint keys[BATCH];
    load_batch(run, 0, keys);
    clear_counts();
    barrier();
    [[dont_unroll]] for (uint batch = 0; batch < run.tiles * BATCHES; ++batch) {
        count_batch(run, batch, keys);
        uint next = batch + 1;
        if (next < run.tiles * BATCHES) load_batch(run, next, keys);
        if (next % BATCHES != 0) continue;
        barrier();
        uint tile = next / BATCHES % run.tiles;
        store_row(rows, run.first.index + tile);
        barrier();
    }
}

// Narrow labels are packed into words, from the beginning of a word on.
const bool PACKED = LABELS && NARROW;
const uint KEYS_A_WORD = 32 / KEY_BITS;
const uint TILE_WORDS = TILE / KEYS_A_WORD;
const uint WORDS = (TILE_WORDS - 1) / THREADS + 1;

// Loads the words that hold the labels of a tile.
void load_packed(Run run, uint tile, inout uint words[WORDS]) {
    uint first = (run.first.index + tile) * TILE;
    uint items = min(TILE, run.first.count - first);
    Words packed = Words(advance(run.plane.base, bytes_of(first / KEYS_A_WORD + thread_id(), 4)));
    [[unroll]] for (uint k = 0; k < WORDS; ++k) {
        if ((k * THREADS + thread_id()) * KEYS_A_WORD < items) words[k] = packed.v[k * THREADS];
    }
}

// Counts the labels of a tile in shared memory.
void count_packed(Run run, uint tile, uint words[WORDS]) {
    uint mask = (1u << (args.digit >> 16)) - 1;
    uint items = min(TILE, run.first.count - (run.first.index + tile) * TILE);
    [[unroll]] for (uint k = 0; k < WORDS; ++k) {
        [[unroll]] for (uint i = 0; i < KEYS_A_WORD; ++i) {
            uint bin = bin_of(words[k] >> i * KEY_BITS & KEY_MASK, args.digit & 0xff, mask);
            if ((k * THREADS + thread_id()) * KEYS_A_WORD + i < items) atomicAdd(sh_histogram[own_counter(bin)], 1);
        }
    }
}

// As count_run, with one word of labels at a time.
void count_packed_run(Run run) {
    Words rows = tile_words_of(run.first.problem);
    uint words[WORDS];
    load_packed(run, 0, words);
    clear_counts();
    barrier();
    [[dont_unroll]] for (uint tile = 0; tile < run.tiles; ++tile) {
        count_packed(run, tile, words);
        if (tile + 1 < run.tiles) load_packed(run, tile + 1, words);
        barrier();
        store_row(rows, run.first.index + (tile + 1) % run.tiles);
        barrier();
    }
}

void main() {
    // 1. Without a prepare pass, write the status.
    if (DIRECT && pass_index() == 0 && linear_group() == 0 && thread_id() == 0) write_status(0);

    // 2. Count the tiles of the chunk, problem by problem. Branches depend on the chunk only, so they are uniform for
    // the workgroup.
    uint chunk = chunk_tiles();
    uint first = linear_group() * chunk;
    uint end = first + chunk;
    Run run;
    for (uint t = first; t < end && find_tile(t, TILE, run.first); t += run.tiles) {
        enter_function(run.first.problem);
        run.tiles = min(end - t, run.first.tiles - run.first.index);
        run.io = pass_io(load_skipped_digits(run.first.problem));
        if (!run.io.is_active) continue;
        run.word = KEY_WORDS == 1 ? 0 : args.digit >> 8 & 0xff;
        run.plane = source_plane(run.first.problem, run.word, run.io, run.first.count);
        if (PACKED && run.io.first) count_packed_run(run);
        else count_run(run);
    }
}
