// Swizzle of digit counters in shared memory. A row has RADIX counters.
//
// Shared memory has 32 banks on the devices that this is for. Lanes that access different words of one bank wait for
// one another. Common key sets use few digits: digits with a single bit set, or multiples of a power of two. In
// numerical order, eight of the counters of such a set would share a bank. With the swizzle, zero and the digits with
// one bit are in nine banks, and the multiples of 8 are in all 32.
//
// The swizzle is its own inverse, and each counter stays in its block of 32.
uint counter_word(uint counter) { return counter ^ ((counter >> 5) * 11 & 31); }

// Replaces the digit in a key by the index of its counter. The digit is the bits `mask` << `shift` of the key.
uint swizzle_digit(uint key, uint shift, uint mask) {
    return key ^ ((key >> 5 & mask >> 5 << shift) * 11 & 31u << shift);
}
