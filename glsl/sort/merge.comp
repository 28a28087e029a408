// Sort of a problem that one workgroup holds, by merging: its time grows with the number of keys and not with their bits.
//
// In:  keys (and values), the count where it lies on the device.
// Out: keys (and values) sorted; the problem's status.
// Groups: one a problem.
// Paper: Green, McColl, Bader, "GPU merge path: a GPU merging algorithm", 2012.
// Progress: none needed.
//
// Each thread orders its own few items in registers. Then runs are merged two by two, through shared memory: every thread finds by binary
// search what the merged run has before its own places, and merges from there as many items as it has. Of two keys that compare equal the
// one from the run before goes first, so the order is stable, pads stay behind every key, and runs of nothing but pads need no merging.
//
// An item is the words of its key that are compared, and one that it carries: its value, or the place it came from, by which all its words
// follow at the end.
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

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

const uint TILE = THREADS * ITEMS;

uint striped(uint k) { return k * THREADS + thread_id(); }

#include "sort/whole.glsl"

const uint FIRST_WORD = BEGIN_BIT / 32;
const uint COMPARED_WORDS = (END_BIT - 1) / 32 - FIRST_WORD + 1;
const uint MERGED_WORDS = COMPARED_WORDS + (ITEM_WORDS > 1 ? 1 : 0);
const bool CARRIES_VALUE = KEY_WORDS == 1 && VALUE_WORDS == 1;
const uint ITEMS_WORDS = ITEMS * MERGED_WORDS;

// Threads lie ITEMS apart: a word more in every 32 sends them to different banks.
const uint ROOM = TILE + TILE / 32 + 1;

shared uint sh_words[MERGED_WORDS * ROOM];

uint slot(uint place) { return place + place / 32; }

void load_item(uint place, out uint item[MERGED_WORDS]) {
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) item[w] = sh_words[w * ROOM + slot(place)];
}

// This thread's items, one behind the other.
void store_items(uint items[ITEMS_WORDS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = slot(thread_id() * ITEMS + k);
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) sh_words[w * ROOM + place] = items[k * MERGED_WORDS + w];
    }
}

// The bits of a compared word that keys are sorted by.
uint sorted_bits(uint w) {
    uint bits = 0xffffffffu;
    if (w == 0) bits = bits << BEGIN_BIT % 32;
    if (w == COMPARED_WORDS - 1) bits &= 0xffffffffu >> (31 - (END_BIT - 1) % 32);
    return bits;
}

// Whether b, which comes after a, belongs before it.
bool turned(uint a[MERGED_WORDS], uint b[MERGED_WORDS]) {
    bool greater = false;
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        uint x = a[w] & sorted_bits(w);
        uint y = b[w] & sorted_bits(w);
        greater = x > y || x == y && greater;
    }
    return greater;
}

// How many items of the run [a, a + a_count) are among the first `places` of its merge with [b, b + b_count).
uint co_rank(uint places, uint a, uint a_count, uint b, uint b_count) {
    uint low = places > b_count ? places - b_count : 0;
    uint high = min(places, a_count);
    while (low < high) {
        uint middle = (low + high) / 2;
        uint of_a[MERGED_WORDS];
        uint of_b[MERGED_WORDS];
        load_item(a + middle, of_a);
        load_item(b + places - 1 - middle, of_b);
        if (turned(of_a, of_b)) high = middle;
        else low = middle + 1;
    }
    return low;
}

void load_items(uint p, uint count, Move move, out uint items[ITEMS_WORDS]) {
    Plane values = source_plane(p, KEY_WORDS, move, count);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = thread_id() * ITEMS + k;
        [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
            items[k * MERGED_WORDS + w] = place < count ? load_encoded(p, FIRST_WORD + w, move, count, place) : 0xffffffffu;
        }
        if (ITEM_WORDS > 1) {
            uint carried = place;
            if (CARRIES_VALUE && place < count) carried = load_word(KEY_WORDS, values, true, place);
            items[k * MERGED_WORDS + MERGED_WORDS - 1] = carried;
        }
    }
}

// Orders this thread's items by exchanging neighbours.
void order_items(inout uint items[ITEMS_WORDS]) {
    [[unroll]] for (uint round = 0; round < ITEMS; ++round) {
        [[unroll]] for (uint k = round & 1; k + 1 < ITEMS; k += 2) {
            uint at = k * MERGED_WORDS;
            uint a[MERGED_WORDS];
            uint b[MERGED_WORDS];
            [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
                a[w] = items[at + w];
                b[w] = items[at + MERGED_WORDS + w];
            }
            bool exchanged = turned(a, b);
            [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
                items[at + w] = exchanged ? b[w] : a[w];
                items[at + MERGED_WORDS + w] = exchanged ? a[w] : b[w];
            }
        }
    }
}

// The items of this thread's places once the runs of so many items are merged, two by two.
void merge_runs(uint run, out uint items[ITEMS_WORDS]) {
    uint first = thread_id() * ITEMS;
    uint a = first / (2 * run) * (2 * run);
    uint b = min(a + run, TILE);
    uint b_end = min(b + run, TILE);
    uint from_a = co_rank(first - a, a, b - a, b, b_end - b);
    uint a_next = a + from_a;
    uint b_next = b + (first - a - from_a);
    uint of_a[MERGED_WORDS];
    uint of_b[MERGED_WORDS];
    load_item(min(a_next, TILE - 1), of_a);
    load_item(min(b_next, TILE - 1), of_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        bool takes_b = b_next < b_end && (a_next >= b || turned(of_a, of_b));
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) items[k * MERGED_WORDS + w] = takes_b ? of_b[w] : of_a[w];
        if (takes_b) load_item(min(++b_next, TILE - 1), of_b);
        else load_item(min(++a_next, TILE - 1), of_a);
    }
}

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint count = told_count(p);
    if (thread_id() == 0) write_status(p);
    if (count == 0) return;
    Move move = from_input_to_output();

    // 1. Load, and order what each thread has.
    uint items[ITEMS_WORDS];
    load_items(p, count, move, items);
    order_items(items);
    store_items(items);
    barrier();

    // 2. Merge.
    for (uint run = ITEMS; run < count; run *= 2) {
        merge_runs(run, items);
        barrier();
        store_items(items);
        barrier();
    }

    // 3. Store, neighbouring items by neighbouring threads.
    if (KEY_WORDS == 1 && !DROPS_KEYS) {
        Plane target = target_plane(p, 0, move, count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint key = sh_words[slot(striped(k))];
            if (striped(k) < count) store_word(target, striped(k), KEYS_APART ? key : decode_top(key));
        }
    }
    if (ITEM_WORDS == 1) return;
    uint carried[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) carried[k] = sh_words[(MERGED_WORDS - 1) * ROOM + slot(striped(k))];
    if (CARRIES_VALUE) {
        Plane target = target_plane(p, KEY_WORDS, move, count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (striped(k) < count) store_word(target, striped(k), carried[k]);
        }
    } else {
        for (uint w = KEY_WORDS == 1 || DROPS_KEYS ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) permute_word(whole_problem(p, count), move, w, carried);
    }
}
