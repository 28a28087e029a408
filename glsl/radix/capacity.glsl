// Capacity checks for given bucket starts (OUTPUT_PLACED). No sum wraps: an item with an index beyond 2^32 has no room.

// Number of indices from `start` to the capacity `items`.
uint room_from(uint start, uint items) { return items - min(start, items); }

// Number of a bin's next `count` items that have room, after `before` items of the bin that begins at `start`.
uint items_with_room(uint start, uint before, uint count, uint items) {
    uint room = room_from(start, items);
    return min(room - min(before, room), count);
}
