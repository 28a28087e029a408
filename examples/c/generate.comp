// Unsorted items.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "items.glsl"

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i < args.count) {
        Words(args.keys).v[i] = key_of(i);
        Words(args.values).v[i] = i;
    }
}
