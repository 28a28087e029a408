// The numbers that identify the keys of a mixed batch, and by which its elements are sorted: one word for keys of one
// word, otherwise two. The last word is the first hash.
//
// Hashes identify keys of one or two words. The other word of a longer key is its number in the batch: an index, plus
// 1, of an item with this key.

const uint IDENTITY_WORDS = KEY_WORDS == 1 ? 1 : 2;

Words identity_at(uint position) {
    return Words(advance(scratch_part(args.identities), bytes_of(position, IDENTITY_WORDS * 4)));
}

void store_identity(uint index, uint first_hash, uint other) {
    Words identity = identity_at(index);
    if (IDENTITY_WORDS == 2) identity.v[0] = other;
    identity.v[IDENTITY_WORDS - 1] = first_hash;
}

void load_identity(uint position, out uint first_hash, out uint other) {
    Words identity = identity_at(position);
    first_hash = identity.v[IDENTITY_WORDS - 1];
    other = IDENTITY_WORDS == 2 ? identity.v[0] : 0;
}
