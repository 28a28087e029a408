// Reads the values of keys with trommel_hash_multimap.glsl, an invocation for each key.
//
// In:  keys; a table. Out: for each key the number of its values, their sum, and their exclusive or.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "lib/trommel_hash_multimap.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };

layout(push_constant, scalar) uniform Args {
    uvec2 table;
    uvec2 keys;
    uvec2 results;
    uint count;
} args;

layout(local_size_x = 32) in;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.count) {
        return;
    }
    TrmHashMultimap table = trm_hash_multimap(args.table);
    TrmHashValues values = trm_hash_values(table, Words(args.keys).v[i]);
    uint count = 0;
    uint sum = 0;
    uint all = 0;
    uint value;
    while (trm_hash_next_value(values, value)) {
        ++count;
        sum += value;
        all ^= value;
    }
    Words(args.results).v[3 * i] = count;
    Words(args.results).v[3 * i + 1] = sum;
    Words(args.results).v[3 * i + 2] = all;
}
