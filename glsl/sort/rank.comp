// Sort of a tiny problem by all workgroups together: each counts for a few items how many come before them, which is their place.
// (Enumeration sort; Knuth, "The Art of Computer Programming" 3, 5.2, "comparison counting".)
//
// In:  keys (and values), the count where it lies on the device.
// Out: keys (and values) in order, where they are wanted, or in the alternate planes where others still read the input there; the
//      problem's status.
// Groups: one for every ITEMS items of the largest count.
// Progress: none needed.
//
// Every workgroup compares its items with all keys, so the work is the square of the count and launches and latency are all there is: no
// digit, no barrier between workgroups. An item has a thread for each part of the keys. Of equal keys the earlier one comes first, which takes
// no look at their places but among the workgroup's own items: all others are either before those or behind them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/keys.glsl"
#include "sort/problem.glsl"
#include "sort/pass_io.glsl"
#include "sort/planes.glsl"

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;
layout(constant_id = SPEC_ITEMS) const uint ITEMS = 32;
layout(constant_id = SPEC_TILE) const uint TILE = 2048;

#include "sort/compare.glsl"

// Keys lie in shared memory four to a block, each word of them in a row of its own: a read brings four, the same for all lanes.
const uint BLOCK = 4;
const uint ROW = TILE / BLOCK;
// Blocks in flight a thread.
const uint BATCH = 4;

// Threads of an item.
const uint PARTS = THREADS / ITEMS;
const uint WORDS_A_THREAD = (ITEM_WORDS + PARTS - 1) / PARTS;

shared uvec4 sh_keys[COMPARED_WORDS * ROW];
shared uint sh_before[THREADS];

// The words of a key that are compared, and of those the bits.
void load_key(PassIo io, uint count, uint i, out uint key[COMPARED_WORDS]) {
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        key[w] = load_encoded(0, FIRST_WORD + w, io, count, i) & sorted_bits(w);
    }
}

// Keys from `first` on, as many as there is room for. What lies behind the last of them comes before no key.
void load_blocks(PassIo io, uint count, uint first) {
    uint blocks = min(tiles_of(count - first, BLOCK), ROW);
    for (uint from = thread_id(); from < blocks; from += BATCH * THREADS) {
        uint words[BATCH * BLOCK * COMPARED_WORDS];
        [[unroll]] for (uint k = 0; k < BATCH * BLOCK; ++k) {
            uint position = first + (from + k / BLOCK * THREADS) * BLOCK + k % BLOCK;
            uint key[COMPARED_WORDS];
            load_key(io, count, min(position, count - 1), key);
            [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) words[k * COMPARED_WORDS + w] = position < count ? key[w] : PAD;
        }
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint block = from + k * THREADS;
            if (block >= blocks) continue;
            [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
                uint at = k * BLOCK * COMPARED_WORDS + w;
                sh_keys[w * ROW + block] =
                    uvec4(words[at], words[at + COMPARED_WORDS], words[at + 2 * COMPARED_WORDS], words[at + 3 * COMPARED_WORDS]);
            }
        }
    }
}

// Whether key `c` of a block comes before `key`: `first` tells which of two that compare equal does.
bool comes_before(uvec4 block[COMPARED_WORDS], uint c, uint key[COMPARED_WORDS], bool first) {
    bool before = first ? block[0][c] <= key[0] : block[0][c] < key[0];
    [[unroll]] for (uint w = 1; w < COMPARED_WORDS; ++w) {
        bool equal = block[w][c] == key[w] && before;
        before = block[w][c] < key[w] || equal;
    }
    return before;
}

void load_block(uint index, out uvec4 block[COMPARED_WORDS]) {
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) block[w] = sh_keys[w * ROW + index];
}

// How many keys of the blocks come before `key`, which all of them are before, or behind.
uint count_blocks(uint begin, uint end, uint key[COMPARED_WORDS], bool first) {
    // Each by itself, so that no addition waits for the one before it.
    uint counts[BLOCK] = uint[BLOCK](0, 0, 0, 0);
    for (uint index = begin; index < end; ++index) {
        uvec4 block[COMPARED_WORDS];
        load_block(index, block);
        [[unroll]] for (uint c = 0; c < BLOCK; ++c) counts[c] += uint(comes_before(block, c, key, first));
    }
    return counts[0] + counts[1] + counts[2] + counts[3];
}

// The same of blocks that the key is among, at `place`.
uint count_own(uint begin, uint end, uint key[COMPARED_WORDS], uint position) {
    uint count = 0;
    for (uint index = begin; index < end; ++index) {
        uvec4 block[COMPARED_WORDS];
        load_block(index, block);
        [[unroll]] for (uint c = 0; c < BLOCK; ++c) count += uint(comes_before(block, c, key, index * BLOCK + c < position));
    }
    return count;
}

// How many of the keys from `first` on that are in shared memory come before item i, of the workgroup's items from `own` on. This thread's
// part of them.
uint count_part(uint first, uint count, uint own, uint i, uint key[COMPARED_WORDS]) {
    uint blocks = min(tiles_of(count - first, BLOCK), ROW);
    // An odd number: lanes that read several parts at a time find them in different banks.
    uint share = (blocks + PARTS - 1) / PARTS | 1;
    uint begin = min(thread_id() / ITEMS * share, blocks);
    uint end = min(begin + share, blocks);
    // None, where they lie elsewhere.
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

    // 1. The item, a word or more for each of its threads, and the key by which it is ranked.
    uint words[WORDS_A_THREAD];
    [[unroll]] for (uint k = 0; k < WORDS_A_THREAD; ++k) {
        uint w = min(part + k * PARTS, ITEM_WORDS - 1);
        words[k] = turn_moving(0, w, io, count, i, load_word(w, source_plane(0, w, io, count), true, i));
    }
    uint key[COMPARED_WORDS];
    load_key(io, count, i, key);

    // 2. How many of each part of the keys come before it.
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

    // 3. There it goes.
    if (position >= count) return;
    [[unroll]] for (uint k = 0; k < WORDS_A_THREAD; ++k) {
        uint w = part + k * PARTS;
        if (w < ITEM_WORDS && !(DROPS_KEYS && io.last && w < KEY_WORDS)) store_word(target_plane(0, w, io, count), rank, words[k]);
    }
}
