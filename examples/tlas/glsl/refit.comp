// In:  the hierarchy, the sorted ids and the boxes. Out: the leaves, and the box of every node. One invocation per
//      leaf.
// Memory order and progress: see refit.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#include "args.glsl"
#include "../../common/glsl/refit.glsl"

layout(local_size_x = 128) in;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.box_count) {
        return;
    }
    uint id = Words(args.ids).v[i];
    Box box = Boxes(args.boxes).v[id];
    refit_from(args.box_count - 1u + i, id, box.lo, box.hi);
}
