// The digit of a pass: its shift, word, and at most BIN_BITS bits come from the push constants.

// 1 if every digit has RADIX_BITS bits: this saves an instruction for each use of a key.
layout(constant_id = SPEC_FULL_DIGITS) const uint FULL_DIGITS = 0;

uint digit_shift() { return args.digit & 0xff; }
uint digit_word() { return KEY_WORDS == 1 ? 0 : args.digit >> 8 & 0xff; }
uint digit_mask() { return FULL_DIGITS != 0 ? RADIX - 1 : (1u << (args.digit >> 16)) - 1; }
