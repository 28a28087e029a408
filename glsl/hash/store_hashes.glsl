// The hashes of a batch.

// The first hash is the last word of two: batches are sorted by its first bits.
void store_hashes(uint index, uint first, uint second) {
    Words hashes = Words(advance(scratch_part(args.hashes), bytes_of(index, HASH_WORDS * 4)));
    if (HASH_WORDS == 2) hashes.v[0] = second;
    hashes.v[HASH_WORDS - 1] = first;
}
