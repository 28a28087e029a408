// The bins that a pass takes items to, in their order.
//
// Of a sort, the values of a digit.

const uint BIN_BITS = RADIX_BITS;
const uint BINS = 1 << BIN_BITS;
