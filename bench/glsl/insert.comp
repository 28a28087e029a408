// Randomized insertion, step 2: inserts each item into a random slot of its bucket's area, and draws another slot if
// the slot is occupied. A compaction drops the empty slots afterwards.
//
// In:  keys and values; empty areas.
// Out: areas. An item is dropped if the area of its bucket is full.
// Paper: S. Ashkiani, A. Davidson, U. Meyer, J. Owens, "GPU Multisplit", PPoPP 2016 (randomized insertion, relaxed
// buckets). Memory order: relaxed. The compare-and-swap that writes a key claims its slot, so the value beside the key
// has one writer. The kernel reads neither again. Progress: none needed. An invocation tries DRAWS random slots, then
// each slot of the area once.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_memory_scope_semantics : require

#include "args.glsl"

// Half of an area is empty at the end, so a draw fails with a probability of at most 1/2. About one item in 2^32 fails
// all draws.
const uint DRAWS = 32u;

// A hash finalizer: each input bit flips each output bit with a probability of about 1/2. (C. Wellons, "Prospecting
// for hash functions", 2018.)
uint mix_bits(uint x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// Returns a nearly uniform number below the limit: the upper half of a product of a hash and the limit.
uint draw_below(uint limit, uint item, uint draw) {
    uint high, low;
    umulExtended(mix_bits(item * DRAWS + draw), limit, high, low);
    return high;
}

bool claim(uint slot, uint key) {
    return atomicCompSwap(Words(args.areas).v[slot], EMPTY, key, gl_ScopeDevice, gl_StorageSemanticsNone,
                          gl_SemanticsRelaxed, gl_StorageSemanticsNone, gl_SemanticsRelaxed) == EMPTY;
}

void insert(uint item, uint key) {
    uint first = (key >> args.shift) * args.area;
    uint slot = 0u;
    bool found = false;
    for (uint draw = 0u; draw < DRAWS && !found; ++draw) {
        slot = draw_below(args.area, item, draw);
        found = claim(first + slot, key);
    }
    for (uint probe = 0u; probe < args.area && !found; ++probe) {
        slot = slot + 1u < args.area ? slot + 1u : 0u;
        found = claim(first + slot, key);
    }
    if (PAIRS && found) Words(args.area_values).v[first + slot] = Words(args.values).v[item];
}

void main() {
    for (uint first = first_item(); first < args.count; first += next_tile()) {
        uint keys[RUN];
        // Indices past the end load the last item again. The second loop skips them.
        [[unroll]] for (uint k = 0u; k < RUN; ++k) {
            keys[k] = Words(args.keys).v[min(first + k * THREADS, args.count - 1u)];
        }
        [[unroll]] for (uint k = 0u; k < RUN; ++k) {
            uint i = first + k * THREADS;
            if (i < args.count) insert(i, keys[k]);
        }
    }
}
