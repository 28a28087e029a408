// Sort of keys narrower than a word, the last step: sorted keys from a word each to the bytes or halves that they are.
//
// In:  the sorted key plane, encoded.
// Out: keys. One invocation a word of them: the words at both ends belong to others as well, so only bits of keys are touched there.
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
#define PUSH PackPush
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

const uint KEY_BYTES = KEY_BITS / 8;

// The word that begins `skipped` keys before key `first`; keys before 0 and past the count are not there.
void pack_word(Words keys, Words target, uint index, uint skipped, uint count) {
    uint in_word = 4 / KEY_BYTES;
    uint word = 0;
    uint mask = 0;
    for (uint i = 0; i < in_word; ++i) {
        uint key = index * in_word + i;
        if (key < skipped || key - skipped >= count) continue;
        // Segments that overlap leave words unwritten, whose other bits belong to neighbours.
        word |= (decode_top(keys.v[key - skipped]) & KEY_MASK) << i * KEY_BITS;
        mask |= KEY_MASK << i * KEY_BITS;
    }
    if (mask == 0xffffffffu) {
        target.v[index] = word;
    } else if (mask != 0) {
        // Neighbours may be written at the same time, each its own bits.
        atomicAnd(target.v[index], ~mask, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
        atomicOr(target.v[index], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
}

void main() {
    Share share;
    if (!find_share(share)) return;
    uint p = share.problem;
    uint count = share.count;
    if (count == 0) return;
    uvec2 target = to_keys_of(p);
    uint skipped = (target.x & 3) / KEY_BYTES;
    Words keys = Words(middle_plane(p, 0, false, count));
    Words words = Words(uvec2(target.x & ~3u, target.y));
    uint end = (skipped + count - 1) / (4 / KEY_BYTES) + 1;
    for (uint i = share.index * THREADS + thread_id(); i < end; i += share.shares * THREADS) pack_word(keys, words, i, skipped, count);
}
