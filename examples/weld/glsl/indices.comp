// In:  the first corner of each corner, and its number. Out: the indices; numbers of degenerate triangles and of
//      T-corners. At a T-corner, a vertex lies in the middle of a side: rendered, the mesh has a gap there.
// Memory order: counters are atomic.
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
    uint triangle = i - i % 3;
    uint next = triangle + (i + 1) % 3;
    uint last = triangle + (i + 2) % 3;
    uint first = Words(args.first).v[i];
    uint first_of_next = Words(args.first).v[next];
    Words(args.indices).v[i] = Words(args.numbers).v[first];

    uint first_of_last = Words(args.first).v[last];
    bool degenerate = first == first_of_next || first == first_of_last || first_of_next == first_of_last;
    if (i == triangle && degenerate) {
        atomicAdd(Words(args.counters).v[DEGENERATE], 1u);
    }

    precise vec3 middle = (Points(args.corners).v[i] + Points(args.corners).v[next]) * 0.5;
    uint cell[3];
    find_cell(middle, cell);
    uint corner = first;
    if (find_corner(cell, corner) && corner != first && corner != first_of_next) {
        atomicAdd(Words(args.counters).v[T_CORNERS], 1u);
    }
}
