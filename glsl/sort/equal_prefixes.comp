// Sorts keys with equal prefixes by the bits below: the last pass of a sort by prefixes.
//
// In:  keys (and values) in the alternate planes, sorted by their prefixes (the PREFIX_DIGITS most significant digits).
// Out: sorted keys (and values).
// Workgroups: the same number for each problem; each takes one tile after the other.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// Keys with equal prefixes are contiguous, usually few. Each item is compared with the items of equal prefix before and
// after it. Its output index is its own index, minus the number of greater keys before it, plus the number of smaller
// keys after it. Equal keys keep their order.
//
// Shared memory holds the keys of a tile and a margin on both sides. Keys beyond the margin are loaded from memory:
// this is slower, but correct for any number of equal prefixes.
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

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;
layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 64;

const uint TILE = THREADS * ITEMS;
const uint STAGED_KEYS = TILE + 2 * FINISH_MARGIN;
// Loads of a thread that fill shared memory.
const uint LOADS = ITEMS + (2 * FINISH_MARGIN - 1) / THREADS + 1;

shared uint sh_keys[KEY_WORDS * STAGED_KEYS];

// The range of items whose keys are in shared memory.
struct Staged {
    uint first;
    uint end;
};

// Returns a mask of the bits of word `w` in [begin_bit, END_BIT).
uint bits_of_word(uint w, uint begin_bit) {
    uint first = w * 32;
    if (first + 32 <= begin_bit || first >= END_BIT) return 0;
    uint bits = 0xffffffffu;
    if (first < begin_bit) bits <<= begin_bit - first;
    if (first + 32 > END_BIT) bits &= 0xffffffffu >> (first + 32 - END_BIT);
    return bits;
}

// Returns the lowest bit of the prefix.
uint prefix_begin() {
    Digit lowest = digit_at(digit_count(BEGIN_BIT, END_BIT) - PREFIX_DIGITS, BEGIN_BIT, END_BIT);
    return lowest.word * 32 + lowest.shift;
}

bool have_equal_prefixes(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    uint differ = 0;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) differ |= (a[w] ^ b[w]) & bits_of_word(w, prefix_begin());
    return differ == 0;
}

bool is_less(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool less = false;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        uint x = a[w] & bits_of_word(w, BEGIN_BIT);
        uint y = b[w] & bits_of_word(w, BEGIN_BIT);
        less = x < y || x == y && less;
    }
    return less;
}

// Returns the address of a plane of the source.
uvec2 plane_of_word(uint p, uint w, PassIo io, uint count) { return source_plane(p, w, io, count).base; }

// Loads the keys of a tile and of its margins into shared memory.
void stage_keys(uint p, PassIo io, uint count, Staged staged) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        Words source = Words(advance(plane_of_word(p, w, io, count), bytes_of(staged.first, 4)));
        uint words[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            words[k] = source.v[min(k * THREADS + thread_id(), staged.end - staged.first - 1)];
        }
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            uint position = k * THREADS + thread_id();
            if (position < STAGED_KEYS) sh_keys[w * STAGED_KEYS + position] = words[k];
        }
    }
}

// Loads a key from shared memory.
void load_staged_key(Staged staged, uint position, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = sh_keys[w * STAGED_KEYS + position - staged.first];
}

// Loads a key from device memory.
void load_distant_key(uint p, PassIo io, uint count, uint position, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        key[w] = Words(advance(plane_of_word(p, w, io, count), bytes_of(position, 4))).v[0];
    }
}

// Returns the number of items before this one that have the same prefix and a greater key.
uint greater_before(uint p, PassIo io, uint count, Staged staged, uint position, uint key[KEY_WORDS]) {
    uint greater = 0;
    uint other[KEY_WORDS];
    while (position > staged.first) {
        load_staged_key(staged, --position, other);
        if (!have_equal_prefixes(other, key)) return greater;
        if (is_less(key, other)) greater += 1;
    }
    while (position > 0) {
        load_distant_key(p, io, count, --position, other);
        if (!have_equal_prefixes(other, key)) return greater;
        if (is_less(key, other)) greater += 1;
    }
    return greater;
}

// Returns the number of items after this one that have the same prefix and a smaller key.
uint less_after(uint p, PassIo io, uint count, Staged staged, uint position, uint key[KEY_WORDS]) {
    uint less = 0;
    uint other[KEY_WORDS];
    while (++position < staged.end) {
        load_staged_key(staged, position, other);
        if (!have_equal_prefixes(other, key)) return less;
        if (is_less(other, key)) less += 1;
    }
    for (; position < count; ++position) {
        load_distant_key(p, io, count, position, other);
        if (!have_equal_prefixes(other, key)) return less;
        if (is_less(other, key)) less += 1;
    }
    return less;
}

// Returns a word of a key in shared memory, decoded if `decodes`.
uint output_key_word(Staged staged, uint w, uint position, bool decodes) {
    uint word = sh_keys[w * STAGED_KEYS + position - staged.first];
    if (!ENCODES || !decodes) return word;
    if (w == TOP_WORD) return decode_top(word);
    return transcode_low(
        word, SIGN_FLIPS_LOW_WORDS && is_negative(decode_top(sh_keys[TOP_WORD * STAGED_KEYS + position - staged.first]))
    );
}

// Sorts the items from index `first` on, at most a tile.
void sort_tile(uint p, PassIo io, uint count, uint first) {
    // 1. Load the keys of the tile and of its margins.
    uint valid = min(TILE, count - first);
    Staged staged;
    staged.first = first - min(first, FINISH_MARGIN);
    staged.end = first + valid + min(count - first - valid, FINISH_MARGIN);
    stage_keys(p, io, count, staged);
    barrier();

    // 2. Find the output index of each item.
    uint targets[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = first + min(k * THREADS + thread_id(), valid - 1);
        uint key[KEY_WORDS];
        load_staged_key(staged, position, key);
        targets[k] = position - greater_before(p, io, count, staged, position, key) +
                     less_after(p, io, count, staged, position, key);
    }

    // 3. Store the keys, then the other words.
    bool decodes = !KEYS_IN_SCRATCH;
    for (uint w = 0; w < KEY_WORDS && !DROPS_KEYS; ++w) {
        Plane target = target_plane(p, w, io, count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint position = k * THREADS + thread_id();
            if (position < valid) store_word(target, targets[k], output_key_word(staged, w, first + position, decodes));
        }
    }
    for (uint w = KEY_WORDS; w < ITEM_WORDS; ++w) {
        Words source = Words(advance(plane_of_word(p, w, io, count), bytes_of(first, 4)));
        Plane target = target_plane(p, w, io, count);
        uint words[ITEMS];
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) words[k] = source.v[min(k * THREADS + thread_id(), valid - 1)];
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (k * THREADS + thread_id() < valid) store_word(target, targets[k], words[k]);
        }
    }
}

void main() {
    // 1. Find this workgroup's share. Only sorts by prefixes need this kernel.
    Share share;
    if (!find_share(share)) return;
    uint skipped_digits = load_skipped_digits(share.problem);
    if (!by_prefixes(skipped_digits)) return;
    PassIo io = pass_io(skipped_digits);

    // 2. Sort the tiles of the share.
    uint tiles = tiles_of(share.count, TILE);
    for (uint tile = share.index; tile < tiles; tile += share.shares) {
        // All threads have read the keys of the previous tile before the next ones overwrite them.
        barrier();
        sort_tile(share.problem, io, share.count, tile * TILE);
    }
}
