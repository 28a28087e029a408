// Counters of digits in shared memory, RADIX in a row.
//
// Shared memory has 32 banks on the devices that this is for, and lanes that want different words of one bank wait for one another. Keys of
// low entropy have digits of few bits, and keys that rise evenly digits that are multiples of a power of two: in the order of their numbers,
// eight such counters would lie in one bank. Here the digits of one bit and zero lie in nine banks, and the multiples of 8 in all 32. The
// order is its own inverse, and no counter leaves its 32.
uint counter_word(uint counter) { return counter ^ ((counter >> 5) * 11 & 31); }

// The same done to the digit in a key, whose bits are `mask`, `shift` from the lowest: the number of its counter's word takes its place.
uint swizzle_digit(uint key, uint shift, uint mask) {
    return key ^ ((key >> 5 & mask >> 5 << shift) * 11 & 31u << shift);
}
