// Segmented sort, step 1: sorts the short segments and lists the long ones.
//
// A short segment has at most TILE items, so one workgroup can sort it. A long segment has more. The later passes sort
// long segments by tiles.
//
// In:  keys (and values); offsets[segments + 1], in ascending order; the number of segments if it is in device memory.
// Out: keys (and values) of short segments, sorted. For each window, one list entry: the long segment that begins
//      there, or none. The histogram of each long segment is cleared. After the list: the extent of all segments. The
//      status of the problem.
// Workgroups: one for each window.
// Memory order: inputs come from earlier dispatches. Each segment belongs to the window of its first item, so no
//               workgroup accesses what another one writes. In place, a barrier separates reads from writes.
// Progress: never waits.
//
// A window is a range of three quarters of a tile. Its workgroup sorts the short segments that begin in it. These are
// consecutive: if they fit a tile together, they are sorted at once. Otherwise the last one is sorted after the others.
// At most one long segment can begin in a window, after the short ones. Many tiny or empty segments therefore leave no
// workgroup idle.
//
// By digits: items are sorted by the digits of their keys, then by the index of their segment.
// By merging (MERGES): items never leave their segment. Where two runs meet within a segment, only the items of that
// segment are merged.
//
// Descending offsets are an error of the caller: segments then overlap. The content of the arrays is then undefined,
// but no access is out of bounds.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#ifndef MERGES
#include "core/scan.glsl"
#include "core/scan_threads.glsl"
#endif
#include "radix/keys.glsl"
#include "core/counters.glsl"
#define PUSH SegmentsPush
#include "radix/problem.glsl"
#include "radix/scratch.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/windows.glsl"
#include "radix/segment_offsets.glsl"
#include "radix/pass_io.glsl"
#include "radix/planes.glsl"

PROBLEM_MEMBER(uvec2, status)

#ifdef MERGES
layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;
const uint TILE = THREADS * ITEMS;
uint striped(uint k) { return k * THREADS + thread_id(); }
#include "radix/whole.glsl"
#else
// Number of items that each thread holds: enough for all items at hand, at most ITEMS.
uint held = 0;
#define HELD held
#define CARRIES true
#include "radix/tile.glsl"
#include "radix/whole.glsl"
#include "radix/order.glsl"
#endif

const uint WINDOW = TILE * 3 / 4 / 32 * 32;
const uint HEAD_WORDS = WINDOW / 32;
const uint NO_ITEM = 0xffffffffu;

// Head flags: a bit for each item of the window, set if a non-empty short segment begins with this item.
shared uint sh_heads[HEAD_WORDS];
// Search: number of probed segments that begin before the item searched for.
shared uint sh_segments_below;
// Whether a thread's segment does not begin in the window; and the first item of the last thread's segment.
shared uint sh_reaches_end;
shared uint sh_last_begin;
// First item and end of all short segments; first item and number of items of the long one.
shared uint sh_short_first;
shared uint sh_short_end;
shared uint sh_long_first;
shared uint sh_long_count;

// A bit for each word of sh_heads, set if the word is not zero.
const uint INDEX_WORDS = (HEAD_WORDS + 31) / 32;
shared uint sh_nonzero_head_words[INDEX_WORDS];
// Items of the longest short segment.
shared uint sh_longest_segment;

// Returns the first segment that begins at `item` or later (lower bound). Each step probes THREADS segments.
uint first_segment_from(uint item, uint segments) {
    uint low = 0;
    uint high = segments;
    while (low < high) {
        uint step = (high - low - 1) / THREADS + 1;
        uint ahead = thread_id() * step;
        bool below = ahead < high - low && segment_begin(low + ahead) < item;
        barrier();
        if (thread_id() == 0) sh_segments_below = 0;
        barrier();
        uint lanes = count_bits(ballot(below));
        if (lane_id() == 0) atomicAdd(sh_segments_below, lanes);
        barrier();
        uint count = sh_segments_below;
        if (count == 0) break;
        high = min(high, low + count * step);
        low += (count - 1) * step + 1;
    }
    return low;
}

