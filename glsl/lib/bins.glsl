// The bins that a pass takes items to, in their order: of a sort, the values of a digit, or, where there is but one and that has fewer bits,
// as many as it can have.

layout(constant_id = SPEC_BINS) const uint BINS = RADIX;

// Bits of a bin's number.
const uint BIN_BITS =
    BINS > 256 ? 9 : BINS > 128 ? 8 : BINS > 64 ? 7 : BINS > 32 ? 6 : BINS > 16 ? 5 : BINS > 8 ? 4 : BINS > 4 ? 3 : BINS > 2 ? 2 : 1;
const uint BIN_MASK = (1u << BIN_BITS) - 1;
