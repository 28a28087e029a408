// A key of the caller's array.
void load_key(uint index, out uint key[KEY_WORDS]) {
    uvec2 address = advance(args.problem.keys, bytes_of(index, KEY_WORDS * 4));
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = Words(address).v[w];
}
