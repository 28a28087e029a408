// Sort of segments, step 1: all that fit a workgroup are sorted, and of the others it is told where they lie.
//
// In:  keys (and values); offsets[segments + 1], which never fall; the number of segments, where it lies on the device.
// Out: keys (and values) of segments of up to a tile, sorted. Of each window, the longer segment that begins there, if one does, its
//      histogram zeroed; behind them, what all segments cover. The status.
// Groups: one a window.
// Progress: none needed.
//
// A window is three quarters of a tile, and answers for the segments that begin in it. Those of up to a tile lie one behind the other there:
// they are sorted as one where they fit, and otherwise all but the last and then that one. Behind them one longer segment may begin. So neither
// many tiny segments nor empty ones leave a workgroup idle.
//
// By digits, they are sorted by those of their keys and then by which segment a key is in. By merging (MERGES), items do not leave their
// segment: of two runs, only what belongs to the segment that both have a part of is merged.
//
// Offsets that fall, which they must not, have segments overlap: then what the arrays hold afterwards means nothing, but nothing outside
// of them is touched.
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
// Of the items that a thread has room for, as many as it takes for those there are.
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

// A bit for each item of the window that a short segment begins with.
shared uint sh_heads[HEAD_WORDS];
shared uint sh_below;
shared uint sh_ends;
shared uint sh_last;
// What the short segments cover, and the longer one behind them.
shared uint sh_short_first;
shared uint sh_short_end;
shared uint sh_long_first;
shared uint sh_long_count;

// A bit for each word of these that is not zero.
const uint INDEX_WORDS = (HEAD_WORDS + 31) / 32;
shared uint sh_headed[INDEX_WORDS];
// Items of the longest.
shared uint sh_longest;

// The first segment that does not begin before `item`. Each step asks as many segments as there are threads.
uint first_segment_from(uint item, uint segments) {
    uint low = 0;
    uint high = segments;
    while (low < high) {
        uint step = (high - low - 1) / THREADS + 1;
        uint ahead = thread_id() * step;
        bool below = ahead < high - low && begin_of(low + ahead) < item;
        barrier();
        if (thread_id() == 0) sh_below = 0;
        barrier();
        uint lanes = count_bits(ballot(below));
        if (lane_id() == 0) atomicAdd(sh_below, lanes);
        barrier();
        uint count = sh_below;
        if (count == 0) break;
        high = min(high, low + count * step);
        low += (count - 1) * step + 1;
    }
    return low;
}

// What begins in the window, told in shared memory.
void find_segments(uint first_item, uint end_item, uint segments) {
    for (uint i = thread_id(); i < HEAD_WORDS; i += THREADS) sh_heads[i] = 0;
    if (thread_id() < INDEX_WORDS) sh_headed[thread_id()] = 0;
    if (thread_id() == 0) {
        sh_longest = 0;
        sh_short_first = NO_ITEM;
        sh_short_end = 0;
        sh_long_first = 0;
        sh_long_count = 0;
    }
    uint s = first_segment_from(first_item, segments);
    while (s < segments) {
        barrier();
        if (thread_id() == 0) sh_ends = 0;
        barrier();
        uint segment = s + thread_id();
        uint first = segment < segments ? begin_of(segment) : end_item;
        bool begins = first >= first_item && first < end_item;
        uint end = begins ? begin_of(segment + 1) : 0;
        if (begins && end > first) {
            if (end - first <= TILE) {
                uint position = first - first_item;
                atomicOr(sh_heads[position / 32], 1u << position % 32);
                atomicOr(sh_headed[position / 1024], 1u << position / 32 % 32);
                atomicMax(sh_longest, end - first);
                atomicMin(sh_short_first, first);
                atomicMax(sh_short_end, end);
            } else {
                sh_long_first = first;
                sh_long_count = end - first;
            }
        }
        if (!begins) sh_ends = 1;
        if (thread_id() == THREADS - 1) sh_last = first;
        barrier();
        if (sh_ends != 0) break;
        // Of segments that all begin at one item, all but the last of such are empty.
        uint last = sh_last;
        bool skips = begin_of(s) == last;
        s += THREADS;
        if (skips) s = max(s, first_segment_from(last + 1, segments) - 1);
    }
    barrier();
}

// The last item up to this one that a short segment begins with.
uint last_head(uint item) {
    uint word = item / 32;
    uint bits = sh_heads[word] << (31 - item % 32);
    if (bits != 0) return item - (31 - findMSB(bits));
    uint i = word / 32;
    uint words = sh_headed[i] & (1u << word % 32) - 1;
    while (words == 0 && i > 0) words = sh_headed[--i];
    if (words == 0) return 0;
    word = i * 32 + findMSB(words);
    return word * 32 + findMSB(sh_heads[word]);
}

