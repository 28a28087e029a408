// Counts items that are not where a stable sort puts them.

#version 460
#extension GL_GOOGLE_include_directive : require
#include "items.glsl"

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.count) {
        return;
    }
    uint key = Words(args.keys).v[i];
    uint value = Words(args.values).v[i];
    bool fault = key != key_of(value);
    if (i > 0) {
        uint key_before = Words(args.keys).v[i - 1];
        uint value_before = Words(args.values).v[i - 1];
        fault = fault || key_before > key || (key_before == key && value_before >= value);
    }
    if (fault) {
        atomicAdd(Words(args.faults).v[0], 1);
    }
}
