// Finds the items of a tile of a merge's output. An earlier dispatch has written co_ranks; with FUSED, the includer
// includes merge/search.glsl.

// Finds the items of a tile. With FUSED, the whole workgroup must call it: it contains barriers.
OutputTile find_tile(uint p, uint index, Counts counts) {
    uint count = counts.a + counts.b;
    OutputTile tile;
    tile.problem = p;
    tile.first = index * TILE;
    tile.items = min(count - tile.first, TILE);
#ifdef FUSED
    Bounds ends = search_both_co_ranks(p, args.log2_searchers, tile.first, tile.first + tile.items, counts);
    tile.first_a = ends.low;
    uint end_a = ends.high;
#else
    Words co_ranks = Words(scratch_part(problem_co_ranks(p)));
    tile.first_a = co_ranks.v[index];
    uint end_a = tile.items == count - tile.first ? counts.a : co_ranks.v[index + 1];
#endif
    // Co-ranks of sequences that are not sorted may decrease, or increase by more than a tile. Clamped, they still name
    // items of both sequences.
    tile.items_a = min(max(end_a, tile.first_a) - tile.first_a, tile.items);
    tile.first_b = tile.first - tile.first_a;
    return tile;
}
