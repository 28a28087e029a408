// Items of one workgroup, ordered by merging. (Green, McColl, Bader, "GPU merge path: a GPU merging algorithm", 2012.)
//
// Each thread orders its own few items in registers. Then runs are merged two by two, through shared memory: every thread finds by binary
// search what the merged run has before its own places, and merges from there as many items as it has. Of two keys that compare equal the
// one from the run before goes first, so the order is stable. Threads behind the last item have nothing to do.
//
// Before it: where not everything is one run in the end, MERGES_SEGMENTS with
//   heads_from(place), a bit for each place from there on at which a segment begins,
//   straddling(begin, middle, end), what of the runs [begin, middle) and [middle, end) belongs to the segment that both have a part of,
//   longest_segment(), which no segment exceeds.

#include "merge/merged.glsl"

const uint ITEMS_WORDS = ITEMS * MERGED_WORDS;

// Threads lie their items apart: a word more in every 32 sends them to different banks.
const uint ROOM = TILE + TILE / 32 + 1;

shared uint sh_words[MERGED_WORDS * ROOM];

uint slot(uint position) { return position + position / 32; }

void load_item(uint position, out uint item[MERGED_WORDS]) {
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) item[w] = sh_words[w * ROOM + slot(position)];
}

// Neighbouring places, and the thread's items among them.
struct Places {
    uint first;
    uint end;
};

Places own_places(uint count) {
    Places own;
    own.first = min(thread_id() * ITEMS, count);
    own.end = min(own.first + ITEMS, count);
    return own;
}

// Those of this thread's items that belong to `places`.
void store_items(uint items[ITEMS_WORDS], Places positions) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = thread_id() * ITEMS + k;
        if (position < positions.first || position >= positions.end) continue;
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) sh_words[w * ROOM + slot(position)] = items[k * MERGED_WORDS + w];
    }
}

// How many items of the run [a, a + a_count) are among the first `places` of its merge with [b, b + b_count).
uint co_rank(uint positions, uint a, uint a_count, uint b, uint b_count) {
    uint low = positions > b_count ? positions - b_count : 0;
    uint high = min(positions, a_count);
    while (low < high) {
        uint middle = (low + high) / 2;
        uint of_a[MERGED_WORDS];
        uint of_b[MERGED_WORDS];
        load_item(a + middle, of_a);
        load_item(b + positions - 1 - middle, of_b);
        if (comes_after(of_a, of_b)) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Orders this thread's items by exchanging neighbours, which do not leave their segment.
void order_items(inout uint items[ITEMS_WORDS]) {
#ifdef MERGES_SEGMENTS
    uint heads = heads_from(thread_id() * ITEMS);
#else
    uint heads = 0;
#endif
    [[unroll]] for (uint round = 0; round < ITEMS; ++round) {
        [[unroll]] for (uint k = round & 1; k + 1 < ITEMS; k += 2) {
            uint at = k * MERGED_WORDS;
            uint a[MERGED_WORDS];
            uint b[MERGED_WORDS];
            [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
                a[w] = items[at + w];
                b[w] = items[at + MERGED_WORDS + w];
            }
            bool exchanged = comes_after(a, b) && (heads >> (k + 1) & 1) == 0;
            [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
                items[at + w] = exchanged ? b[w] : a[w];
                items[at + MERGED_WORDS + w] = exchanged ? a[w] : b[w];
            }
        }
    }
}

#ifdef MERGES_SEGMENTS
Places straddling(uint begin, uint middle, uint end);
#endif

// Behind the item that is taken from a or b the next is loaded: one load, whichever it is, so that lanes do not wait for one another.
void advance_runs(
    bool takes_b, inout uint a_next, inout uint b_next, uint last, inout uint of_a[MERGED_WORDS], inout uint of_b[MERGED_WORDS]
) {
    if (takes_b) b_next += 1;
    else a_next += 1;
    uint next[MERGED_WORDS];
    load_item(min(takes_b ? b_next : a_next, last), next);
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
        of_a[w] = takes_b ? of_a[w] : next[w];
        of_b[w] = takes_b ? next[w] : of_b[w];
    }
}

// Merges the runs [begin, middle) and [middle, end): the items of those of this thread's places that are told.
Places merge_runs(uint begin, uint middle, uint end, uint count, inout uint items[ITEMS_WORDS]) {
#ifdef MERGES_SEGMENTS
    Places merged = straddling(begin, middle, end);
#else
    Places merged;
    merged.first = begin;
    merged.end = end;
#endif
    Places own = own_places(count);
    own.first = max(own.first, merged.first);
    own.end = min(own.end, merged.end);
    if (own.first >= own.end) return own;
    uint before = own.first - merged.first;
    uint from_a = co_rank(before, merged.first, middle - merged.first, middle, merged.end - middle);
    uint a_next = merged.first + from_a;
    uint b_next = middle + (before - from_a);
    uint of_a[MERGED_WORDS];
    uint of_b[MERGED_WORDS];
    load_item(min(a_next, count - 1), of_a);
    load_item(min(b_next, count - 1), of_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = thread_id() * ITEMS + k;
        if (position < own.first || position >= own.end) continue;
        bool takes_b = b_next < merged.end && (a_next >= middle || comes_after(of_a, of_b));
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) items[k * MERGED_WORDS + w] = takes_b ? of_b[w] : of_a[w];
        advance_runs(takes_b, a_next, b_next, count - 1, of_a, of_b);
    }
    return own;
}

