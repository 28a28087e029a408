// Combines the values of a batch with those of the table, after all keys have slots and the slice has been stored. New
// keys have the identity until then. The operations commute, so the result does not depend on the order of execution.

// Combines the value of an item, unless it belongs to another workgroup, or its key has no slot in this slice.
void combine_item(uint position, uint round) {
    uint first = hash_at(position);
    if (!is_own(first)) return;
    uint key[KEY_WORDS];
    uint second;
    hashed_key(position, first, key, second);
    uint reserved = reserved_index(key);
    uvec2 target = reserved_value(min(reserved, 1));
    if (reserved == NOT_RESERVED) {
        bool is_bounded;
        uint at = find_slot(key, tag_of(key, second), first, own_probe(first, second), is_bounded);
        if (at == NO_SLOT) return;
        uint slot = at % COLUMN * SLOTS + at / COLUMN;
        target = advance(slice_address(own_slice()), uvec2((slot * SLOT_WORDS + KEY_WORDS) * 4, 0));
    }
    uint value[MOST_VALUE_WORDS];
    [[unroll]] for (uint w = 0; w < MOST_VALUE_WORDS; ++w) value[w] = w == 0 ? 1 : 0;
    if (CHANGE != HASH_INCREMENT) load_value(owner_of_item(position), value);
    combine_value(Words(target), value, round);
}

// Combines the values of the items of this workgroup.
void combine_items(uint begin, uint end) {
    for (uint round = 0; round < ROUNDS; ++round) {
        controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
#ifdef OVERFLOW
        // Those that have no place in their home slices.
        Words spilled = Words(scratch_part(args.spilled));
        for (uint index = begin / 32 + thread_id(); index * 32 < end; index += THREADS) {
            for (uint word = spilled.v[index]; word != 0; word &= word - 1) {
                uint position = index * 32 + findLSB(word);
                if (position >= begin && position < end) combine_item(position, round);
            }
        }
#else
        for (uint position = begin + thread_id(); position < end; position += THREADS) combine_item(position, round);
#endif
    }
}
