// Packs keys narrower than a word: the last pass of their sort. Decodes sorted keys of one word each and stores them as
// 8-bit or 16-bit keys.
//
// In:  sorted keys, encoded, in a plane.
// Out: keys. Each invocation writes words of the output, one after the other. The first and the last word may contain
//      other data: of these words, only the bits of keys are written.
// Workgroups: the same number for each problem.
// Memory order: the plane comes from earlier dispatches. Workgroups that share a word of the output change different
//               bits by atomics, so relaxed order suffices.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH PackPush
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

const uint KEY_BYTES = KEY_BITS / 8;

// Packs one word of the output. Counted from the start of word 0, the keys of the problem begin at key `skipped`.
void pack_word(Words keys, Words target, uint index, uint skipped, uint count) {
    uint keys_per_word = 4 / KEY_BYTES;
    uint word = 0;
    uint mask = 0;
    for (uint i = 0; i < keys_per_word; ++i) {
        uint key = index * keys_per_word + i;
        if (key < skipped || key - skipped >= count) continue;
        // Overlapping segments leave keys of the plane unwritten: without the mask, these would change other keys.
        word |= (decode_top(keys.v[key - skipped]) & KEY_MASK) << i * KEY_BITS;
        mask |= KEY_MASK << i * KEY_BITS;
    }
    if (mask == 0xffffffffu) {
        target.v[index] = word;
    } else if (mask != 0) {
        // Other workgroups may write the other bits of the word at the same time.
        atomicAnd(target.v[index], ~mask, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
        atomicOr(target.v[index], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
}

void main() {
    // 1. Find this workgroup's share of the problem, and the words of the output that contain keys.
    Share share;
    if (!find_share(share)) return;
    uint p = share.problem;
    uint count = share.count;
    if (count == 0) return;
    uvec2 target = to_keys_of(p);
    uint skipped = (target.x & 3) / KEY_BYTES;
    Words keys = Words(intermediate_plane(p, 0, false, count));
    Words words = Words(uvec2(target.x & ~3u, target.y));
    uint end = (skipped + count - 1) / (4 / KEY_BYTES) + 1;

    // 2. Pack these words.
    for (uint i = share.index * THREADS + thread_id(); i < end; i += share.shares * THREADS) {
        pack_word(keys, words, i, skipped, count);
    }
}
