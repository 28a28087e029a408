// Reduced-bit sort of pairs, step 3: unpacks keys and values to separate arrays.
//
// In:  pairs. Out: keys and values.
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
            items[k] = Pairs(args.pairs_out).v[min(first + k * THREADS, args.count - 1u)];
        }
        [[unroll]] for (uint k = 0u; k < RUN; ++k) {
            uint i = first + k * THREADS;
            if (i < args.count) {
                Words(args.keys_out).v[i] = items[k].x;
                Words(args.values_out).v[i] = items[k].y;
            }
        }
    }
}
