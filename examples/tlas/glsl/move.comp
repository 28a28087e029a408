// The application: moves `count` boxes by random steps. Their ids begin at `first`; box 0 follows the last box.
// In:  boxes. Out: the moved boxes, and their ids in `changed`.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"
#include "../../common/glsl/random.glsl"

layout(local_size_x = 128) in;

// Longest step along an axis.
const float REACH = 0.02;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.count) {
        return;
    }
    uint id = (args.first + i) % args.box_count;
    uint seed = hash(id + hash(args.frame));
    vec3 random = vec3(unit_float(hash(seed)), unit_float(hash(seed + 1u)), unit_float(hash(seed + 2u)));

    // The world is the unit cube. A center that leaves it enters at the opposite side.
    Box box = Boxes(args.boxes).v[id];
    vec3 half_extent = (box.hi - box.lo) * 0.5;
    vec3 center = fract((box.lo + box.hi) * 0.5 + REACH * (2.0 * random - 1.0));
    Boxes(args.boxes).v[id] = Box(center - half_extent, center + half_extent);
    Words(args.changed).v[i] = id;
}
