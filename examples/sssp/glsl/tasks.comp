// In:  the tasks that `relax` left, graph, distances. Out: as of `relax`. Each workgroup takes one task after the
//      other.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require

#include "args.glsl"
#include "relaxing.glsl"

layout(local_size_x = 256) in;

void main() {
    State state = State(args.state);
    for (uint i = gl_WorkGroupID.x; i < state.tasks; i += gl_NumWorkGroups.x) {
        Task task = Tasks(args.tasks).v[i];
        for (uint edge = task.first + gl_LocalInvocationIndex; edge < task.end; edge += gl_WorkGroupSize.x) {
            relax_edge(state, task.distance, edge);
        }
    }
}
