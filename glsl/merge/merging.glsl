// Merge sort of one workgroup's items in shared memory. (Green, McColl and Bader, "GPU merge path: a GPU merging
// algorithm", 2012.)
//
// Each thread holds ITEMS consecutive positions (blocked arrangement) and sorts these items in registers. Then runs are
// merged pairwise through shared memory. A thread finds by binary search where the diagonal of its first position
// crosses the merge path. From there, it merges ITEMS items. Of equal keys, the one of the earlier run comes first, so
// the sort is stable. Threads past the last item are idle. A barrier separates the reads of a merge from the writes of
// its result, and another one these writes from the next merge.
//
// With MERGES_SEGMENTS, the items belong to several segments, and no item leaves its segment. The includer defines:
//   heads_from(position), a mask of the positions from there on at which a segment begins;
//   straddling_segment(begin, middle, end), the positions of the segment that has items in both runs [begin, middle)
//     and [middle, end), or an empty range;
//   longest_segment(), the number of items of the longest segment.

#include "merge/merged.glsl"

const uint ITEMS_WORDS = ITEMS * MERGED_WORDS;

// Items in shared memory: a row for each word. A gap after every 32 positions puts the positions of neighboring threads
// in different banks.
const uint ROW_WORDS = TILE + TILE / 32 + 1;
shared uint sh_words[MERGED_WORDS * ROW_WORDS];

uint padded(uint position) { return position + position / 32; }

void load_item(uint position, out uint item[MERGED_WORDS]) {
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) item[w] = sh_words[w * ROW_WORDS + padded(position)];
}

// The positions [first, end).
struct Positions {
    uint first;
    uint end;
};

// Returns the positions of this thread.
Positions own_positions(uint count) {
    Positions own;
    own.first = min(thread_id() * ITEMS, count);
    own.end = min(own.first + ITEMS, count);
    return own;
}

// Stores those of this thread's items that are in `positions`.
void store_items(uint items[ITEMS_WORDS], Positions positions) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = thread_id() * ITEMS + k;
        if (position < positions.first || position >= positions.end) continue;
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
            sh_words[w * ROW_WORDS + padded(position)] = items[k * MERGED_WORDS + w];
        }
    }
}

// Sorts this thread's items in registers by odd-even transposition. Items of different segments are not exchanged.
// `count`: items of the workgroup.
void sort_in_registers(inout uint items[ITEMS_WORDS], uint count) {
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
#ifdef USER_FUNCTION
            // The comparator receives no pads.
            bool exchanged = thread_id() * ITEMS + k + 1 < count && comes_after(a, b);
#else
            bool exchanged = comes_after(a, b) && (heads >> (k + 1) & 1) == 0;
#endif
            [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
                items[at + w] = exchanged ? b[w] : a[w];
                items[at + MERGED_WORDS + w] = exchanged ? a[w] : b[w];
            }
        }
    }
}

#ifdef MERGES_SEGMENTS
Positions straddling_segment(uint begin, uint middle, uint end);
#endif

#include "merge/path.glsl"

// Merges the runs [begin, middle) and [middle, end). Returns the positions of this thread that have new items.
Positions merge_runs(uint begin, uint middle, uint end, uint count, inout uint items[ITEMS_WORDS]) {
#ifdef MERGES_SEGMENTS
    Positions merged = straddling_segment(begin, middle, end);
#else
    Positions merged;
    merged.first = begin;
    merged.end = end;
#endif
    Positions own = own_positions(count);
    own.first = max(own.first, merged.first);
    own.end = min(own.end, merged.end);
    if (own.first >= own.end) return own;
    uint diagonal = own.first - merged.first;
    uint from_a = co_rank(diagonal, merged.first, middle - merged.first, middle, merged.end - middle);
    uint a_next = merged.first + from_a;
    uint b_next = middle + (diagonal - from_a);
    uint item_a[MERGED_WORDS];
    uint item_b[MERGED_WORDS];
    load_item(min(a_next, count - 1), item_a);
    load_item(min(b_next, count - 1), item_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = thread_id() * ITEMS + k;
        if (position < own.first || position >= own.end) continue;
        bool takes_b = b_next < merged.end && (a_next >= middle || comes_after(item_a, item_b));
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
            items[k * MERGED_WORDS + w] = takes_b ? item_b[w] : item_a[w];
        }
        take_item(takes_b, a_next, b_next, count - 1, item_a, item_b);
    }
    return own;
}

// Loads in flight for each thread: more would take more registers.
const uint LOADS = ITEMS < 8 ? ITEMS : 8;

