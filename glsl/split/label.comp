// Label: computes the bucket of each item once. For bucket functions of many instructions, with inputs besides the key,
//        or with more than 256 buckets.
//
// In:  keys or bucket ids; splitters.
// Out: labels, packed into words. The last bin is for items without a bucket.
// Workgroups: the same number for each problem.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#ifdef USER_FUNCTION
#include "split/user.glsl"
#endif
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH LabelPush
#define ROW LabelProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/tile_map.glsl"
#include "radix/segment_offsets.glsl"
#define ALL_SEGMENTS told_cover
#include "radix/share.glsl"

PROBLEM_MEMBER(uvec2, keys)
PROBLEM_MEMBER(uvec2, labels)
PROBLEM_MEMBER(uint, key_stride)
#include "radix/input.glsl"

layout(constant_id = SPEC_BUCKETS) const uint BUCKETS = 256;
layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;

// Segments use whole words: see radix/planes.glsl.
const uint WORDS_OF_SEGMENTS = SEGMENTS ? 1u << 16 : 0;
const uint LABEL_BITS = BINS + WORDS_OF_SEGMENTS > 1u << 16 ? 32 : BINS > 1u << 8 ? 16 : 8;
const uint LABELS_A_WORD = 32 / LABEL_BITS;
// Consecutive items that a thread processes at a time.
const uint RUN = 4;

#include "split/functions.glsl"

uint item(uint first, uint k, uint count) { return min(first + k, count - 1); }

void main() {
#ifdef USER_FUNCTION
    if (!IS_OF_THIS_INTERFACE) return;
#endif
    Share share;
    if (!find_share(share)) return;
    uint p = share.problem;
    begin_function(p);
    barrier();
    uint count = share.count;
    Words labels = Words(labels_of(p));
    uint step = share.shares * THREADS * RUN;
    for (uint first = (share.index * THREADS + thread_id()) * RUN; first < count; first += step) {
        uint keys[RUN * KEY_WORDS];
        // Past the last item, the last item is repeated: its label is not used, and the function sees no other item.
        [[unroll]] for (uint k = 0; k < RUN; ++k) {
            uint i = item(first, k, count);
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[k * KEY_WORDS + w] = load_key_word(p, w, i);
        }
        uint words[RUN] = uint[RUN](0, 0, 0, 0);
        [[unroll]] for (uint k = 0; k < RUN; ++k) {
            uint key[KEY_WORDS];
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = keys[k * KEY_WORDS + w];
            words[k / LABELS_A_WORD] |= bucket_of(p, segment_first + item(first, k, count), key) << k % LABELS_A_WORD * LABEL_BITS;
        }
        [[unroll]] for (uint k = 0; k < RUN; k += LABELS_A_WORD) {
            if (first + k < count) labels.v[(first + k) / LABELS_A_WORD] = words[k / LABELS_A_WORD];
        }
        // The next one would begin beyond 2^32.
        if (count - first <= step) break;
    }
}
