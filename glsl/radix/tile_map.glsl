// Maps a tile to its problem.
//
// The tiles of all problems have consecutive global indices. Problem p owns the tiles from states[p].first_tile up to,
// but not including, states[p + 1].first_tile. radix/prepare.comp writes the map. A single problem needs no map
// (DIRECT): each kernel then resolves the count itself.

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer TileMap {
    uint problems;
    ProblemState states[];
};

TileMap tile_map() { return TileMap(scratch_part(args.states)); }

// Number of problems in the tile map.
uint problems() { return SEGMENTS ? tile_map().problems : args.problem_count; }

// Number of tiles of all problems.
uint all_tiles() { return tile_map().states[args.problem_count].first_tile; }

// Returns the actual count of a problem: from the tile map if the count is in device memory, otherwise from its row.
uint resolved_count(uint p) {
    if (SEGMENTS || !DIRECT && !is_null(problem_count(p))) return tile_map().states[p].count;
    return requested_count(p);
}

// Makes problem `p` of the tile map, a long segment, the current segment.
void enter_segment(uint p) {
    if (!SEGMENTS) return;
    segment_first = tile_map().states[p].first;
    segment_first_tile = tile_map().states[p].first_tile;
}

// Returns the problem that owns a tile: the last problem with first_tile <= tile. Problems without tiles are never
// found.
uint find_problem(uint tile) {
    uint low = 0;
    uint high = problems() - 1;
    while (low < high) {
        uint middle = (low + high + 1) / 2;
        if (tile_map().states[middle].first_tile <= tile) low = middle;
        else high = middle - 1;
    }
    return low;
}

// Finds the problem of a tile, from the global tile index. Returns false if there is no such tile: dispatches may have
// excess workgroups.
bool find_tile(uint tile, uint tile_size, out Tile found) {
    if (SINGLE) {
        found.problem = 0;
        found.index = tile;
        found.count = resolved_count(0);
        found.tiles = tiles_of(found.count, tile_size);
        return tile < found.tiles;
    }
    if (tile >= all_tiles()) return false;
    uint p = find_problem(tile);
    found.problem = p;
    found.index = tile - tile_map().states[p].first_tile;
    found.count = tile_map().states[p].count;
    found.tiles = tiles_of(found.count, tile_size);
    enter_segment(p);
    return true;
}
