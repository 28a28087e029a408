// Bins of a pass, and the functions that map a key to its bin.
//
// Sort: one bin for each value of a digit. If a sort has a single digit of fewer bits, it has fewer bins.
// Split: one bin for each bucket. If items may have no bucket, one more bin after these.

layout(constant_id = SPEC_BINS) const uint BINS = RADIX;
layout(constant_id = SPEC_FUNCTION) const uint FUNCTION = FUNCTION_DIGIT;

// Number of bits of a bin index.
const uint BIN_BITS = BINS > 256 ? 9
    : BINS > 128 ? 8
    : BINS > 64 ? 7
    : BINS > 32 ? 6
    : BINS > 16 ? 5
    : BINS > 8 ? 4
    : BINS > 4 ? 3
    : BINS > 2 ? 2
    : 1;
const uint BIN_MASK = (1u << BIN_BITS) - 1;

// Look-back descriptors of a tile. Rows are at least a cache line long, so that workgroups that read the rows of
// neighboring tiles do not all read the same part of memory.
const uint LOOK_BACK_ROW = BINS < LEAST_LOOK_BACK_ROW ? LEAST_LOOK_BACK_ROW : BINS;

// The bins of FUNCTION_RANGE for the current problem. src/split/range.rs computes them; src/shared.rs explains the
// members.
KeyRange bin_range = KeyRange(0, 0, 0, 0);

// Returns the bin of a key. `shift`, `mask`: the digit or field. PAD is in the last bin that a key can be in.
uint bin_of(uint key, uint shift, uint mask) {
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
