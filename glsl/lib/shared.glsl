// Generated from src/shared.rs by `cargo xtask shaders`. Do not edit.

#define SPEC_THREADS 0
#define SPEC_LANES 1
#define SPEC_ITEMS 2
#define SPEC_HISTOGRAMS 3
#define SPEC_VALUE_WORDS 4
#define SPEC_TILE 5
#define SPEC_SPIN_LIMIT 6
#define SPEC_DELAY_EVERY 7

const uint RADIX_BITS = 8;
const uint RADIX = 256;
const uint PASSES = 4;
const uint STATUS_COUNT_CLAMPED = 1;
const uint ARGUMENTS_TILES = 0;
const uint ARGUMENTS_CHUNKS = 1;

struct SortProblem {
    uvec2 keys;
    uvec2 alternate_keys;
    uvec2 values;
    uvec2 alternate_values;
    uvec2 histogram;
    uvec2 tile_words;
    uvec2 count;
    uvec2 status;
    uint max_count;
};

struct SortState {
    uint count;
    uint first_tile;
};

struct SortPush {
    SortProblem problem;
    uvec2 problems;
    uvec2 states;
    uvec2 arguments;
    uvec2 tickets;
    uint problem_count;
    uint shift;
    uint pass_index;
    uint chunk;
    uint max_groups_x;
};
