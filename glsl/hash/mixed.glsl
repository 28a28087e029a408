// The elements of a mixed batch: each is an operation, as a function of what the table has for a key.
//
// An element is a word: the opcode in the upper two bits, then the index of the item. A sequence of such operations on
// one key has the effect of a single one, which the scan of a batch computes: compose() is associative.

uint opcode_of(uint element) { return element >> OPCODE_SHIFT; }
uint index_of(uint element) { return element & ((1u << OPCODE_SHIFT) - 1); }
uint element_of(uint opcode, uint index) { return opcode << OPCODE_SHIFT | index; }

// The neutral element.
const uint NO_CHANGE = OPCODE_FIND << OPCODE_SHIFT;

// Whether the caller wants to know what the table has.
bool wants_results() { return !is_null(args.problem.values_out) || !is_null(args.problem.found); }

// The operation that has the effect of two, the first one before the second.
uint compose(uint first, uint second) {
    uint opcode = opcode_of(second);
    if (opcode == OPCODE_FIND) return first;
    if (opcode != OPCODE_INSERT) return second;
    // The table keeps a value that it has. Behind an erasure, it has none.
    if (opcode_of(first) == OPCODE_FIND) return second;
    if (opcode_of(first) == OPCODE_ERASE) return element_of(OPCODE_ASSIGN, index_of(second));
    return first;
}
