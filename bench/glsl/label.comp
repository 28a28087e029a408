// Reduced-bit sort, step 1: writes the bucket id of each item, which is the key of the following sort. Packs keys with
// their values, so that both move as one.
//
// In:  keys and values. Out: ids of buckets, pairs.
// Paper: S. Ashkiani, A. Davidson, U. Meyer, J. Owens, "GPU Multisplit", PPoPP 2016.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

void main() {
    for (uint first = first_item(); first < args.count; first += next_tile()) {
        uvec2 items[RUN];
        // Indices past the end load the last item again. The second loop skips them.
        [[unroll]] for (uint k = 0u; k < RUN; ++k) {
            uint i = min(first + k * THREADS, args.count - 1u);
            items[k].x = Words(args.keys).v[i];
            if (PAIRS) items[k].y = Words(args.values).v[i];
        }
        [[unroll]] for (uint k = 0u; k < RUN; ++k) {
            uint i = first + k * THREADS;
            if (i < args.count) {
                Words(args.ids).v[i] = items[k].x >> args.shift;
                if (PAIRS) Pairs(args.pairs).v[i] = items[k];
            }
        }
    }
}
