// In:  triangles, points and the bounds of the centroids. Out: one Morton code a triangle, and the identity in ids, the
//      payload of the sort.
// Paper: G. M. Morton, "A computer oriented geodetic data base and a new technique in file sequencing", IBM 1966.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"
#include "codes.glsl"

layout(local_size_x = 128) in;

// Moves bit i of the low ten bits to bit 3i: each step halves the runs and opens a gap of twice their length.
uint spread(uint x) {
    x = (x | (x << 16)) & 0x030000ffu;
    x = (x | (x << 8)) & 0x0300f00fu;
    x = (x | (x << 4)) & 0x030c30c3u;
    x = (x | (x << 2)) & 0x09249249u;
    return x;
}

// The Morton code of the low ten bits of each axis.
uint interleave(uvec3 cell) {
    cell &= 1023u;
    return (spread(cell.x) << 2) | (spread(cell.y) << 1) | spread(cell.z);
}

// Thirty bits come of each ten bits an axis, and three of the highest.
uvec2 encode(uvec3 cell) {
    uint low = interleave(cell);
    if (!TWO_WORDS) {
        return uvec2(low, 0u);
    }
    uint middle = interleave(cell >> 10);
    uint high = interleave(cell >> 20);
    return uvec2(low | (middle << 30), (middle >> 2) | (high << 28));
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.triangle_count) {
        return;
    }

    // 1. The grid: 2^AXIS_BITS cells along each axis. An axis without extent has one cell, also where all centroids are
    //    one point.
    Words bounds = Words(args.bounds);
    vec3 lo = vec3(unordered(bounds.v[0]), unordered(bounds.v[1]), unordered(bounds.v[2]));
    vec3 hi = vec3(unordered(~bounds.v[3]), unordered(~bounds.v[4]), unordered(~bounds.v[5]));
    vec3 extent = hi - lo;
    vec3 flat_axis = vec3(lessThanEqual(extent, vec3(0.0)));

    // 2. The cell of the centroid. The last cell takes its upper border.
    vec3 share = (centre_of(i) - lo) / (extent + flat_axis);
    float cells = float(1u << AXIS_BITS);
    uvec3 cell = uvec3(clamp(share * cells, vec3(0.0), vec3(cells - 1.0)));

    store_code(i, encode(cell));
    Words(args.ids).v[i] = i;
}
