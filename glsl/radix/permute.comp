// Sort of values of any size, the last steps: values follow the places that the passes have sorted.
//
// In:  values; the sorted places, a plane of words.
// Out: values in the order of the places, where they are wanted; or, where they come from there, in scratch, and from there by a
//      second dispatch.
// Groups: as many for each problem.
// Progress: none needed.
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
#define ALL_SEGMENTS all_segments
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

    uint words = value_step(p) / 4;
    // Behind both planes of places.
    uvec2 aside = part_of(behind(problem_alternate_values(p), 2, p), words * 4);
    // Places are counted from the first item of all.
    uvec2 source = from_scratch() ? aside : problem_values(p);
    uvec2 target = to_scratch() ? aside : part_of(problem_to_values(p), words * 4);
    Words positions = Words(middle_plane(p, KEY_WORDS, false, count));
    // Words of all values may be more than 2^32: an item and a word of it go on together.
    uint first = share.index * THREADS + thread_id();
    uint step = share.shares * THREADS;
    uint w = first % words;
    for (uint item = first / words; item < count; item += step / words) {
        // Where offsets fall, segments leave places unwritten.
        uint from = from_scratch() ? item : SEGMENTS ? min(positions.v[item], problem_max_count(p) - 1) : positions.v[item];
        uint word = Words(advance(source, bytes_of(from, words * 4))).v[w];
        Words(advance(target, bytes_of(item, words * 4))).v[w] = word;
        w += step % words;
        if (w >= words) {
            w -= words;
            item += 1;
        }
    }
}
