// Exclusive prefixes of one aggregate for each tile, in a single pass, by look-back on two levels. A tile adds the
// aggregates of its predecessors in its block of LOOK_BACK_BLOCK tiles. Then it adds those of preceding blocks, back to
// the nearest block with an inclusive prefix. (Merrill and Garland, "Single-pass parallel prefix scan with decoupled
// look-back", 2016, with one level.) So 32 lanes look back over 1024 tiles at once.
//
// Memory: the number of tiles taken; for each tile a word, its aggregate plus 1; for each block two words, the sum of
// the aggregates that their owners published with their number, and its inclusive prefix plus 1. All are zero before
// the dispatch, which means missing. An inclusive prefix of 2^32 - 1 also reads as missing: aggregates replace it.
//
// Memory order: a reader needs no other memory of the writer of a word, so relaxed atomics at device scope suffice.
// Words are published by read-modify-write operations: on NVIDIA, stores reached their readers later (a quarter more
// time for a whole set operation).
// Progress: workgroups take tiles in rising order. So the predecessors of a tile are done, or run. A tile makes at most
// SPIN_LIMIT unsuccessful polls, and one more for each missing tile. It computes the aggregate of such a tile itself.

layout(constant_id = SPEC_SPIN_LIMIT) const uint SPIN_LIMIT = 4096;
layout(constant_id = SPEC_DELAY_EVERY) const uint DELAY_EVERY = 0;

// Unit of the number of aggregates in the sum of a block. An aggregate is less than 2^21.
const uint BLOCK_TILE = 1 << 26;

struct TilePrefixes {
    Words words;
    uint tiles;  // number of tiles
};

// The look-back of a tile. The tiles from `next` on are in the sum; 0: all of them.
struct LookBack {
    uint sum;
    uint next;
    uint polls;  // number of unsuccessful polls
};

shared uint sh_tile;
shared LookBack sh_look_back;

uint aggregate_word(uint tile) { return 1 + tile; }

// The first word of a block.
uint block_word(TilePrefixes prefixes, uint block) { return 1 + prefixes.tiles + 2 * block; }

// Clears the word of a tile. The first tile of a block also clears the words of the block, and tile 0 the number of
// tiles taken.
void clear_tile_prefix(TilePrefixes prefixes, uint tile) {
    if (tile == 0) prefixes.words.v[0] = 0;
    prefixes.words.v[aggregate_word(tile)] = 0;
    if (tile % LOOK_BACK_BLOCK != 0) return;
    uint word = block_word(prefixes, tile / LOOK_BACK_BLOCK);
    prefixes.words.v[word] = 0;
    prefixes.words.v[word + 1] = 0;
}

