// Exclusive sums over tiles, in the dispatch that counts: one count for each tile, by look-back. A tile adds the counts
// of its predecessors, back to the nearest one with an inclusive sum. (Merrill and Garland, "Single-pass parallel
// prefix scan with decoupled look-back", 2016.)
//
// Each tile has a descriptor of two words, zero before the dispatch. A tile publishes its count, of 16 bits, in the
// first word, and later its inclusive sum, the lower half in the first word and the upper half in the second.
//
// Memory order: a descriptor word holds its state together with its half of the number. A reader needs no other memory
// of the writer, so relaxed atomics at device scope suffice.
// Progress: a tile polls SPIN_LIMIT times in all. Then it must count missing tiles itself, after one poll for each. So
// no tile depends on another one that does not run.

layout(constant_id = SPEC_SPIN_LIMIT) const uint SPIN_LIMIT = 4096;
layout(constant_id = SPEC_DELAY_EVERY) const uint DELAY_EVERY = 0;

const uint TILE_SUM_COUNT = 1 << 16;
const uint TILE_SUM_INCLUSIVE = 2 << 16;

// The look-back of a tile. The tiles from `next` on are in the sum; 0: all of them.
struct LookBack {
    uint sum;
    uint next;
    uint polls;
};

shared LookBack sh_look_back;

void clear_tile_sum(Words sums, uint tile) {
    sums.v[2 * tile] = 0;
    sums.v[2 * tile + 1] = 0;
}

// Keeps an inclusive sum: the tile may have published it in the meantime.
void publish_count(Words sums, uint tile, uint count) {
    atomicMax(sums.v[2 * tile], TILE_SUM_COUNT | count, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void publish_inclusive_sum(Words sums, uint tile, uint sum) {
    // The upper half is stored first, so that a reader of the first word most likely finds it.
    store_relaxed(sums, 2 * tile + 1, TILE_SUM_INCLUSIVE | sum >> 16);
    store_relaxed(sums, 2 * tile, TILE_SUM_INCLUSIVE | sum & 0xffff);
}

// A descriptor, decoded.
struct TileSum {
    bool is_missing;
    bool is_inclusive;
    uint sum;  // or the count
};

// Loads the descriptor of the tile at this distance before `next`. Before the first tile, the sum is 0.
TileSum load_tile_sum(Words sums, uint next, uint distance) {
    uint low = TILE_SUM_INCLUSIVE;
    uint high = TILE_SUM_INCLUSIVE;
    if (distance < next) {
        low = load_relaxed(sums, 2 * (next - 1 - distance));
        high = load_relaxed(sums, 2 * (next - 1 - distance) + 1);
    }
    TileSum known;
    known.is_inclusive = low >= TILE_SUM_INCLUSIVE && high >= TILE_SUM_INCLUSIVE;
    known.is_missing = !known.is_inclusive && (low & TILE_SUM_COUNT) == 0;
    known.sum = low & 0xffff | (known.is_inclusive ? high << 16 : 0);
    return known;
}

// Adds the tiles that are known. One descriptor a lane: with several, reads took longer (docs/merge.md).
#ifdef EMULATED
void look_further_back(Words sums, inout LookBack tile) {
    TileSum known = load_tile_sum(sums, tile.next, 0);
    if (known.is_missing) return;
    tile.sum += known.sum;
    tile.next = known.is_inclusive ? 0 : tile.next - 1;
}
#else
// Returns the lowest lane of a ballot, or the number of lanes.
uint lowest_lane(uvec4 lanes) {
    uint lowest = lane_count();
    [[unroll]] for (int word = 3; word >= 0; --word) {
        if (lanes[word] != 0) lowest = 32 * word + findLSB(lanes[word]);
    }
    return lowest;
}

// Each lane of the subgroup reads another tile.
void look_further_back(Words sums, inout LookBack tile) {
    TileSum known = load_tile_sum(sums, tile.next, lane_id());
    uint inclusive = lowest_lane(ballot(known.is_inclusive));
    uint missing = lowest_lane(ballot(known.is_missing));
    uint taken = min(inclusive + 1, missing);
    tile.sum += shuffle(inclusive_add(lane_id() < taken ? known.sum : 0), lane_count() - 1);
    tile.next = inclusive < missing ? 0 : tile.next - taken;
}
#endif

LookBack begin_look_back(uint tile) {
    LookBack look_back;
    look_back.sum = 0;
    look_back.next = tile;
    look_back.polls = 0;
    return look_back;
}

// Adds preceding tiles to the sum of a look-back, or gives up: then the tile before `next` is missing. The whole
// workgroup must call it, with the same look-back.
void look_back(Words sums, inout LookBack tile) {
#ifdef EMULATED
    bool looks_back = thread_id() == 0;
#else
    bool looks_back = subgroup_id() == 0;
#endif
    if (looks_back) {
        [[dont_unroll]] do {
            look_further_back(sums, tile);
            tile.polls += 1;
        } while (tile.next != 0 && tile.polls < SPIN_LIMIT);
        if (lane_id() == 0) sh_look_back = tile;
    }
    barrier();
    tile = sh_look_back;
    barrier();
}

// Tests only: delays some tiles for longer than their successors wait.
void delay(Words sums, uint tile) {
    if (DELAY_EVERY == 0 || tile % DELAY_EVERY != DELAY_EVERY - 1) return;
    for (uint poll = 0; poll < 32 * max(SPIN_LIMIT, 64); ++poll) {
        if (load_relaxed(sums, 2 * tile) == 0xffffffffu) break;
    }
}
