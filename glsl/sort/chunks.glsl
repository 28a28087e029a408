// What is counted tile by tile: a workgroup takes the tiles of a chunk of the line, one after the other, and leaves for each the counts of
// those before it. So the first one's row is free for the counts of all, as far as they are of its problem; and those the spine sums.

// Of one problem alone whose count lies on the device, chunks are as much shorter as there are fewer tiles than there may be: then as many workgroups
// count.
uint chunk_tiles() {
    uint tiles = args.chunk;
    // (Flattened, two divisions are everybody's.)
    [[dont_flatten]] if (SINGLE && DIRECT && !is_null(problem_count(0))) {
        uint groups = tiles_of(tiles_of(problem_max_count(0), TILE), args.chunk);
        tiles = max(tiles_of(tiles_of(requested_count(0), TILE), max(groups, 1)), 1);
    }
    return tiles;
}

// The tile, of the same problem, whose row has the counts of its chunk. `line`: the tile's place in the line.
uint first_of_chunk(Tile tile, uint line) { return tile.index - min(line % chunk_tiles(), tile.index); }