#ifdef MERGES
// How far into the window the first item at hand lies.
uint skipped = 0;

// The next item, or none, that a short segment begins with.
uint next_head(uint item) {
    uint word = item / 32;
    if (word >= HEAD_WORDS) return NO_ITEM;
    uint bits = sh_heads[word] >> item % 32;
    if (bits != 0) return item + findLSB(bits);
    uint i = word / 32;
    uint words = sh_headed[i] & ~((2u << word % 32) - 1);
    while (words == 0 && i + 1 < INDEX_WORDS) words = sh_headed[++i];
    if (words == 0) return NO_ITEM;
    word = i * 32 + findLSB(words);
    return word * 32 + findLSB(sh_heads[word]);
}

uint longest_segment() { return sh_longest; }

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
    // What lies behind the window belongs to the last.
    uint last = last_head(min(item, WINDOW) - 1);
    positions.first = max(begin, max(last, skipped) - skipped);
    positions.end = min(end, next - skipped);
    return positions;
}

// Sorts so many items from segment_first on, which lies so far into the window.
void sort_items(uint count, uint first_skipped) {
    skipped = first_skipped;
    // What has been sorted before has left shared memory.
    barrier();
    merge_part(whole_problem(0, count), input_to_output());
}
#else
// How many begin in the words before.
shared uint sh_heads_before[HEAD_WORDS];

void count_heads() {
    uint bits = 0;
    if (thread_id() < HEAD_WORDS) bits = bitCount(sh_heads[thread_id()]);
    uint all;
    uint before = scan_threads(bits, all);
    if (thread_id() < HEAD_WORDS) sh_heads_before[thread_id()] = before;
    barrier();
}

// Which of the short segments an item of theirs is in.
uint segment_of(uint skipped, uint position) {
    // What lies behind the window belongs to the last.
    uint item = min(skipped + position, WINDOW - 1);
    return sh_heads_before[item / 32] + bitCount(sh_heads[item / 32] << (31 - item % 32)) - 1;
}

// Sorts so many items from segment_first on, which lies so far into the window.
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

    // 1. Every digit, through shared memory. The pads sort behind the last key and stay there.
    uint word = NO_ITEM;
    [[dont_unroll]] for (uint d = 0; d < digit_count(BEGIN_BIT, END_BIT); ++d) {
        Digit digit = digit_at(d, BEGIN_BIT, END_BIT);
        if (digit.word != word) {
            word = digit.word;
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
                if (HOLDS(k) && carried[k] < count) keys[k] = load_encoded(0, word, carried[k]);
            }
        }
        order_by_digit(keys, digit, true, positions);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (HOLDS(k)) keys[k] = sh_keys[striped(k)];
        }
        carry(positions, carried);
    }

    // 2. Which segment they are in.
    uint first_segment = segment_of(skipped, 0);
    uint others = segment_of(skipped, count - 1) - first_segment;
    [[dont_unroll]] for (uint shift = 0; shift < 32 && others >> shift != 0; shift += BIN_BITS) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            keys[k] = HOLDS(k) && carried[k] < count ? segment_of(skipped, carried[k]) - first_segment : PAD;
        }
        order_by_digit(keys, Digit(0, shift, BIN_BITS), true, positions);
        carry(positions, carried);
    }

    // 3. Every word, from where it lies.
    for (uint w = DROPS_KEYS ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) permute_word(whole_problem(0, count), io, w, carried);
}
#endif

void clear_histogram() {
    Words histogram = histogram_of(0);
    for (uint i = thread_id(); i <= pass_digits() * RADIX; i += THREADS) histogram.v[i] = 0;
}

void tell_all(uint segments) {
    windows().v[args.problem_count] = told_cover();
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
    uint segments = told_segments();
    if (window == 0 && thread_id() == 0) tell_all(segments);

    // 1. What begins here.
    uint first_item = window * WINDOW;
    uint most = problem_max_count(0);
    find_segments(first_item, first_item + min(WINDOW, most - first_item), segments);
#ifndef MERGES
    count_heads();
#endif
    // Of offsets that fall, several long segments may have been told at once.
    uint long_count = min(sh_long_count, most - sh_long_first);
    if (long_count <= TILE) long_count = 0;
    if (thread_id() == 0) windows().v[window] = Segment(sh_long_first, long_count);

    // 2. The short ones: all together, or all but the last and then that one. Offsets that fall change nothing in that, since none is told
    // to end more than a tile behind where it begins.
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

    // 3. The longer one is sorted by tiles.
    if (long_count != 0) {
        segment_first = sh_long_first;
        clear_histogram();
    }
}
