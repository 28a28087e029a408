// Rank sort of a small problem by all workgroups. For each item, a workgroup counts the items that precede it. This
// number is the output index of the item. (Enumeration sort; Knuth, "The Art of Computer Programming" 3, 5.2,
// "comparison counting".)
//
// In:  keys (and values), the count if it is in device memory.
// Out: sorted keys (and values) in the output, or in the alternate planes while other workgroups still read the input;
//      the status of the problem.
// Workgroups: one for every ITEMS items of the maximum count.
// Memory order: inputs come from earlier dispatches. No workgroup writes what another one reads: hence the alternate
// planes.
// Progress: never waits.
//
// Every workgroup compares its ITEMS items with all keys, which pass through shared memory. The work is quadratic, but
// for small problems launch and latency dominate: there are no digits, and no barriers between workgroups.
//
// PARTS threads share an item: each compares it with one part of the keys. Of equal keys, the earlier one precedes.
// Only the workgroup's own keys need a comparison of indices: all others are either before or after all of those.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH RankPush
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/pass.glsl"
#include "radix/pass_io.glsl"
#include "radix/ping_pong.glsl"
#include "radix/planes.glsl"

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;
layout(constant_id = SPEC_ITEMS) const uint ITEMS = 32;
layout(constant_id = SPEC_TILE) const uint TILE = 2048;

#include "merge/compare.glsl"

// Keys are in shared memory in blocks of four, with a row for each word: one read returns four keys, the same for all
// lanes.
const uint BLOCK = 4;
const uint ROW = TILE / BLOCK;
// Blocks in flight for each thread.
const uint BATCH = 4;

// Number of threads of an item.
const uint PARTS = THREADS / ITEMS;
const uint WORDS_A_THREAD = (ITEM_WORDS + PARTS - 1) / PARTS;

shared uvec4 sh_keys[COMPARED_WORDS * ROW];
shared uint sh_before[THREADS];

// Loads the compared words and bits of a key.
void load_key(PassIo io, uint count, uint i, out uint key[COMPARED_WORDS]) {
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        key[w] = load_encoded(0, FIRST_WORD + w, i) & compared_bits(w);
    }
}

// Loads keys from `first` on, as many as fit. Entries after the last key precede no key.
void load_blocks(PassIo io, uint count, uint first) {
    uint blocks = min(tiles_of(count - first, BLOCK), ROW);
    for (uint from = thread_id(); from < blocks; from += BATCH * THREADS) {
        uint words[BATCH * BLOCK * COMPARED_WORDS];
        [[unroll]] for (uint k = 0; k < BATCH * BLOCK; ++k) {
            uint position = first + (from + k / BLOCK * THREADS) * BLOCK + k % BLOCK;
            uint key[COMPARED_WORDS];
            load_key(io, count, min(position, count - 1), key);
            [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
                words[k * COMPARED_WORDS + w] = position < count ? key[w] : PAD;
            }
        }
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint block = from + k * THREADS;
            if (block >= blocks) continue;
            [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
                uint at = k * BLOCK * COMPARED_WORDS + w;
                sh_keys[w * ROW + block] = uvec4(
                    words[at],
                    words[at + COMPARED_WORDS],
                    words[at + 2 * COMPARED_WORDS],
                    words[at + 3 * COMPARED_WORDS]
                );
            }
        }
    }
}

// Whether key `c` of a block precedes `key`. `or_equal`: whether it does if both are equal.
bool precedes(uvec4 block[COMPARED_WORDS], uint c, uint key[COMPARED_WORDS], bool or_equal) {
    bool before = or_equal ? block[0][c] <= key[0] : block[0][c] < key[0];
    [[unroll]] for (uint w = 1; w < COMPARED_WORDS; ++w) {
        bool equal = block[w][c] == key[w] && before;
        before = block[w][c] < key[w] || equal;
    }
    return before;
}

void load_block(uint index, out uvec4 block[COMPARED_WORDS]) {
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) block[w] = sh_keys[w * ROW + index];
}

