// The items of a batch: their number, their keys, and the status word of the operation.

uint batch_count() {
    uint most = args.problem.max_count;
    return is_null(args.problem.count) ? most : min(Words(args.problem.count).v[0], most);
}

// Writes the status. One invocation.
void write_status() {
    if (is_null(args.problem.status)) return;
    bool clamped = !is_null(args.problem.count) && Words(args.problem.count).v[0] > args.problem.max_count;
    Words(args.problem.status).v[0] = clamped ? STATUS_COUNT_CLAMPED : 0;
}

// A key of the caller's array.
void load_key(uint index, out uint key[KEY_WORDS]) {
    uvec2 address = advance(args.problem.keys, bytes_of(index, KEY_WORDS * 4));
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = Words(address).v[w];
}
