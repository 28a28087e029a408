// Inserts, finds and erases keys with trommel_hash_linear.glsl, an invocation for each item.
//
// In:  items, each an operation, a key and a value; a table. Out: for each item its result, and the value it has found.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_memory_scope_semantics : require

layout(constant_id = 0) const uint VALUE_WORDS = 1;
#define TRM_HASH_VALUE_WORDS VALUE_WORDS
#include "lib/trommel_hash_linear.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };

layout(push_constant, scalar) uniform Args {
    uvec2 table;
    uvec2 items;
    uvec2 results;
    uint count;
} args;

layout(local_size_x = 32) in;

// Operations.
const uint INSERT = 0;
const uint FIND = 1;

// Results of insertions.
const uint PRESENT = 0;
const uint INSERTED = 1;
const uint FULL = 2;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.count) {
        return;
    }
    Words items = Words(args.items);
    uint operation = items.v[3 * i];
    uint key = items.v[3 * i + 1];
    uint value = 0xffffffffu;
    uint result;
    TrmHashLinear table = trm_hash_linear(args.table);
    if (operation == INSERT) {
        uint inserted = trm_hash_linear_insert(table, key, items.v[3 * i + 2]);
        result = inserted == TRM_HASH_INSERTED ? INSERTED : inserted == TRM_HASH_PRESENT ? PRESENT : FULL;
        if (result == FULL && inserted != TRM_HASH_FULL) {
            result = 3;
        }
    } else if (operation == FIND) {
        result = trm_hash_linear_find(table, key, value) ? 1 : 0;
    } else {
        result = trm_hash_linear_erase(table, key) ? 1 : 0;
    }
    Words(args.results).v[2 * i] = result;
    Words(args.results).v[2 * i + 1] = value;
}
