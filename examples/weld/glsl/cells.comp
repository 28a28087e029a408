// In:  corners. Out: the cell and the number of each corner, its key and its value in the table; counters of zero.
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
    if (i == 0) {
        Words(args.counters).v[T_CORNERS] = 0;
        Words(args.counters).v[DEGENERATE] = 0;
    }
    uint cell[3];
    find_cell(Points(args.corners).v[i], cell);
    for (uint w = 0; w < 3; ++w) {
        Words(args.cells).v[3 * i + w] = cell[w];
    }
    Words(args.ids).v[i] = i;
}
