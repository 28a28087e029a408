// Computes the bucket of each item once and stores it as a label. The passes then split by labels. For bucket functions
// of many instructions, with inputs besides the key, or with more than 256 buckets.
//
// In:  keys or bucket ids; splitters.
// Out: labels of 8, 16 or 32 bits, packed into words. Items without a bucket have the label BUCKETS.
// Workgroups: the same number for each problem.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
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
#define ALL_SEGMENTS extent_of_segments
#include "radix/share.glsl"

PROBLEM_MEMBER(uvec2, inputs)
PROBLEM_MEMBER(uvec2, labels)
PROBLEM_MEMBER(uint, input_stride)
// The inputs of a bucket function are keys, or bucket ids in their place.
#define problem_keys problem_inputs
#define problem_key_stride problem_input_stride
#include "radix/input.glsl"

layout(constant_id = SPEC_BUCKETS) const uint BUCKETS = 256;
layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;

// Bits of a label. Labels of segments have 32: see radix/planes.glsl.
const uint LEAST_BINS = SEGMENTS ? 1u << 16 : 0;
const uint LABEL_BITS = BINS + LEAST_BINS > 1u << 16 ? 32 : BINS > 1u << 8 ? 16 : 8;
const uint LABELS_A_WORD = 32 / LABEL_BITS;
// Consecutive items that a thread labels at a time.
const uint BATCH = 4;

#include "split/functions.glsl"

// Returns the index of item `first` + `k`, or of the last item if there is no such item. Its label is then not used,
// but the bucket function sees no index past the last item.
uint item(uint first, uint k, uint count) { return min(first + k, count - 1); }

void main() {
#ifdef USER_FUNCTION
    if (!INTERFACE_MATCHES) return;
#endif
    Share share;
    if (!find_share(share)) return;
    uint p = share.problem;
    load_splitters(p);
    barrier();
    uint count = share.count;
    Words labels = Words(labels_of(p));
    uint step = share.shares * THREADS * BATCH;
    for (uint first = (share.index * THREADS + thread_id()) * BATCH; first < count; first += step) {
        uint keys[BATCH * KEY_WORDS];
        // All loads precede the function calls.
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint i = item(first, k, count);
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[k * KEY_WORDS + w] = load_key_word(p, w, i);
        }
        uint words[BATCH] = uint[BATCH](0, 0, 0, 0);
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint key[KEY_WORDS];
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = keys[k * KEY_WORDS + w];
            words[k / LABELS_A_WORD] |= bucket_of(p, segment_first + item(first, k, count), key)
                << k % LABELS_A_WORD * LABEL_BITS;
        }
        [[unroll]] for (uint k = 0; k < BATCH; k += LABELS_A_WORD) {
            if (first + k < count) labels.v[(first + k) / LABELS_A_WORD] = words[k / LABELS_A_WORD];
        }
        // The next batch would begin beyond 2^32.
        if (count - first <= step) break;
    }
}