// Returns the number of keys in blocks [begin, end) that precede `key`. `or_equal`: whether these keys are before `key`
// by index; otherwise they are after it.
uint count_blocks(uint begin, uint end, uint key[COMPARED_WORDS], bool or_equal) {
    // Separate sums: no addition waits for the previous one.
    uint counts[BLOCK] = uint[BLOCK](0, 0, 0, 0);
    for (uint index = begin; index < end; ++index) {
        uvec4 block[COMPARED_WORDS];
        load_block(index, block);
        [[unroll]] for (uint c = 0; c < BLOCK; ++c) counts[c] += uint(precedes(block, c, key, or_equal));
    }
    return counts[0] + counts[1] + counts[2] + counts[3];
}

// The same for blocks with the workgroup's own keys. `position`: index of the key in shared memory.
uint count_own(uint begin, uint end, uint key[COMPARED_WORDS], uint position) {
    uint count = 0;
    for (uint index = begin; index < end; ++index) {
        uvec4 block[COMPARED_WORDS];
        load_block(index, block);
        [[unroll]] for (uint c = 0; c < BLOCK; ++c) {
            count += uint(precedes(block, c, key, index * BLOCK + c < position));
        }
    }
    return count;
}

// Counts keys in this thread's part of shared memory that precede item `i`. Shared memory holds the keys from index
// `first` on. `own`: index of the workgroup's first item.
uint count_part(uint first, uint count, uint own, uint i, uint key[COMPARED_WORDS]) {
    uint blocks = min(tiles_of(count - first, BLOCK), ROW);
    // An odd number: lanes that read different parts at a time access different banks.
    uint share = (blocks + PARTS - 1) / PARTS | 1;
    uint begin = min(thread_id() / ITEMS * share, blocks);
    uint end = min(begin + share, blocks);
    // Blocks of this part with the workgroup's own keys; possibly none.
    uint own_begin = clamp((clamp(own, first, first + TILE) - first) / BLOCK, begin, end);
    uint own_end = clamp((clamp(own + ITEMS, first, first + TILE) - first) / BLOCK, begin, end);
    return count_blocks(begin, own_begin, key, true) + count_own(own_begin, own_end, key, i - first) +
           count_blocks(own_end, end, key, false);
}

void main() {
    uint count = requested_count(0);
    if (linear_group() == 0 && thread_id() == 0) write_status(0);
    uint own = linear_group() * ITEMS;
    if (own >= count) return;
    PassIo io = pass_io(0);
    uint part = thread_id() / ITEMS;
    uint position = own + thread_id() % ITEMS;
    uint i = min(position, count - 1);

    // 1. Load the key, and the item: its threads load different words.
    uint words[WORDS_A_THREAD];
    [[unroll]] for (uint k = 0; k < WORDS_A_THREAD; ++k) {
        uint w = min(part + k * PARTS, ITEM_WORDS - 1);
        words[k] = transcode_in_pass(0, w, io, count, i, load_word(w, source_plane(0, w, io, count), true, i));
    }
    uint key[COMPARED_WORDS];
    load_key(io, count, i, key);

    // 2. Count the keys of each part that precede it.
    uint before = 0;
    for (uint first = 0; first < count; first += TILE) {
        if (first != 0) barrier();
        load_blocks(io, count, first);
        barrier();
        before += count_part(first, count, own, i, key);
    }
    sh_before[thread_id()] = before;
    barrier();
    uint rank = 0;
    [[unroll]] for (uint k = 0; k < PARTS; ++k) rank += sh_before[k * ITEMS + thread_id() % ITEMS];

    // 3. Store the item at its rank.
    if (position >= count) return;
    [[unroll]] for (uint k = 0; k < WORDS_A_THREAD; ++k) {
        uint w = part + k * PARTS;
        if (w < ITEM_WORDS && !(DROPS_KEYS && io.last && w < KEY_WORDS)) {
            store_word(target_plane(0, w, io, count), rank, words[k]);
        }
    }
}
