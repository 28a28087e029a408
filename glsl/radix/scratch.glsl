// Parts of scratch. Their offsets are in units of 256 bytes.

uvec2 scratch_part(uint part) { return advance(args.scratch, uvec2(part << 8, part >> 24)); }

// Parts of a row of counts.
const uint PARTS_A_DIGIT = RADIX * 4 / 256;
