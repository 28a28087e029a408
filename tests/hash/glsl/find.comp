// Looks keys up with trommel_hash.glsl, one invocation each.
//
// In:  keys; a table. Out: for each key, whether the table has it, and its value.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_scalar_block_layout : require

layout(constant_id = 0) const uint KEY_WORDS = 1;
layout(constant_id = 1) const uint VALUE_WORDS = 1;
#define TRM_HASH_KEY_WORDS KEY_WORDS
#define TRM_HASH_VALUE_WORDS VALUE_WORDS
#include "lib/trommel_hash.glsl"

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
    uint key[KEY_WORDS];
    uint value[TRM_HASH_RESULT_WORDS];
    for (uint w = 0; w < KEY_WORDS; ++w) {
        key[w] = Words(args.keys).v[i * KEY_WORDS + w];
    }
    for (uint w = 0; w < TRM_HASH_RESULT_WORDS; ++w) {
        value[w] = 0xffffffffu;
    }
    TrmHashTable table = trm_hash_table(args.table);
    uint first = i * (2 + VALUE_WORDS);
    Words(args.results).v[first] = table.count;
    Words(args.results).v[first + 1] = trm_hash_find(table, key, value) ? 1 : 0;
    for (uint w = 0; w < VALUE_WORDS; ++w) {
        Words(args.results).v[first + 2 + w] = value[w];
    }
}
