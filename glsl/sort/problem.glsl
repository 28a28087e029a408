// Which problem, and which of its tiles, a workgroup works on.
//
// A recorded sort is one problem, held by the push constants (SINGLE), or a table of problems in scratch. The tiles of all problems form
// one line: problem p owns the tiles [states[p].first_tile, states[p + 1].first_tile). The line is written by prepare.comp; a
// problem alone may do without (DIRECT), and resolve its count wherever it is needed.
//
// Where the problem in the push constants is one of segments (SEGMENTS), those too long for a workgroup are the problems of the line.
// Their parts follow from where they begin: segment_first, set by find_tile or by the kernel itself.

// Bits of MODE_: what is known when the pipeline is made.
layout(constant_id = SPEC_MODE) const uint MODE = 0;
const bool SINGLE = (MODE & MODE_SINGLE) != 0;
const bool DIRECT = (MODE & MODE_DIRECT) != 0;
const bool SEGMENTS = (MODE & MODE_SEGMENTS) != 0;
const bool PREFIXES = (MODE & MODE_PREFIXES) != 0;
const bool MERGED = (MODE & MODE_MERGED) != 0;
// What one workgroup sorts by itself: no two longer segments begin in so many items.
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

// Without the carry out of its division, a count just below 2^32 would have no tiles.
uint tiles_of(uint count, uint tile_size) { return count / tile_size + (count % tile_size != 0 ? 1 : 0); }

// Parts of scratch are named by 256 bytes.
uvec2 scratch_part(uint part) { return advance(args.scratch, uvec2(part << 8, part >> 24)); }

SortStates states() { return SortStates(scratch_part(args.states)); }
Words tickets() { return Words(scratch_part(args.tickets)); }
uint ticket_words() { return pass_digits() * (2 + RING_GROUPS); }

// A problem's members, each read where it is used: a whole problem would stay in registers.
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

// The segment at hand: its first item, and the tiles of those before it.
uint segment_first = 0;
uint segment_first_tile = 0;

// Where nothing has been prepared, each group of the histogram leaves rows of its own, the groups behind the count rows of zeros.
uint histogram_rows() { return DIRECT ? args.pass >> 16 & 0xff : 1; }

// A row of counts for each digit, and a word more.
const uint PARTS_A_DIGIT = RADIX * 4 / 256;

uint histogram_part(uint p) {
    uint part = problem_histogram(p);
    if (SEGMENTS) part += segment_first / SEGMENT_TILE * (pass_digits() * PARTS_A_DIGIT + 1);
    return part;
}

Words histogram_of(uint p) { return Words(scratch_part(histogram_part(p))); }

// Behind the rows, the digits that no pass sorts by; then how many keys have a prefix of each bin.
Words skipped_digits_words(uint p) {
    return Words(advance(scratch_part(histogram_part(p)), uvec2(histogram_rows() * pass_digits() * BINS * 4, 0)));
}

// Not for the ring, which all share.
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

// What its keys go to bins by.
void enter_function(uint p) {
    if (FUNCTION == FUNCTION_RANGE) bin_range = uvec4(problem_alternate_keys(p), problem_alternate_values(p));
}

// Problems in the line.
uint problems() { return SEGMENTS ? states().v[args.problem_count].count : args.problem_count; }

// The count as it is told, before any state is written.
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

// One invocation a problem. `more`: what else there is to say.
void write_status(uint p, uint more) {
    uvec2 status = problem_status(p);
    if (is_null(status)) return;
    uvec2 count = problem_count(p);
    bool clamped = !is_null(count) && Words(count).v[0] > problem_max_count(p);
    Words(status).v[0] = (clamped ? STATUS_COUNT_CLAMPED : 0) | more;
}

void write_status(uint p) { write_status(p, 0); }

// The last problem whose first tile is not beyond `tile`; empty problems own no tile and are passed over.
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

// False when the line is shorter than `tile`: the dispatch was rounded up.
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

// A workgroup of a kernel without tiles: which of the workgroups of its problem it is.
struct Share {
    uint problem;
    uint count;  // items in the problem
    uint index;
    uint shares;
};

// What all segments cover, as segments.comp has found. A kernel before it finds it by itself.
#ifdef BEFORE_SEGMENTS
#include "sort/cuts.glsl"
SortState covered() { return told_cover(); }
#else
SortState covered() { return SortStates(scratch_part(args.problems)).v[args.problem_count]; }
#endif

// Segments are one problem for a kernel that does the same with all of them.
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
    // Lines that are folded have more groups than were asked for.
    return share.index < share.shares;
}
