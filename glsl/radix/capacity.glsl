// Capacity checks for splits with given bucket starts (OUTPUT_PLACED). Items past the capacity of the output have no
// room and are not written. No sum wraps, so this also holds for indices beyond 2^32.

// Returns the number of items from index `start` to the end of the output. `items`: capacity of the output.
uint room_from(uint start, uint items) { return items - min(start, items); }

// Returns how many of the next `count` items of a bin have room. The bin begins at `start` and already has `before`
// items.
uint items_with_room(uint start, uint before, uint count, uint items) {
    uint room = room_from(start, items);
    return min(room - min(before, room), count);
}
