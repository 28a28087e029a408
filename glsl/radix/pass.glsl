// The pass, in one word of the push constants: PackedPass in src/shared.rs.

#define HAS_PASS

uint pass_index() { return args.pass & 0xff; }
uint pass_digits() { return args.pass >> 8 & 0xff; }
uint pass_rows() { return args.pass >> 16 & 0xff; }
bool has_flag(uint flag) { return (args.pass & flag << 24) != 0; }

uint all_digits() { return (1u << pass_digits()) - 1; }
