// In:  triangles and points. Out: bounds, the box of all centroids, as six ordered words: the first three are the
//      smallest coordinates, the last three the complement of the largest, so that one fill with ones clears all six
//      and one operation, atomicMin, serves them all.
// Memory order: the atomics are relaxed; the next dispatch reads the result behind a barrier.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

layout(local_size_x = 128) in;

shared uint sh_bounds[6];

void main() {
    // 1. Clear the workgroup's box.
    if (gl_LocalInvocationIndex < 6u) {
        sh_bounds[gl_LocalInvocationIndex] = NONE;
    }
    barrier();

    // 2. Every invocation gathers a stride of triangles in registers.
    uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uvec3 lo = uvec3(NONE);
    uvec3 hi = uvec3(NONE);
    for (uint i = gl_GlobalInvocationID.x; i < args.triangle_count; i += stride) {
        vec3 c = centre_of(i);
        uvec3 word = uvec3(ordered(c.x), ordered(c.y), ordered(c.z));
        lo = min(lo, word);
        hi = min(hi, ~word);
    }

    // 3. One box a workgroup, then one for all.
    for (uint axis = 0u; axis < 3u; axis++) {
        atomicMin(sh_bounds[axis], lo[axis]);
        atomicMin(sh_bounds[3u + axis], hi[axis]);
    }
    barrier();
    if (gl_LocalInvocationIndex < 6u) {
        uint i = gl_LocalInvocationIndex;
        atomicMin(Words(args.bounds).v[i], sh_bounds[i]);
    }
}
