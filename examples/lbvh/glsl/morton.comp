// In:  triangles, points and the bounds of the centroids. Out: one Morton code a triangle, and the identity in ids, the
//      payload of the sort.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"
#include "../../common/glsl/codes.glsl"

layout(local_size_x = 128) in;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.triangle_count) {
        return;
    }

    // The grid has 2^AXIS_BITS cells along each axis. An axis without extent has one cell, also where all centroids are
    // one point.
    Words bounds = Words(args.bounds);
    vec3 lo = vec3(unordered(bounds.v[0]), unordered(bounds.v[1]), unordered(bounds.v[2]));
    vec3 hi = vec3(unordered(~bounds.v[3]), unordered(~bounds.v[4]), unordered(~bounds.v[5]));
    vec3 extent = hi - lo;
    vec3 flat_axis = vec3(lessThanEqual(extent, vec3(0.0)));

    store_code(i, encode_share((centre_of(i) - lo) / (extent + flat_axis)));
    Words(args.ids).v[i] = i;
}