// Finds the segments that begin in items [first_item, end_item), and stores them in shared memory. THREADS at a time.
void find_segments(uint first_item, uint end_item, uint segments) {
    for (uint i = thread_id(); i < HEAD_WORDS; i += THREADS) sh_heads[i] = 0;
    if (thread_id() < INDEX_WORDS) sh_nonzero_head_words[thread_id()] = 0;
    if (thread_id() == 0) {
        sh_longest_segment = 0;
        sh_short_first = NO_ITEM;
        sh_short_end = 0;
        sh_long_first = 0;
        sh_long_count = 0;
    }
    uint s = first_segment_from(first_item, segments);
    while (s < segments) {
        barrier();
        if (thread_id() == 0) sh_reaches_end = 0;
        barrier();
        uint segment = s + thread_id();
        uint first = segment < segments ? segment_begin(segment) : end_item;
        bool begins = first >= first_item && first < end_item;
        uint end = begins ? segment_begin(segment + 1) : 0;
        if (begins && end > first) {
            if (end - first <= TILE) {
                uint position = first - first_item;
                atomicOr(sh_heads[position / 32], 1u << position % 32);
                atomicOr(sh_nonzero_head_words[position / 1024], 1u << position / 32 % 32);
                atomicMax(sh_longest_segment, end - first);
                atomicMin(sh_short_first, first);
                atomicMax(sh_short_end, end);
            } else {
                sh_long_first = first;
                sh_long_count = end - first;
            }
        }
        if (!begins) sh_reaches_end = 1;
        if (thread_id() == THREADS - 1) sh_last_begin = first;
        barrier();
        if (sh_reaches_end != 0) break;
        // If all these segments begin at the same item, they are empty, except possibly the last that begins there:
        // skip to it.
        uint last = sh_last_begin;
        bool skips = segment_begin(s) == last;
        s += THREADS;
        if (skips) s = max(s, first_segment_from(last + 1, segments) - 1);
    }
    barrier();
}

// Returns the last head at or before `item`, or 0 if there is none.
uint last_head(uint item) {
    uint word = item / 32;
    uint bits = sh_heads[word] << (31 - item % 32);
    if (bits != 0) return item - (31 - findMSB(bits));
    uint i = word / 32;
    uint words = sh_nonzero_head_words[i] & (1u << word % 32) - 1;
    while (words == 0 && i > 0) words = sh_nonzero_head_words[--i];
    if (words == 0) return 0;
    word = i * 32 + findMSB(words);
    return word * 32 + findMSB(sh_heads[word]);
}

#ifdef MERGES
// Position in the window of the first item at hand.
uint skipped = 0;

// Returns the first head at or after `item`, or NO_ITEM.
uint next_head(uint item) {
    uint word = item / 32;
    if (word >= HEAD_WORDS) return NO_ITEM;
    uint bits = sh_heads[word] >> item % 32;
    if (bits != 0) return item + findLSB(bits);
    uint i = word / 32;
    uint words = sh_nonzero_head_words[i] & ~((2u << word % 32) - 1);
    while (words == 0 && i + 1 < INDEX_WORDS) words = sh_nonzero_head_words[++i];
    if (words == 0) return NO_ITEM;
    word = i * 32 + findLSB(words);
    return word * 32 + findLSB(sh_heads[word]);
}

uint longest_segment() { return sh_longest_segment; }

// Returns the head flags of 32 positions from this one on.
uint heads_from(uint position) {
    uint item = skipped + position;
    uint word = item / 32;
    if (word >= HEAD_WORDS) return 0;
    uint bits = sh_heads[word] >> item % 32;
    if (item % 32 != 0 && word + 1 < HEAD_WORDS) bits |= sh_heads[word + 1] << (32 - item % 32);
    return bits;
}

#define MERGES_SEGMENTS
#include "merge/merging.glsl"

// Returns the part of [begin, end) that belongs to the segment across `middle`. Empty if a segment begins there.
Positions straddling_segment(uint begin, uint middle, uint end) {
    Positions positions;
    positions.first = begin;
    positions.end = end;
    uint item = skipped + middle;
    uint next = next_head(item);
    if (next == item) {
        positions.end = begin;
        return positions;
    }
    // Items after the window belong to the last segment that begins in it.
    uint last = last_head(min(item, WINDOW) - 1);
    positions.first = max(begin, max(last, skipped) - skipped);
    positions.end = min(end, next - skipped);
    return positions;
}

// Sorts `count` items from segment_first on. `first_skipped`: position of the first one in the window.
void sort_items(uint count, uint first_skipped) {
    skipped = first_skipped;
    // All threads have read the previous items from shared memory before the next ones overwrite them.
    barrier();
    merge_part(whole_problem(0, count), input_to_output());
}
#else
// For each word of sh_heads, the number of heads in preceding words.
shared uint sh_heads_before[HEAD_WORDS];

