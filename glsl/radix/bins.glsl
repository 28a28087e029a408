// The bins that a pass takes items to, in their order: of a sort, the values of a digit, or, where there is but one and that has fewer bits,
// as many as it can have; of a split, its buckets, and behind them one for what belongs to none.

layout(constant_id = SPEC_BINS) const uint BINS = RADIX;
layout(constant_id = SPEC_FUNCTION) const uint FUNCTION = FUNCTION_DIGIT;

// Bits of a bin's number.
const uint BIN_BITS =
    BINS > 256 ? 9 : BINS > 128 ? 8 : BINS > 64 ? 7 : BINS > 32 ? 6 : BINS > 16 ? 5 : BINS > 8 ? 4 : BINS > 4 ? 3 : BINS > 2 ? 2 : 1;
const uint BIN_MASK = (1u << BIN_BITS) - 1;

// Look-back words of a tile: a line of memory at least, so that those who look at neighbouring tiles do not all ask the same part of it.
const uint LOOK_BACK_ROW = BINS < LEAST_LOOK_BACK_ROW ? LEAST_LOOK_BACK_ROW : BINS;

// The ranges of the current problem. src/split/range.rs computes them.
KeyRange bin_range = KeyRange(0, 0, 0, 0);

// The largest key, and with it every pad, belongs to the last bin that any key can belong to.
uint bin_of(uint key, uint shift, uint mask) {
    // With two bins, the last key of the first one suffices.
    if (FUNCTION == FUNCTION_RANGE && BINS == 2) return key > bin_range.first ? 1 : 0;
    if (FUNCTION == FUNCTION_RANGE) {
        uint distance = clamp(key, bin_range.first, bin_range.last) - bin_range.first + (bin_range.shift >> 5);
        uint high, low;
        umulExtended(distance, bin_range.multiplier, high, low);
        return high >> (bin_range.shift & 31);
    }
    uint digit = key >> shift & mask;
    return FUNCTION == FUNCTION_FIELD ? min(digit, BINS - 1) : digit;
}
