// What is counted tile by tile: a workgroup takes the tiles of a chunk of the line, one after the other, and leaves for each the counts of
// those before it. So the first one's row is free for the counts of all, as far as they are of its problem; and those the spine sums.

// The tile, of the same problem, whose row has the counts of its chunk. `line`: the tile's place in the line.
uint first_of_chunk(Tile tile, uint line) { return tile.index - min(line % args.chunk, tile.index); }
