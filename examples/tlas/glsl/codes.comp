// In:  boxes, and the ids of those that have changed. Out: the Morton code, the id and the mark of each of them. With
//      `changed` 0: codes and ids of all boxes, without marks.
// The grid is the unit cube in every frame, so that codes of boxes that have not changed remain valid.
// Memory order: the atomics are relaxed. The merge reads the marks after a barrier.
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
    if (i >= args.count) {
        return;
    }
    bool takes_all = args.changed == uvec2(0u);
    uint id = takes_all ? i : Words(args.changed).v[i];
    Box box = Boxes(args.boxes).v[id];
    store_code(i, encode_share((box.lo + box.hi) * 0.5));
    Words(args.ids).v[i] = id;
    if (!takes_all) {
        atomicOr(Words(args.marks).v[id / 32u], 1u << (id % 32u));
    }
}
