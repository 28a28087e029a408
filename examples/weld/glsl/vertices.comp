// In:  the first corners, in order. Out: their numbers, and the vertices.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

layout(local_size_x = 128) in;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= Words(args.offsets).v[1]) {
        return;
    }
    uint corner = Words(args.order).v[i];
    Words(args.numbers).v[corner] = i;
    Points(args.vertices).v[i] = Points(args.corners).v[corner];
}
