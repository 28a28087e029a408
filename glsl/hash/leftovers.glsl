// Items of a batch that found no slot: their keys and values are listed in any order, with their number.

const uint NOT_LISTED = 0xffffffffu;

// Lists a key. Returns its index in the list.
uint append_leftover(uint key[KEY_WORDS]) {
    if (!is_null(args.problem.status)) atomicOr(Words(args.problem.status).v[0], STATUS_TABLE_FULL);
    if (is_null(args.problem.count_out)) return NOT_LISTED;
    uint index = atomicAdd(Words(args.problem.count_out).v[0], 1u);
    if (!is_null(args.problem.leftover_keys)) {
        Words keys = Words(advance(args.problem.leftover_keys, bytes_of(index, KEY_WORDS * 4)));
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys.v[w] = key[w];
    }
    return index;
}

// Whether the value of an item with this index in the list is wanted.
bool wants_leftover_value(uint index) {
    return VALUE_WORDS != 0 && index != NOT_LISTED && !is_null(args.problem.leftover_values);
}

void store_leftover_value(uint index, uint value[MOST_VALUE_WORDS]) {
    Words values = Words(advance(args.problem.leftover_values, bytes_of(index, VALUE_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) values.v[w] = value[w];
}
