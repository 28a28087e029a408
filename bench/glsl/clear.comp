// Randomized insertion, step 1: marks all slots as empty.
//
// Out: areas.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

void main() {
    for (uint first = first_item(); first < args.slots; first += next_tile()) {
        [[unroll]] for (uint k = 0u; k < RUN; ++k) {
            uint i = first + k * THREADS;
            if (i < args.slots) Words(args.areas).v[i] = EMPTY;
        }
    }
}
