// The last step of a pass: the tile, ordered by digit in sh_keys, leaves for the places that its digits begin at. Runs of
// equal digits are contiguous in the tile and in memory, so stores coalesce.
//
// Loops go over the places that hold keys, a number that no compiler knows: unrolled whole, they would hold two registers of
// address for each key.

// Where a digit's keys go, less where they begin in the tile: target index = sh_offsets[digit] + place. Wraps by design.
shared uint sh_offsets[RADIX];

// Places a thread moves at a time; their digits share a word.
const uint GROUP = 4;

uint target_of(uint digit, uint place) { return sh_offsets[digit] + place; }

void scatter_keys(Words target, uint valid) {
    for (uint first = 0; first < valid; first += GROUP * THREADS) {
        uint keys[GROUP];
        uint digits = 0;
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
            uint place = first + k * THREADS + thread_id();
            if (place < valid) keys[k] = sh_keys[place];
        }
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
            uint place = first + k * THREADS + thread_id();
            uint digit = digit_of(keys[k], args.shift);
            if (place < valid) target.v[target_of(digit, place)] = keys[k];
            digits |= digit << k * RADIX_BITS;
        }
        if (VALUE_WORDS != 0) sh_counts[first / GROUP + thread_id()] = digits;
    }
}

// Values lie in sh_keys at the places of their keys; each thread finds the digits that it left in scatter_keys.
void scatter_values(Words target, uint valid) {
    for (uint first = 0; first < valid; first += GROUP * THREADS) {
        uint digits = sh_counts[first / GROUP + thread_id()];
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
            uint place = first + k * THREADS + thread_id();
            uint digit = digits >> k * RADIX_BITS & (RADIX - 1);
            if (place < valid) target.v[target_of(digit, place)] = sh_keys[place];
        }
    }
}

void scatter(Tile tile, uint places[PLACE_WORDS]) {
    uint first = tile.index * TILE;
    uint valid = min(TILE, tile.count - first);
    scatter_keys(Words(target_keys(tile.problem)), valid);
    if (VALUE_WORDS == 0) return;

    uint values[ITEMS];
    load_keys(Words(source_values(tile.problem)), first, tile.count, values);
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[place_of(places, k)] = values[k];
    barrier();
    scatter_values(Words(target_values(tile.problem)), valid);
}
