// Out: all distances unknown but the source's, the source as the only item, and a state to go on from.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

layout(local_size_x = 256) in;

void main() {
    // 1. Distances.
    uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint vertex = gl_GlobalInvocationID.x; vertex < args.vertex_count; vertex += stride) {
        Words(args.distances).v[vertex] = vertex == args.source ? 0u : NONE;
    }

    // 2. The list as if it had been grouped: one item in the first bucket.
    if (gl_WorkGroupID.x == 0u) {
        for (uint bucket = gl_LocalInvocationIndex; bucket <= args.buckets; bucket += gl_WorkGroupSize.x) {
            Words(args.offsets).v[bucket] = min(bucket, 1u);
        }
    }
    if (gl_GlobalInvocationID.x == 0u) {
        Words(args.list).v[0] = 0u;
        Words(args.list).v[args.capacity] = args.source;
        State state = State(args.state);
        state.groups = uvec3(0u, 1u, 1u);
        state.count = 1u;
        state.near_count = 0u;
        state.base = 0u;
        state.nearest = 0u;
        state.overflows = 0u;
        state.steps = 0u;
        state.idle = 0u;
        state.rounds = 0u;
        state.longest = 0u;
        state.vertices = uvec2(0u);
        state.edges = uvec2(0u);
        state.items = uvec2(0u);
    }
}
