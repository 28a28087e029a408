// The slots of the items of a batch, in scratch: one word each, the number of the slot or NO_SLOT. The bit CANDIDATE:
// the index of the item may be in the value of the slot.

const uint CANDIDATE = 0x80000000u;

Words item_slots() { return Words(scratch_part(args.slots)); }

// For each candidate, the item that provides the value of the slot.
Words owners() { return Words(scratch_part(args.owners)); }

// Loads the value of an item.
void load_item_value(uint index, out uint value[MOST_VALUE_WORDS]) {
    Words source = Words(advance(args.problem.values, bytes_of(index, VALUE_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) value[w] = source.v[w];
}