// Copies items of the part to shared memory, to striped positions from the `first`-th of each thread on. `sources`:
// indices of these items in the part. For positions past the last item, they are loaded but not stored.
void stage_items(Part part, PassIo io, uint first, uint sources[LOADS]) {
    Plane values = source_plane(part.problem, KEY_WORDS, io, part.count);
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
        uint words[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            if (w < COMPARED_WORDS) words[k] = load_key_word(part, io, FIRST_WORD + w, sources[k]);
            else words[k] =
                CARRIES_VALUE ? load_word(KEY_WORDS, values, io.first, part.first + sources[k]) : sources[k];
        }
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            if (striped(first + k) < part.items) sh_words[w * ROW_WORDS + padded(striped(first + k))] = words[k];
        }
    }
}

// Loads the part with coalesced accesses, and returns the items of this thread. Past the last item, these are pads,
// which are greater than or equal to every key.
void load_items(Part part, PassIo io, out uint items[ITEMS_WORDS]) {
    [[dont_unroll]] for (uint first = 0; first < ITEMS && first * THREADS < part.items; first += LOADS) {
        uint sources[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) sources[k] = min(striped(first + k), part.items - 1);
        stage_items(part, io, first, sources);
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = thread_id() * ITEMS + k;
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
            uint word = PAD;
            if (position < part.items) word = sh_words[w * ROW_WORDS + padded(position)];
            items[k * MERGED_WORDS + w] = word;
        }
    }
}

// Returns word `w` of the key at a position, decoded for the output if `decodes`.
uint output_key_word(uint w, uint position, bool decodes) {
    uint word = sh_words[w * ROW_WORDS + padded(position)];
    if (!ENCODES || !decodes) return word;
    if (w == TOP_WORD) return decode_top(word);
    return transcode_low(
        word, SIGN_FLIPS_LOW_WORDS && is_negative(decode_top(sh_words[TOP_WORD * ROW_WORDS + padded(position)]))
    );
}

// Stores word `w` of all keys with coalesced accesses. (Unrolled, the loop takes more registers than it is worth.)
void store_keys(Part part, Plane target, uint w, bool decodes) {
    [[dont_unroll]] for (uint position = thread_id(); position < part.items; position += THREADS) {
        store_word(target, part.first + position, output_key_word(w, position, decodes));
    }
}

void store_carried(Part part, Plane target) {
    [[dont_unroll]] for (uint position = thread_id(); position < part.items; position += THREADS) {
        store_word(target, part.first + position, sh_words[(MERGED_WORDS - 1) * ROW_WORDS + padded(position)]);
    }
}

// Stores the sorted items. If they carry source indices, the other words are loaded by these and stored in order.
void store_merged(Part part, PassIo io) {
    bool drops = DROPS_KEYS && io.last;
    bool decodes = io.last && !KEYS_IN_SCRATCH;
    if (COMPARES_WHOLE_KEYS && !drops) {
        for (uint w = 0; w < KEY_WORDS; ++w) {
            store_keys(part, target_plane(part.problem, w, io, part.count), w, decodes);
        }
    }
    if (CARRIES_VALUE) store_carried(part, target_plane(part.problem, KEY_WORDS, io, part.count));
    if (!CARRIES_WORD || CARRIES_VALUE) return;
    uint sources[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        sources[k] = sh_words[(MERGED_WORDS - 1) * ROW_WORDS + padded(striped(k))];
    }
    for (uint w = COMPARES_WHOLE_KEYS || drops ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) permute_word(part, io, w, sources);
}

#ifdef MERGES_SEGMENTS
// The last step: merges all segments that straddle a boundary between runs of `run` items. No segment is longer than a
// run, so each straddles one boundary at most, and all boundaries are merged at once. A thread merges at both ends of
// its run.
void merge_straddling_segments(uint run, uint count, inout uint items[ITEMS_WORDS]) {
    uint first = thread_id() * ITEMS / run * run;
    uint end = min(first + run, count);
    Positions none;
    none.first = 0;
    none.end = 0;
    Positions at_start = none;
    Positions at_end = none;
    if (first > 0 && first < count) at_start = merge_runs(first - run, first, end, count, items);
    if (end < count) at_end = merge_runs(first, end, min(end + run, count), count, items);
    barrier();
    store_items(items, at_start);
    store_items(items, at_end);
    barrier();
}
#endif

// Sorts a part, from the source to the target of `io`.
void merge_part(Part part, PassIo io) {
    uint items[ITEMS_WORDS];
    load_items(part, io, items);
    sort_in_registers(items, part.items);
    store_items(items, own_positions(part.items));
    barrier();
    for (uint run = ITEMS; run < part.items; run *= 2) {
        uint begin = thread_id() * ITEMS / (2 * run) * (2 * run);
        uint middle = min(begin + run, part.items);
#ifdef MERGES_SEGMENTS
        if (longest_segment() <= run) {
            merge_straddling_segments(run, part.items, items);
            break;
        }
#endif
        Positions changed = merge_runs(begin, middle, min(middle + run, part.items), part.items, items);
        barrier();
        store_items(items, changed);
        barrier();
    }
    store_merged(part, io);
}
