// What a pass does with a problem, decided on the device.
//
// A pass over a digit that all keys share does nothing. Each pass that sorts takes the items from where the one before has left them: the
// first from the input, the others from the alternate planes or the output's in turn, so that the last move writes the output. Where
// that would begin in the wrong place, or where there is nothing to sort by, a copy is the last move: what comes after the passes, and
// indices, want their planes written even so.

struct Move {
    bool moves;
    bool first;      // reads the input
    bool last;       // writes the output
    bool to_output;  // or to the planes in its place; from the alternate planes then, unless it is the first
    uint turn;       // sorting passes before this one, modulo 2
};

// `shared_digits`: bit d is set where all keys have the same digit d. The pass behind the digits is the copy.
Move move_of_pass(uint shared_digits) {
    uint sorting = ((1u << pass_digits()) - 1) & ~shared_digits;
    uint sorts = bitCount(sorting);
    bool copies = sorts == 0;
    if (has_flag(FLAG_EVEN)) copies = copies || (sorts & 1) != 0;
    if (has_flag(FLAG_ODD)) copies = (sorts & 1) == 0;
    uint moving = copies ? sorting | 1u << pass_digits() : sorting;

    uint before = bitCount(moving & ((1u << pass_index()) - 1));
    uint after = bitCount(moving) - 1 - before;
    Move move;
    move.moves = (moving >> pass_index() & 1) != 0;
    move.first = before == 0;
    move.last = after == 0;
    move.to_output = (after & 1) == 0;
    move.turn = before & 1;
    return move;
}

// What the histogram has found, at the end of it.
uint shared_digits(uint p) {
    if (!has_flag(FLAG_SHARED_DIGITS)) return 0;
    return histogram_of(p).v[pass_digits() * RADIX];
}
