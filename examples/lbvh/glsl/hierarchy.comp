// In:  the sorted codes. Out: the children of every internal node, the parent of every node, and cleared arrival
//      counters. The tracer's stack relies on the depth that hierarchy.glsl states.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"
#include "../../common/glsl/codes.glsl"
#include "../../common/glsl/hierarchy.glsl"

layout(local_size_x = 128) in;

void main() {
    link_node(gl_GlobalInvocationID.x, args.triangle_count);
}