uint add_relaxed(Words words, uint index, uint value) {
    return atomicAdd(words.v[index], value, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Publishes a value in a word that is 0, or that has this value. (Sequences that are not sorted may have several: then
// prefixes are undefined, but still in bounds.)
void publish(Words words, uint index, uint value) {
    atomicMax(words.v[index], value, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Takes the next tile. The whole workgroup must call it.
uint take_tile(TilePrefixes prefixes) {
    if (thread_id() == 0) sh_tile = add_relaxed(prefixes.words, 0, 1);
    barrier();
    return sh_tile;
}

// Publishes the aggregate of this workgroup's tile, also in the sum of its block.
void publish_aggregate(TilePrefixes prefixes, uint tile, uint aggregate) {
    publish(prefixes.words, aggregate_word(tile), aggregate + 1);
    add_relaxed(prefixes.words, block_word(prefixes, tile / LOOK_BACK_BLOCK), BLOCK_TILE + aggregate);
}

// Publishes the aggregate of a tile of another workgroup. That workgroup alone adds it to the sum of the block.
void publish_missing_aggregate(TilePrefixes prefixes, uint tile, uint aggregate) {
    publish(prefixes.words, aggregate_word(tile), aggregate + 1);
}

// Publishes the inclusive prefix of a tile if it is that of a block.
void publish_inclusive_prefix(TilePrefixes prefixes, uint tile, uint prefix) {
    if (tile % LOOK_BACK_BLOCK != LOOK_BACK_BLOCK - 1) return;
    publish(prefixes.words, block_word(prefixes, tile / LOOK_BACK_BLOCK) + 1, prefix + 1);
}

#ifdef EMULATED
// One thread looks back, as a subgroup of one lane.
bool looks_back() { return thread_id() == 0; }
uint looking_lane() { return 0; }
uint sum_of_lanes(uint value) { return value; }
uint first_lane(bool set) { return set ? 0 : 1; }
#else
// One subgroup looks back.
bool looks_back() { return subgroup_id() == 0; }
uint looking_lane() { return lane_id(); }
uint sum_of_lanes(uint value) { return shuffle(inclusive_add(value), lane_count() - 1); }

// Returns the first lane for which `set` is true, or the number of lanes.
uint first_lane(bool set) {
    uvec4 lanes = ballot(set);
    uint first = lane_count();
    [[unroll]] for (int word = 3; word >= 0; --word) {
        if (lanes[word] != 0) first = 32 * word + findLSB(lanes[word]);
    }
    return first;
}
#endif

// Adds the known tiles before `next` in their block. If these are all, also adds the known blocks before it.
void look_further_back(TilePrefixes prefixes, inout LookBack tile) {
    // 1. Each lane reads another tile of the block, and another preceding block, the nearest ones first. Before the
    // first block, the inclusive prefix is 0.
    uint lane = looking_lane();
    uint block = (tile.next - 1) / LOOK_BACK_BLOCK;
    uint left = tile.next - block * LOOK_BACK_BLOCK;
    uint aggregate = 0;
    if (lane < left) aggregate = load_relaxed(prefixes.words, aggregate_word(tile.next - 1 - lane));
    uint block_sum = 0;
    uint block_prefix = 1;
    if (lane < block) {
        uint word = block_word(prefixes, block - 1 - lane);
        block_sum = load_relaxed(prefixes.words, word);
        block_prefix = load_relaxed(prefixes.words, word + 1);
    }

    // 2. Find how many of them are known, without a gap.
    uint tiles = min(first_lane(lane < left && aggregate == 0), left);
    bool takes_blocks = tiles == left;
    bool is_inclusive = block_prefix != 0;
    uint inclusive = first_lane(is_inclusive);
    uint missing = first_lane(!is_inclusive && block_sum / BLOCK_TILE != LOOK_BACK_BLOCK);
    uint blocks = takes_blocks ? min(inclusive + 1, missing) : 0;

    // 3. Add them.
    uint known = lane < tiles ? aggregate - 1 : 0;
    if (lane < blocks) known += is_inclusive ? block_prefix - 1 : block_sum % BLOCK_TILE;
    tile.sum += sum_of_lanes(known);
    if (!takes_blocks) tile.next -= tiles;
    else tile.next = inclusive < missing ? 0 : (block - blocks) * LOOK_BACK_BLOCK;
}

LookBack begin_look_back(uint tile) {
    LookBack look_back;
    look_back.sum = 0;
    look_back.next = tile;
    look_back.polls = 0;
    return look_back;
}

// Adds preceding tiles to the sum of a look-back until all are added, or gives up: then the tile before `next` is
// missing. The whole workgroup must call it, with the same look-back. It contains a barrier, and another one must
// precede another call.
void look_back(TilePrefixes prefixes, inout LookBack tile) {
    if (looks_back()) {
        bool moves = true;
        [[dont_unroll]] while (tile.next != 0 && (moves || tile.polls < SPIN_LIMIT)) {
            uint next = tile.next;
            look_further_back(prefixes, tile);
            moves = tile.next != next;
            tile.polls += moves ? 0 : 1;
        }
        if (looking_lane() == 0) sh_look_back = tile;
    }
    barrier();
    tile = sh_look_back;
}

// Tests only: delays some tiles for longer than their successors wait.
void delay(TilePrefixes prefixes, uint tile) {
    if (DELAY_EVERY == 0 || tile % DELAY_EVERY != DELAY_EVERY - 1) return;
    for (uint poll = 0; poll < 32 * max(SPIN_LIMIT, 64); ++poll) {
        if (load_relaxed(prefixes.words, aggregate_word(tile)) == 0xffffffffu) break;
    }
}
