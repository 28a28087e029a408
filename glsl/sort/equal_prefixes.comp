// Finish: the last pass of a sort by prefixes. Sorts keys with equal prefixes by the bits below.
//
// In:  keys (and values) in the alternate planes, sorted by their topmost digits.
// Out: sorted keys (and values).
// Workgroups: the same number for each problem; each takes one tile after the other.
// Progress: never waits.
//
// Keys with equal prefixes are neighbors, and few. Each item walks in both directions over the items with its prefix.
// It moves forward by the number of smaller keys after it, and backward by the number of greater keys before it. Items
// within the tile and a margin are in shared memory. (If there are more than expected, this only costs time.)
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
const uint ROOM = TILE + 2 * FINISH_MARGIN;
// Loads of a thread to fill shared memory.
const uint LOADS = ITEMS + (2 * FINISH_MARGIN - 1) / THREADS + 1;

shared uint sh_keys[KEY_WORDS * ROOM];

// The items in shared memory.
struct Room {
    uint first;
    uint end;
};

// Returns the bits of word w from `begin_bit` on that are sorted by.
uint bits_of_word(uint w, uint begin_bit) {
    uint first = w * 32;
    if (first + 32 <= begin_bit || first >= END_BIT) return 0;
    uint bits = 0xffffffffu;
    if (first < begin_bit) bits <<= begin_bit - first;
    if (first + 32 > END_BIT) bits &= 0xffffffffu >> (first + 32 - END_BIT);
    return bits;
}

uint prefix_begin() {
    Digit lowest = digit_at(digit_count(BEGIN_BIT, END_BIT) - PREFIX_DIGITS, BEGIN_BIT, END_BIT);
    return lowest.word * 32 + lowest.shift;
}

bool have_one_prefix(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
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

uvec2 plane_of_word(uint p, uint w, PassIo io, uint count) { return source_plane(p, w, io, count).base; }

// Loads the keys of a tile and of its margins into shared memory.
void stage_keys(uint p, PassIo io, uint count, Room room) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        Words source = Words(advance(plane_of_word(p, w, io, count), bytes_of(room.first, 4)));
        uint words[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) words[k] = source.v[min(k * THREADS + thread_id(), room.end - room.first - 1)];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            uint position = k * THREADS + thread_id();
            if (position < ROOM) sh_keys[w * ROOM + position] = words[k];
        }
    }
}

void key_at_hand(Room room, uint position, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = sh_keys[w * ROOM + position - room.first];
}

void key_far_off(uint p, PassIo io, uint count, uint position, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        key[w] = Words(advance(plane_of_word(p, w, io, count), bytes_of(position, 4))).v[0];
    }
}

// Returns the number of preceding items that belong after this one.
uint greater_before(uint p, PassIo io, uint count, Room room, uint position, uint key[KEY_WORDS]) {
    uint greater = 0;
    uint other[KEY_WORDS];
    while (position > room.first) {
        key_at_hand(room, --position, other);
        if (!have_one_prefix(other, key)) return greater;
        if (is_less(key, other)) greater += 1;
    }
    while (position > 0) {
        key_far_off(p, io, count, --position, other);
        if (!have_one_prefix(other, key)) return greater;
        if (is_less(key, other)) greater += 1;
    }
    return greater;
}

// Returns the number of following items that belong before this one.
uint less_behind(uint p, PassIo io, uint count, Room room, uint position, uint key[KEY_WORDS]) {
    uint less = 0;
    uint other[KEY_WORDS];
    while (++position < room.end) {
        key_at_hand(room, position, other);
        if (!have_one_prefix(other, key)) return less;
        if (is_less(other, key)) less += 1;
    }
    for (; position < count; ++position) {
        key_far_off(p, io, count, position, other);
        if (!have_one_prefix(other, key)) return less;
        if (is_less(other, key)) less += 1;
    }
    return less;
}

// Returns a decoded word of a key in shared memory.
uint leaving_word(Room room, uint w, uint position, bool decodes) {
    uint word = sh_keys[w * ROOM + position - room.first];
    if (!ENCODES || !decodes) return word;
    if (w == TOP_WORD) return decode_top(word);
    return turn_low(word, SIGN_TURNS_LOW_WORDS && is_negative(decode_top(sh_keys[TOP_WORD * ROOM + position - room.first])));
}

void finish_tile(uint p, PassIo io, uint count, uint first) {
    uint valid = min(TILE, count - first);
    Room room;
    room.first = first - min(first, FINISH_MARGIN);
    room.end = first + valid + min(count - first - valid, FINISH_MARGIN);
    stage_keys(p, io, count, room);
    barrier();

    uint targets[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = first + min(k * THREADS + thread_id(), valid - 1);
        uint key[KEY_WORDS];
        key_at_hand(room, position, key);
        targets[k] = position - greater_before(p, io, count, room, position, key) + less_behind(p, io, count, room, position, key);
    }

    bool decodes = !KEYS_APART;
    for (uint w = 0; w < KEY_WORDS && !DROPS_KEYS; ++w) {
        Plane target = target_plane(p, w, io, count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint position = k * THREADS + thread_id();
            if (position < valid) store_word(target, targets[k], leaving_word(room, w, first + position, decodes));
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
    Share share;
    if (!find_share(share)) return;
    uint skipped_digits = load_skipped_digits(share.problem);
    if (!by_prefixes(skipped_digits)) return;
    PassIo io = pass_io(skipped_digits);
    uint tiles = tiles_of(share.count, TILE);
    for (uint tile = share.index; tile < tiles; tile += share.shares) {
        // All threads have read the shared memory of the previous tile.
        barrier();
        finish_tile(share.problem, io, share.count, tile * TILE);
    }
}
