// Counters of digits in shared memory, RADIX in a row.
//
// Shared memory has 32 banks on the devices that this is for, and lanes that want different words of one bank wait for one another. Keys of
// low entropy have digits of few bits, and keys that rise evenly digits that are multiples of a power of two: in the order of their numbers,
// eight such counters would lie in one bank. So those that are multiples of 32 apart are sent to different banks, by patterns of two bits or
// more, which meet no digit of one. The order is its own inverse.
uint counter_word(uint counter) { return counter ^ ((counter >> 5) * 11 & 31); }
