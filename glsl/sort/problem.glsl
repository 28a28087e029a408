// Which problem, and which of its tiles, a workgroup works on.
//
// A recorded sort is one problem, held by the push constants, or a table of problems in scratch. The tiles of all problems form
// one line: problem p owns the tiles [states[p].first_tile, states[p + 1].first_tile). The line is written by prepare.comp.

layout(push_constant, scalar) uniform Push {
    SortPush args;
};

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer SortProblems {
    SortProblem v[];
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer SortStates {
    SortState v[];
};

struct Tile {
    uint problem;
    uint index;  // within the problem
    uint count;  // keys in the problem
    uint tiles;  // tiles in the problem
};

uint tiles_of(uint count, uint tile_size) { return (count + tile_size - 1) / tile_size; }

// A problem's members, each read where it is used: a whole problem would stay in registers.
#define PROBLEM_MEMBER(type, member)                            \
    type problem_##member(uint p) {                             \
        if (args.problem_count == 1) return args.problem.member; \
        return SortProblems(args.problems).v[p].member;         \
    }

PROBLEM_MEMBER(uvec2, keys)
PROBLEM_MEMBER(uvec2, alternate_keys)
PROBLEM_MEMBER(uvec2, values)
PROBLEM_MEMBER(uvec2, alternate_values)
PROBLEM_MEMBER(uvec2, histogram)
PROBLEM_MEMBER(uvec2, tile_words)
PROBLEM_MEMBER(uvec2, count)
PROBLEM_MEMBER(uvec2, status)
PROBLEM_MEMBER(uint, max_count)

// The last problem whose first tile is not beyond `tile`; empty problems own no tile and are passed over.
uint find_problem(uint tile) {
    SortStates states = SortStates(args.states);
    uint low = 0;
    uint high = args.problem_count - 1;
    while (low < high) {
        uint middle = (low + high + 1) / 2;
        if (states.v[middle].first_tile <= tile) low = middle;
        else high = middle - 1;
    }
    return low;
}

// False when the line is shorter than `tile`: the dispatch was rounded up.
bool find_tile(uint tile, uint tile_size, out Tile found) {
    if (args.problem_count == 1) {
        found.problem = 0;
        found.index = tile;
        found.count = is_null(args.problem.count) ? args.problem.max_count : SortStates(args.states).v[0].count;
        found.tiles = tiles_of(found.count, tile_size);
        return tile < found.tiles;
    }
    SortStates states = SortStates(args.states);
    if (tile >= states.v[args.problem_count].first_tile) return false;
    uint p = find_problem(tile);
    found.problem = p;
    found.index = tile - states.v[p].first_tile;
    found.count = states.v[p].count;
    found.tiles = tiles_of(found.count, tile_size);
    return true;
}

// Even passes read the caller's arrays and write the alternate ones, odd passes go back.
bool goes_back() { return (args.pass_index & 1) != 0; }
uvec2 source_keys(uint p) { if (goes_back()) return problem_alternate_keys(p); return problem_keys(p); }
uvec2 target_keys(uint p) { if (goes_back()) return problem_keys(p); return problem_alternate_keys(p); }
uvec2 source_values(uint p) { if (goes_back()) return problem_alternate_values(p); return problem_values(p); }
uvec2 target_values(uint p) { if (goes_back()) return problem_values(p); return problem_alternate_values(p); }
