// Gathers values of more than 16 bytes: the last step of their sort. The passes have sorted the source index of each
// item in place of its value.
//
// In:  values; the sorted source indices, a plane of words.
// Out: values in sorted order. In place, this takes two dispatches: the first gathers to scratch, the second copies
//      from scratch to the output.
// Workgroups: the same number for each problem.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH PermutePush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/pass.glsl"
#include "radix/tile_map.glsl"
#include "radix/windows.glsl"
#define ALL_SEGMENTS stored_extent_of_segments
#include "radix/share.glsl"
#include "radix/pass_io.glsl"
#include "radix/planes.glsl"

bool to_scratch() { return args.step == PERMUTE_TO_SCRATCH; }
bool from_scratch() { return args.step == PERMUTE_FROM_SCRATCH; }

void main() {
    Share share;
    if (!find_share(share)) return;
    uint p = share.problem;
    uint count = share.count;

    // 1. Find source and target.
    uint words = value_step(p) / 4;
    // Scratch after both planes of source indices.
    uvec2 staging = segment_address(address_after_planes(problem_alternate_values(p), 2, p), words * 4);
    // Source indices count from the first item of the array, also with segments.
    uvec2 source = from_scratch() ? staging : problem_values(p);
    uvec2 target = to_scratch() ? staging : segment_address(problem_to_values(p), words * 4);
    Words source_indices = Words(intermediate_plane(p, KEY_WORDS, false, count));

    // 2. Move one word at a time. All values may have more than 2^32 words, so the loop counts items and words of an
    // item separately.
    uint first = share.index * THREADS + thread_id();
    uint step = share.shares * THREADS;
    uint w = first % words;
    for (uint item = first / words; item < count; item += step / words) {
        // Overlapping segments (descending offsets) leave source indices unwritten: hence the clamp.
        uint from = from_scratch() ? item
            : SEGMENTS ? min(source_indices.v[item], problem_max_count(p) - 1)
            : source_indices.v[item];
        uint word = Words(advance(source, bytes_of(from, words * 4))).v[w];
        Words(advance(target, bytes_of(item, words * 4))).v[w] = word;
        w += step % words;
        if (w >= words) {
            w -= words;
            item += 1;
        }
    }
}
