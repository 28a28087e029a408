// In:  triangles, points and the bounds of the centroids. Out: one 30-bit Morton code a triangle, ten bits an axis, x in the
//      highest bit of each group of three; and the identity in ids, the payload of the sort.
// Paper: G. M. Morton, "A computer oriented geodetic data base and a new technique in file sequencing", IBM 1966.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

layout(local_size_x = 128) in;

// Moves bit i of the low ten bits to bit 3i: each step halves the runs and opens a gap of twice their length.
uint spread(uint x) {
    x = (x | (x << 16)) & 0x030000ffu;
    x = (x | (x << 8)) & 0x0300f00fu;
    x = (x | (x << 4)) & 0x030c30c3u;
    x = (x | (x << 2)) & 0x09249249u;
    return x;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.triangle_count) {
        return;
    }

    // 1. The grid: 1024 cells along each axis. An axis without extent has one cell, also where all centroids are one point.
    Words bounds = Words(args.bounds);
    vec3 lo = vec3(unordered(bounds.v[0]), unordered(bounds.v[1]), unordered(bounds.v[2]));
    vec3 hi = vec3(unordered(~bounds.v[3]), unordered(~bounds.v[4]), unordered(~bounds.v[5]));
    vec3 extent = hi - lo;
    vec3 flat_axis = vec3(lessThanEqual(extent, vec3(0.0)));

    // 2. The cell of the centroid. The last cell takes its upper border.
    vec3 share = (centre_of(i) - lo) / (extent + flat_axis);
    uvec3 cell = uvec3(clamp(share * 1024.0, vec3(0.0), vec3(1023.0)));

    Words(args.codes).v[i] = (spread(cell.x) << 2) | (spread(cell.y) << 1) | spread(cell.z);
    Words(args.ids).v[i] = i;
}
