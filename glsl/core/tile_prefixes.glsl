// Exclusive prefixes of one aggregate for each tile, in a single pass, by look-back: a tile adds the aggregates of its
// predecessors, back to the nearest one with an inclusive prefix. (Merrill and Garland, "Single-pass parallel prefix
// scan with decoupled look-back", 2016.)
//
// Memory: the number of tiles taken, a spare word, then a descriptor of two words for each tile. All are zero before
// the dispatch. A tile publishes its aggregate, of 16 bits, in the first word of its descriptor. Later it publishes its
// inclusive prefix, the lower half in the first word and the upper half in the second.
//
// Memory order: a descriptor word holds its state together with its half of the number. A reader needs no other memory
// of the writer, so relaxed atomics at device scope suffice.
// Progress: workgroups take tiles in rising order. So the predecessors of a tile are done, or run. A tile makes at most
// SPIN_LIMIT unsuccessful polls. Then it must compute the aggregate of a missing tile itself.

layout(constant_id = SPEC_SPIN_LIMIT) const uint SPIN_LIMIT = 4096;
layout(constant_id = SPEC_DELAY_EVERY) const uint DELAY_EVERY = 0;

// States of a descriptor word.
const uint PREFIX_AGGREGATE = 1 << 16;
const uint PREFIX_INCLUSIVE = 2 << 16;

// The look-back of a tile. The tiles from `next` on are in the sum; 0: all of them.
struct LookBack {
    uint sum;
    uint next;
    uint polls;  // number of unsuccessful polls
};

shared uint sh_tile;
shared LookBack sh_look_back;

uint descriptor_word(uint tile) { return 2 + 2 * tile; }

// Clears the descriptor of a tile. That of tile 0 also clears the number of tiles taken.
void clear_tile_prefix(Words prefixes, uint tile) {
    if (tile == 0) prefixes.v[0] = 0;
    prefixes.v[descriptor_word(tile)] = 0;
    prefixes.v[descriptor_word(tile) + 1] = 0;
}

// Takes the next tile. The whole workgroup must call it.
uint take_tile(Words prefixes) {
    if (thread_id() == 0) {
        sh_tile = atomicAdd(prefixes.v[0], 1, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
    barrier();
    return sh_tile;
}

// Keeps an inclusive prefix: the tile may have published it in the meantime.
void publish_aggregate(Words prefixes, uint tile, uint count) {
    uint word = PREFIX_AGGREGATE | min(count, 0xffff);
    atomicMax(
        prefixes.v[descriptor_word(tile)], word, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed
    );
}

void publish_inclusive_prefix(Words prefixes, uint tile, uint prefix) {
    // The upper half is stored first, so that a reader of the first word most likely finds it.
    store_relaxed(prefixes, descriptor_word(tile) + 1, PREFIX_INCLUSIVE | prefix >> 16);
    store_relaxed(prefixes, descriptor_word(tile), PREFIX_INCLUSIVE | prefix & 0xffff);
}

// A descriptor, decoded.
struct TilePrefix {
    bool is_missing;
    bool is_inclusive;
    uint sum;  // the inclusive prefix, or the aggregate
};

// Loads the descriptor of the tile at this distance before `next`, at least 1. Before the first tile, the prefix is 0.
TilePrefix load_tile_prefix(Words prefixes, uint next, uint distance) {
    uint word = descriptor_word(next - 1 - min(distance, next - 1));
    uint low = load_relaxed(prefixes, word);
    uint high = load_relaxed(prefixes, word + 1);
    bool exists = distance < next;
    TilePrefix known;
    known.is_inclusive = !exists || low >= PREFIX_INCLUSIVE && high >= PREFIX_INCLUSIVE;
    known.is_missing = !known.is_inclusive && (low & PREFIX_AGGREGATE) == 0;
    known.sum = exists ? low & 0xffff | (known.is_inclusive ? high << 16 : 0) : 0;
    return known;
}

// Adds the tiles that are known. A lane reads one descriptor: with several, reads took longer (docs/merge.md).
#ifdef EMULATED
void look_further_back(Words prefixes, inout LookBack tile) {
    TilePrefix known = load_tile_prefix(prefixes, tile.next, 0);
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
void look_further_back(Words prefixes, inout LookBack tile) {
    TilePrefix known = load_tile_prefix(prefixes, tile.next, lane_id());
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

// Adds preceding tiles to the sum of a look-back with some left, or gives up: then the tile before `next` is missing.
// The whole workgroup must call it, with the same look-back.
void look_back(Words prefixes, inout LookBack tile) {
#ifdef EMULATED
    bool looks_back = thread_id() == 0;
#else
    bool looks_back = subgroup_id() == 0;
#endif
    if (looks_back) {
        bool moves = true;
        [[dont_unroll]] while (tile.next != 0 && (moves || tile.polls < SPIN_LIMIT)) {
            uint next = tile.next;
            look_further_back(prefixes, tile);
            moves = tile.next != next;
            tile.polls += moves ? 0 : 1;
        }
        if (lane_id() == 0) sh_look_back = tile;
    }
    barrier();
    tile = sh_look_back;
    barrier();
}

// Tests only: delays some tiles for longer than their successors wait.
void delay(Words prefixes, uint tile) {
    if (DELAY_EVERY == 0 || tile % DELAY_EVERY != DELAY_EVERY - 1) return;
    for (uint poll = 0; poll < 32 * max(SPIN_LIMIT, 64); ++poll) {
        if (load_relaxed(prefixes, descriptor_word(tile)) == 0xffffffffu) break;
    }
}
