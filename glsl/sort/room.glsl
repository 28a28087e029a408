// How far the output reaches, where the caller says that bins begin (OUTPUT_PLACED). No sum wraps: an item whose place lies beyond 2^32 has none.

// Places from `start` on, of `items` that the output has room for.
uint room_from(uint start, uint items) { return items - min(start, items); }

// How many of a bin's next `count` items have a place, `before` of them behind those that lie from `start` on.
uint items_with_room(uint start, uint before, uint count, uint items) {
    uint room = room_from(start, items);
    return min(room - min(before, room), count);
}
