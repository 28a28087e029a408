// In:  the sorted codes. Out: the children of every internal node, the parent of every node, cleared arrival counters,
//      and cleared marks: the merge has read them, and the next frame sets others.
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
    uint i = gl_GlobalInvocationID.x;
    if (i < (args.box_count + 31u) / 32u) {
        Words(args.marks).v[i] = 0u;
    }
    link_node(i, args.box_count);
}
