// Items of one workgroup, ordered by merging. (Green, McColl, Bader, "GPU merge path: a GPU merging algorithm", 2012.)
//
// Each thread orders its own few items in registers. Then runs are merged two by two, through shared memory: every thread finds by binary
// search what the merged run has before its own places, and merges from there as many items as it has. Of two keys that compare equal the
// one from the run before goes first, so the order is stable, pads stay behind every key, and runs of nothing but pads need no merging.
//
// Before it: HELD, the items of each thread; and where not everything is one run in the end, MERGES_SEGMENTS with
//   heads_from(place), a bit for each place from there on at which a segment begins,
//   straddling(begin, middle, end), what of the runs [begin, middle) and [middle, end) belongs to the segment that both have a part of.

#include "sort/compare.glsl"

const uint ITEMS_WORDS = ITEMS * MERGED_WORDS;

// Threads lie their items apart: a word more in every 32 sends them to different banks.
const uint ROOM = TILE + TILE / 32 + 1;

shared uint sh_words[MERGED_WORDS * ROOM];

uint slot(uint place) { return place + place / 32; }

void load_item(uint place, out uint item[MERGED_WORDS]) {
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) item[w] = sh_words[w * ROOM + slot(place)];
}

// Neighbouring places, and the thread's items among them.
struct Places {
    uint first;
    uint end;
};

Places own_places() {
    Places own;
    own.first = thread_id() * HELD;
    own.end = own.first + HELD;
    return own;
}

// Those of this thread's items that belong to `places`.
void store_items(uint items[ITEMS_WORDS], Places places) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = thread_id() * HELD + k;
        if (k >= HELD || place < places.first || place >= places.end) continue;
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) sh_words[w * ROOM + slot(place)] = items[k * MERGED_WORDS + w];
    }
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

// Orders this thread's items by exchanging neighbours, which do not leave their segment.
void order_items(inout uint items[ITEMS_WORDS]) {
#ifdef MERGES_SEGMENTS
    uint heads = heads_from(thread_id() * HELD);
#else
    uint heads = 0;
#endif
    [[unroll]] for (uint round = 0; round < ITEMS; ++round) {
        [[unroll]] for (uint k = round & 1; k + 1 < ITEMS; k += 2) {
            if (round >= HELD || k + 1 >= HELD) continue;
            uint at = k * MERGED_WORDS;
            uint a[MERGED_WORDS];
            uint b[MERGED_WORDS];
            [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
                a[w] = items[at + w];
                b[w] = items[at + MERGED_WORDS + w];
            }
            bool exchanged = turned(a, b) && (heads >> (k + 1) & 1) == 0;
            [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
                items[at + w] = exchanged ? b[w] : a[w];
                items[at + MERGED_WORDS + w] = exchanged ? a[w] : b[w];
            }
        }
    }
}

// What changes when the runs of so many items are merged, two by two, around this thread's places.
Places merged_places(uint run, out uint middle) {
    uint begin = own_places().first / (2 * run) * (2 * run);
    uint all = THREADS * HELD;
    middle = min(begin + run, all);
    uint end = min(middle + run, all);
#ifdef MERGES_SEGMENTS
    return straddling(begin, middle, end);
#else
    Places both;
    both.first = begin;
    both.end = end;
    return both;
#endif
}

// The items of this thread's places once such runs are merged: those of `merged`, which is what is told.
Places merge_runs(uint run, out uint items[ITEMS_WORDS]) {
    uint b;
    Places merged = merged_places(run, b);
    Places own = own_places();
    own.first = max(own.first, merged.first);
    own.end = min(own.end, merged.end);
    if (own.first >= own.end) return own;
    uint before = own.first - merged.first;
    uint from_a = co_rank(before, merged.first, b - merged.first, b, merged.end - b);
    uint a_next = merged.first + from_a;
    uint b_next = b + (before - from_a);
    uint last = THREADS * HELD - 1;
    uint of_a[MERGED_WORDS];
    uint of_b[MERGED_WORDS];
    load_item(min(a_next, last), of_a);
    load_item(min(b_next, last), of_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = thread_id() * HELD + k;
        if (place < own.first || place >= own.end) continue;
        bool takes_b = b_next < merged.end && (a_next >= b || turned(of_a, of_b));
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) items[k * MERGED_WORDS + w] = takes_b ? of_b[w] : of_a[w];
        if (takes_b) load_item(min(++b_next, last), of_b);
        else load_item(min(++a_next, last), of_a);
    }
    return own;
}

// Neighbouring items by neighbouring threads, to where their threads find them.
void load_items(Part part, Move move, out uint items[ITEMS_WORDS]) {
    Plane values = source_plane(part.problem, KEY_WORDS, move, part.count);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (k >= HELD) continue;
        uint place = striped(k);
        [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
            sh_words[w * ROOM + slot(place)] = place < part.items ? load_key_word(part, move, FIRST_WORD + w, place) : 0xffffffffu;
        }
        uint carried = (MERGED_WORDS - 1) * ROOM + slot(place);
        if (CARRIES_WORD) sh_words[carried] = place;
        if (CARRIES_VALUE) sh_words[carried] = place < part.items ? load_word(KEY_WORDS, values, move.first, part.first + place) : 0;
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (k >= HELD) continue;
        uint item[MERGED_WORDS];
        load_item(thread_id() * HELD + k, item);
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) items[k * MERGED_WORDS + w] = item[w];
    }
}

// A word of the merged key at a place.
uint merged_key(uint w, uint place, bool decodes) {
    uint word = sh_words[w * ROOM + slot(place)];
    if (!ENCODES || !decodes) return word;
    if (w == TOP_WORD) return decode_top(word);
    return turn_low(word, SIGN_TURNS_LOW_WORDS && is_negative(decode_top(sh_words[TOP_WORD * ROOM + slot(place)])));
}

// Neighbouring items by neighbouring threads, to where they belong.
void store_merged(Part part, Move move) {
    bool drops = DROPS_KEYS && move.last;
    bool decodes = move.last && !KEYS_APART;
    if (MERGES_KEYS && !drops) {
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
            Plane target = target_plane(part.problem, w, move, part.count);
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
                if (k < HELD && striped(k) < part.items) store_word(target, part.first + striped(k), merged_key(w, striped(k), decodes));
            }
        }
    }
    if (!CARRIES_WORD) return;
    uint carried[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (k < HELD) carried[k] = sh_words[(MERGED_WORDS - 1) * ROOM + slot(striped(k))];
    }
    if (CARRIES_VALUE) {
        Plane target = target_plane(part.problem, KEY_WORDS, move, part.count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (k < HELD && striped(k) < part.items) store_word(target, part.first + striped(k), carried[k]);
        }
    } else {
        for (uint w = MERGES_KEYS || drops ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) permute_word(part, move, w, carried);
    }
}

// Sorts a part, from where the move reads to where it writes.
void merge_part(Part part, Move move) {
    uint items[ITEMS_WORDS];
    load_items(part, move, items);
    order_items(items);
    store_items(items, own_places());
    barrier();
    for (uint run = HELD; run < part.items; run *= 2) {
        Places changed = merge_runs(run, items);
        barrier();
        store_items(items, changed);
        barrier();
    }
    store_merged(part, move);
}
