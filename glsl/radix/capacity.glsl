// Capacity checks for splits with given bucket starts (OUTPUT_PLACED). Items from index output_capacity on are not
// written.
//
// The capacity is at most 2^32 - 2^16, and a tile has fewer than 2^16 items. Bucket starts, and the first index of a
// bin in a tile, are clamped to the capacity. So no index wraps.

uint output_capacity;

// Returns the number of items from index `start` to the end of the output. `items`: capacity of the output.
uint room_from(uint start, uint items) { return items - min(start, items); }