void count_heads() {
    uint bits = 0;
    if (thread_id() < HEAD_WORDS) bits = bitCount(sh_heads[thread_id()]);
    uint all;
    uint before = scan_threads(bits, all);
    if (thread_id() < HEAD_WORDS) sh_heads_before[thread_id()] = before;
    barrier();
}

// Returns the index, among the short segments of the window, of the segment that contains an item.
uint segment_of(uint skipped, uint position) {
    // Items after the window belong to the last segment that begins in it.
    uint item = min(skipped + position, WINDOW - 1);
    return sh_heads_before[item / 32] + bitCount(sh_heads[item / 32] << (31 - item % 32)) - 1;
}

// Sorts `count` items from segment_first on. `skipped`: position of the first one in the window.
void sort_items(uint count, uint skipped) {
    held = tiles_of(count, THREADS);
    PassIo io = input_to_output();
    uint keys[ITEMS];
    uint carried[ITEMS];
    uint positions[POSITION_WORDS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        keys[k] = PAD;
        carried[k] = striped(k);
    }

    // 1. Sort by each digit of the keys. Pads are greater than all keys, so they stay last.
    uint word = NO_ITEM;
    [[dont_unroll]] for (uint d = 0; d < digit_count(BEGIN_BIT, END_BIT); ++d) {
        Digit digit = digit_at(d, BEGIN_BIT, END_BIT);
        if (digit.word != word) {
            word = digit.word;
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
                if (HOLDS(k) && carried[k] < count) keys[k] = load_encoded(0, word, carried[k]);
            }
        }
        sort_by_digit(keys, digit, true, positions);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (HOLDS(k)) keys[k] = sh_keys[striped(k)];
        }
        move_carried_words(positions, carried);
    }

    // 2. Sort by the index of the segment.
    uint first_segment = segment_of(skipped, 0);
    uint others = segment_of(skipped, count - 1) - first_segment;
    [[dont_unroll]] for (uint shift = 0; shift < 32 && others >> shift != 0; shift += BIN_BITS) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            keys[k] = HOLDS(k) && carried[k] < count ? segment_of(skipped, carried[k]) - first_segment : PAD;
        }
        sort_by_digit(keys, Digit(0, shift, BIN_BITS), true, positions);
        move_carried_words(positions, carried);
    }

    // 3. Move all words of the items by source index.
    for (uint w = DROPS_KEYS ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        permute_word(whole_problem(0, count), io, w, carried);
    }
}
#endif

// Clears the histogram of the long segment at segment_first, and the word of skipped digits after it.
void clear_histogram() {
    Words histogram = histogram_of(0);
    for (uint i = thread_id(); i <= pass_digits() * RADIX; i += THREADS) histogram.v[i] = 0;
}

// Writes the extent of all segments after the list, and the status of the problem.
void write_extent_and_status(uint segments) {
    windows().v[args.problem_count] = extent_of_segments();
    uvec2 status = problem_status(0);
    if (is_null(status)) return;
    uvec2 count = args.segments.count;
    bool too_many = !is_null(count) && Words(count).v[0] > args.segments.max_count;
    bool clamped = too_many || offsets().v[segments] > problem_max_count(0);
    Words(status).v[0] = clamped ? STATUS_COUNT_CLAMPED : 0;
}

void main() {
    uint window = linear_group();
    if (window >= args.problem_count) return;
    uint segments = segment_count();
    if (window == 0 && thread_id() == 0) write_extent_and_status(segments);

    // 1. Find the segments that begin in the window.
    uint first_item = window * WINDOW;
    uint most = problem_max_count(0);
    find_segments(first_item, first_item + min(WINDOW, most - first_item), segments);
#ifndef MERGES
    count_heads();
#endif
    // With descending offsets, several threads may have stored a long segment: the pair may then be inconsistent.
    uint long_count = min(sh_long_count, most - sh_long_first);
    if (long_count <= TILE) long_count = 0;
    if (thread_id() == 0) windows().v[window] = Segment(sh_long_first, long_count);

    // 2. Sort the short ones: all together, or all but the last and then the last. This also ends with descending
    // offsets: no short segment ends more than a tile after its first item.
    uint first = sh_short_first;
    uint end = sh_short_end;
    while (first < end) {
        uint skipped = first - first_item;
        uint count = end - first;
        if (count > TILE) count = last_head(WINDOW - 1) - skipped;
        segment_first = first;
        sort_items(count, skipped);
        first += count;
    }

    // 3. Prepare the long one for the passes.
    if (long_count != 0) {
        segment_first = sh_long_first;
        clear_histogram();
    }
}
