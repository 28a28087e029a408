// The push constants of every kernel. The host's twin is `Args` in record.rs. There are no descriptors.

// Keys are cells of a grid, three words each; values are numbers of corners.
#define TRM_HASH_KEY_WORDS 3
#define TRM_HASH_VALUE_WORDS 1
#include "lib/trommel_hash.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Points { vec3 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };

layout(push_constant, scalar) uniform Args {
    uvec2 corners;     // positions, three for each triangle
    uvec2 cells;       // keys
    uvec2 ids;         // 0, 1, 2 and so on
    uvec2 table;
    uvec2 first;       // for each corner: the first corner in the same cell
    uvec2 duplicates;  // for each corner: 1 if another corner is the first one
    uvec2 order;       // corners, first ones before duplicates
    uvec2 offsets;     // of first corners and duplicates in `order`
    uvec2 numbers;     // for each first corner: its number among them
    uvec2 vertices;
    uvec2 indices;
    uvec2 counters;
    vec3 lo;
    float scale;       // cells of a unit of length
    uint corner_count;
} args;

// Indices of `counters`.
const uint T_CORNERS = 0;
const uint DEGENERATE = 1;

// The cell of a position. `precise`: the host computes the same.
void find_cell(vec3 position, out uint cell[3]) {
    precise vec3 share = (position - args.lo) * args.scale + vec3(0.5);
    uvec3 whole = uvec3(floor(share));
    cell[0] = whole.x;
    cell[1] = whole.y;
    cell[2] = whole.z;
}

// Finds the first corner in a cell.
bool find_corner(uint cell[3], inout uint corner) {
    uint value[] = uint[](corner);
    bool found = trm_hash_find(trm_hash_table(args.table), cell, value);
    corner = value[0];
    return found;
}
