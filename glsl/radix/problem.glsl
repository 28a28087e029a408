// The problem of a workgroup: a row in the push constants (SINGLE), or one row of a table in scratch.
//
// The includer defines PUSH, its struct of push constants. Kernels of several problems also define ROW, the struct of a
// row of their table. Includes below this one read members of both; a kernel includes those whose members its structs
// have. src/shared.rs explains the members.
//
// With SEGMENTS, the push constants hold the problem that contains all segments. Segments that exceed a workgroup are
// the problems of the tile map. Their scratch follows from their first item: segment_first, set by find_tile or by the
// kernel.

// MODE_ bits: known when the pipeline is created.
layout(constant_id = SPEC_MODE) const uint MODE = 0;
const bool SINGLE = (MODE & MODE_SINGLE) != 0;
const bool DIRECT = (MODE & MODE_DIRECT) != 0;
const bool SEGMENTS = (MODE & MODE_SEGMENTS) != 0;
const bool PREFIXES = (MODE & MODE_PREFIXES) != 0;
const bool MERGED = (MODE & MODE_MERGED) != 0;
// Items that one workgroup sorts: at most one longer segment begins in as many items.
layout(constant_id = SPEC_SEGMENT_TILE) const uint SEGMENT_TILE = 2048;

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

// A member of a problem, loaded at its use: a whole row would occupy registers.
#ifdef ROW
#include "radix/scratch.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Rows {
    ROW v[];
};

#define PROBLEM_PART(type, name, path)                        \
    type problem_##name(uint p) {                             \
        if (SINGLE || SEGMENTS) return args.problem.path;     \
        return Rows(scratch_part(args.problems)).v[p].path;   \
    }
#else
#define PROBLEM_PART(type, name, path) \
    type problem_##name(uint p) { return args.problem.path; }
#endif
#define PROBLEM_MEMBER(type, member) PROBLEM_PART(type, member, member)

PROBLEM_MEMBER(uint, max_count)

// The current segment: its first item, and the number of tiles of preceding segments.
uint segment_first = 0;
uint segment_first_tile = 0;

struct Tile {
    uint problem;
    uint index;  // within the problem
    uint count;  // keys in the problem
    uint tiles;  // tiles in the problem
};

// Not (count + tile_size - 1) / tile_size: that wraps for counts close to 2^32.
uint tiles_of(uint count, uint tile_size) { return count / tile_size + (count % tile_size != 0 ? 1 : 0); }
