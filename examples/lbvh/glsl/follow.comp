// In:  the tree, points, triangles, rays, and the order in which invocations take them, where one is given. Out: what
//      each ray meets first, at the ray's own place, so that whatever the order is, the bytes are the same.
// One invocation a ray.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "rays.glsl"
#include "traverse.glsl"

layout(local_size_x = RAYS_A_GROUP) in;

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint i = group * RAYS_A_GROUP + gl_LocalInvocationIndex;
    if (i >= List(args.list).count) {
        return;
    }
    uint which = args.order == uvec2(0u) ? i : Words(args.order).v[i];
    Ray ray = Rays(args.rays).v[which];
    uint uncounted = 0u;
    Hit hit = trace(ray.origin, ray.direction, ray.reach, false, uncounted);
    FoundByRay(args.found).v[which] = Found(hit.t, hit.triangle);
}
