// The last steps for an item of a batch: its key is stored, if it has claimed its slot with its index. Without a slot,
// it is listed among the leftover items.

// Stores the key of an item and its fingerprint, if the state of the slot has the index of the item.
void publish_key(uint slot, uint index) {
    if (!HAS_TAG || load_relaxed(slot_words(slot, 0), 0) != (CLAIMED | index)) return;
    uint key[KEY_WORDS];
    load_key(index, key);
    Words words = slot_words(slot, KEY_BEGIN);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) words.v[w] = key[w];
    store_relaxed(slot_words(slot, 0), 0, wanted_of(key).state);
}

// Lists an item that has no slot.
void list_item(uint index) {
    uint key[KEY_WORDS];
    load_key(index, key);
    uint entry = append_leftover(key);
    if (!wants_leftover_value(entry)) return;
    uint value[MOST_VALUE_WORDS];
    load_item_value(index, value);
    store_leftover_value(entry, value);
}
