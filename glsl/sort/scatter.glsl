// The last step of a pass: the tile, ordered by digit in sh_keys, leaves for the places that its digits begin at. Runs of
// equal digits are contiguous in the tile and in memory, so stores coalesce.

// Where a digit's keys go, less where they begin in the tile: target index = sh_offsets[digit] + place. Wraps by design.
shared uint sh_offsets[RADIX];

void scatter(Tile tile, uint places[PLACE_WORDS]) {
    uint valid = min(TILE, tile.count - tile.index * TILE);
    Words target = Words(target_keys(tile.problem));
    if (VALUE_WORDS == 0) {
        for (uint k = 0; k < ITEMS; ++k) {
            uint place = k * THREADS + thread_id();
            uint key = sh_keys[place];
            if (place < valid) target.v[sh_offsets[digit_of(key, args.shift)] + place] = key;
        }
        return;
    }

    // Digits of the places this thread writes, four in a register: the values follow the same way when the keys are gone.
    uint digits[(ITEMS + 3) / 4];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = k * THREADS + thread_id();
        uint key = sh_keys[place];
        uint digit = digit_of(key, args.shift);
        digits[k / 4] = (k & 3) == 0 ? digit : digits[k / 4] | digit << (k & 3) * 8;
        if (place < valid) target.v[sh_offsets[digit] + place] = key;
    }

    Words source = Words(source_values(tile.problem));
    uint first = tile.index * TILE;
    uint values[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = first + striped(k);
        values[k] = i < tile.count ? source.v[i] : 0;
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[place_of(places, k)] = values[k];
    barrier();

    target = Words(target_values(tile.problem));
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = k * THREADS + thread_id();
        uint digit = digits[k / 4] >> (k & 3) * 8 & (RADIX - 1);
        if (place < valid) target.v[sh_offsets[digit] + place] = sh_keys[place];
    }
}