// So many loads are under way together: more would hold more registers.
const uint LOADS = ITEMS < 8 ? ITEMS : 8;

// Items of the part to the places of shared memory that this thread has from its item `first` on. Behind the last place they are loaded for nothing.
void stage_items(Part part, PassIo io, uint first, uint from[LOADS]) {
    Plane values = source_plane(part.problem, KEY_WORDS, io, part.count);
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
        uint words[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            if (w < COMPARED_WORDS) words[k] = load_key_word(part, io, FIRST_WORD + w, from[k]);
            else words[k] = CARRIES_VALUE ? load_word(KEY_WORDS, values, io.first, part.first + from[k]) : from[k];
        }
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            if (striped(first + k) < part.items) sh_words[w * ROOM + slot(striped(first + k))] = words[k];
        }
    }
}

// Neighbouring items by neighbouring threads, to where their threads find them. Pads stay in registers, behind every key.
void load_items(Part part, PassIo io, out uint items[ITEMS_WORDS]) {
    [[dont_unroll]] for (uint first = 0; first < ITEMS && first * THREADS < part.items; first += LOADS) {
        uint from[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) from[k] = min(striped(first + k), part.items - 1);
        stage_items(part, io, first, from);
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = thread_id() * ITEMS + k;
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
            uint word = PAD;
            if (position < part.items) word = sh_words[w * ROOM + slot(position)];
            items[k * MERGED_WORDS + w] = word;
        }
    }
}

// A word of the merged key at a place.
uint merged_key(uint w, uint position, bool decodes) {
    uint word = sh_words[w * ROOM + slot(position)];
    if (!ENCODES || !decodes) return word;
    if (w == TOP_WORD) return decode_top(word);
    return turn_low(word, SIGN_TURNS_LOW_WORDS && is_negative(decode_top(sh_words[TOP_WORD * ROOM + slot(position)])));
}

// A merged word of every item to where it belongs, neighbouring items by neighbouring threads. (Unrolled, it holds registers that cost more.)
void store_keys(Part part, Plane target, uint w, bool decodes) {
    [[dont_unroll]] for (uint position = thread_id(); position < part.items; position += THREADS) {
        store_word(target, part.first + position, merged_key(w, position, decodes));
    }
}

void store_carried(Part part, Plane target) {
    [[dont_unroll]] for (uint position = thread_id(); position < part.items; position += THREADS) {
        store_word(target, part.first + position, sh_words[(MERGED_WORDS - 1) * ROOM + slot(position)]);
    }
}

void store_merged(Part part, PassIo io) {
    bool drops = DROPS_KEYS && io.last;
    bool decodes = io.last && !KEYS_APART;
    if (MERGES_KEYS && !drops) {
        for (uint w = 0; w < KEY_WORDS; ++w) store_keys(part, target_plane(part.problem, w, io, part.count), w, decodes);
    }
    if (CARRIES_VALUE) store_carried(part, target_plane(part.problem, KEY_WORDS, io, part.count));
    if (!CARRIES_WORD || CARRIES_VALUE) return;
    uint from[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) from[k] = sh_words[(MERGED_WORDS - 1) * ROOM + slot(striped(k))];
    for (uint w = MERGES_KEYS || drops ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) permute_word(part, io, w, from);
}

#ifdef MERGES_SEGMENTS
// No segment is longer than a run, so none is in more than two of them: what is left is merged at once, at both ends of each run.
void merge_ends(uint run, uint count, inout uint items[ITEMS_WORDS]) {
    uint first = thread_id() * ITEMS / run * run;
    uint end = min(first + run, count);
    Places none;
    none.first = 0;
    none.end = 0;
    Places before = none;
    Places behind = none;
    if (first > 0 && first < count) before = merge_runs(first - run, first, end, count, items);
    if (end < count) behind = merge_runs(first, end, min(end + run, count), count, items);
    barrier();
    store_items(items, before);
    store_items(items, behind);
    barrier();
}
#endif

// Sorts a part, from where the move reads to where it writes.
void merge_part(Part part, PassIo io) {
    uint items[ITEMS_WORDS];
    load_items(part, io, items);
    order_items(items);
    store_items(items, own_places(part.items));
    barrier();
    for (uint run = ITEMS; run < part.items; run *= 2) {
        uint begin = thread_id() * ITEMS / (2 * run) * (2 * run);
        uint middle = min(begin + run, part.items);
#ifdef MERGES_SEGMENTS
        if (longest_segment() <= run) {
            merge_ends(run, part.items, items);
            break;
        }
#endif
        Places changed = merge_runs(begin, middle, min(middle + run, part.items), part.items, items);
        barrier();
        store_items(items, changed);
        barrier();
    }
    store_merged(part, io);
}
