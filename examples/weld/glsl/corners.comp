// In:  cells, the table. Out: the first corner in the cell of each corner, and whether that is another one.
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
    if (i >= args.corner_count) {
        return;
    }
    uint cell[3];
    for (uint w = 0; w < 3; ++w) {
        cell[w] = Words(args.cells).v[3 * i + w];
    }
    uint first = i;
    find_corner(cell, first);
    Words(args.first).v[i] = first;
    Words(args.duplicates).v[i] = first == i ? 0u : 1u;
}
