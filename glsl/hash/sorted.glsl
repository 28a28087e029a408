// The hashes of a batch, sorted by their first bits: in bins, one for each value of these bits.

// The bin of a hash, if the batch is sorted.
uint bin_of(uint hash) { return hash >> 32 - args.bin_bits; }

// The sorted hashes of an item. Scratch is aligned to words only.
Words hashes_at(uint position) {
    return Words(advance(scratch_part(args.sorted_hashes), bytes_of(position, HASH_WORDS * 4)));
}

// The first hash of an item.
uint hash_at(uint position) {
    // Positions are below 2^30: the offset of a word fits 32 bits.
    if (HASH_WORDS == 1) return Words(scratch_part(args.sorted_hashes)).v[position];
    return hashes_at(position).v[HASH_WORDS - 1];
}

// The second hash of an item with a key of two words.
uint second_hash_at(uint position) { return HASH_WORDS == 1 ? 0 : hashes_at(position).v[0]; }

// The first position of each bin. The last word is the number of items.
Words bins() { return Words(scratch_part(args.bins)); }
