// Maps a workgroup to its problem and tile.
//
// A recording is one problem in the push constants (SINGLE), or a table of problems in scratch. The tiles of all
// problems have global indices: problem p owns the tiles [states[p].first_tile, states[p + 1].first_tile). prepare.comp
// writes these. A single problem may do without (DIRECT): each kernel then resolves the count itself.
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

bool has_flag(uint flag) { return (args.flags & flag) != 0; }
uint pass_index() { return args.pass & 0xff; }
uint pass_digits() { return args.pass >> 8 & 0xff; }
uint all_digits() { return (1u << pass_digits()) - 1; }

// Not (count + tile_size - 1) / tile_size: that wraps for counts close to 2^32.
uint tiles_of(uint count, uint tile_size) { return count / tile_size + (count % tile_size != 0 ? 1 : 0); }

// Offsets of parts of scratch are in units of 256 bytes.
uvec2 scratch_part(uint part) { return advance(args.scratch, uvec2(part << 8, part >> 24)); }

SortStates states() { return SortStates(scratch_part(args.states)); }
Words tickets() { return Words(scratch_part(args.tickets)); }
uint ticket_words() { return pass_digits() * (2 + RING_GROUPS); }

// Members of a problem, each loaded at its use: a whole problem would occupy registers.
#define PROBLEM_MEMBER(type, member)                                  \
    type problem_##member(uint p) {                                   \
        if (SINGLE || SEGMENTS) return args.problem.member;           \
        return SortProblems(scratch_part(args.problems)).v[p].member; \
    }

PROBLEM_MEMBER(uvec2, keys)
PROBLEM_MEMBER(uvec2, values)
PROBLEM_MEMBER(uvec2, to_keys)
PROBLEM_MEMBER(uvec2, to_values)
PROBLEM_MEMBER(uvec2, alternate_keys)
PROBLEM_MEMBER(uvec2, alternate_values)
PROBLEM_MEMBER(uvec2, count)
PROBLEM_MEMBER(uvec2, status)
PROBLEM_MEMBER(uint, max_count)
PROBLEM_MEMBER(uint, strides)
PROBLEM_MEMBER(uint, histogram)
PROBLEM_MEMBER(uint, tile_words)

// The current segment: its first item, and the number of tiles of preceding segments.
uint segment_first = 0;
uint segment_first_tile = 0;

// Rows of the histogram. Without a prepare pass, each workgroup of the histogram writes its own row; those without keys
// write zeros.
uint histogram_rows() { return DIRECT ? args.pass >> 16 & 0xff : 1; }

// Parts of a row of counts. One more word follows the rows.
const uint PARTS_A_DIGIT = RADIX * 4 / 256;

uint histogram_part(uint p) {
    uint part = problem_histogram(p);
    if (SEGMENTS) part += segment_first / SEGMENT_TILE * (pass_digits() * PARTS_A_DIGIT + 1);
    return part;
}

Words histogram_of(uint p) { return Words(scratch_part(histogram_part(p))); }

// The skipped digits follow the rows; the counts of prefix bins follow those.
Words skipped_digits_words(uint p) {
    return Words(advance(scratch_part(histogram_part(p)), uvec2(histogram_rows() * pass_digits() * BINS * 4, 0)));
}

// Not for the ring, which all problems share.
uint tile_words_part(uint p) {
    uint part = problem_tile_words(p);
    if (SEGMENTS) part += segment_first_tile * PARTS_A_DIGIT;
    return part;
}

Words tile_words_of(uint p) { return Words(scratch_part(tile_words_part(p))); }

void enter_segment(uint p) {
    if (!SEGMENTS) return;
    segment_first = states().v[p].first;
    segment_first_tile = states().v[p].first_tile;
}

// Loads the parameters of the bucket function.
void enter_function(uint p) {
    if (FUNCTION == FUNCTION_RANGE) bin_range = uvec4(problem_alternate_keys(p), problem_alternate_values(p));
}

// Number of problems in the tile map.
uint problems() { return SEGMENTS ? states().v[args.problem_count].count : args.problem_count; }

// The requested count, clamped to its maximum, before any state is written.
uint requested_count(uint p) {
    uvec2 address = problem_count(p);
    uint most = problem_max_count(p);
    if (is_null(address)) return most;
    return min(Words(address).v[0], most);
}

uint resolved_count(uint p) {
    if (SEGMENTS || !DIRECT && !is_null(problem_count(p))) return states().v[p].count;
    return requested_count(p);
}

// Writes the status of a problem. One invocation for each problem. `more`: further flags.
void write_status(uint p, uint more) {
    uvec2 status = problem_status(p);
    if (is_null(status)) return;
    uvec2 count = problem_count(p);
    bool clamped = !is_null(count) && Words(count).v[0] > problem_max_count(p);
    Words(status).v[0] = (clamped ? STATUS_COUNT_CLAMPED : 0) | more;
}

void write_status(uint p) { write_status(p, 0); }

// Finds the last problem whose first tile is not beyond `tile`. Empty problems own no tiles and are never found.
uint find_problem(uint tile) {
    uint low = 0;
    uint high = problems() - 1;
    while (low < high) {
        uint middle = (low + high + 1) / 2;
        if (states().v[middle].first_tile <= tile) low = middle;
        else high = middle - 1;
    }
    return low;
}

// Returns false if there are fewer tiles: the dispatch was rounded up.
bool find_tile(uint tile, uint tile_size, out Tile found) {
    if (SINGLE) {
        found.problem = 0;
        found.index = tile;
        found.count = resolved_count(0);
        found.tiles = tiles_of(found.count, tile_size);
        enter_function(0);
        return tile < found.tiles;
    }
    if (tile >= states().v[args.problem_count].first_tile) return false;
    uint p = find_problem(tile);
    found.problem = p;
    found.index = tile - states().v[p].first_tile;
    found.count = states().v[p].count;
    found.tiles = tiles_of(found.count, tile_size);
    enter_segment(p);
    enter_function(p);
    return true;
}

// The share of a workgroup in its problem, for kernels without tiles.
struct Share {
    uint problem;
    uint count;  // items in the problem
    uint index;
    uint shares;
};

// The range that all segments cover, from segments.comp. Kernels before that compute it.
#ifdef BEFORE_SEGMENTS
#include "radix/segment_offsets.glsl"
SortState covered() { return told_cover(); }
#else
SortState covered() { return SortStates(scratch_part(args.problems)).v[args.problem_count]; }
#endif

// For kernels that treat all segments alike, segments are one problem.
bool find_share(out Share share) {
    uint problems = SEGMENTS ? 1 : args.problem_count;
    share.problem = linear_group() % problems;
    share.index = linear_group() / problems;
    share.shares = max(gl_NumWorkGroups.x * gl_NumWorkGroups.y / problems, 1);
    if (SEGMENTS) {
        SortState cover = covered();
        segment_first = cover.first;
        share.count = cover.count;
    } else {
        share.count = resolved_count(share.problem);
    }
    // Folded dispatches have excess workgroups.
    return share.index < share.shares;
}
