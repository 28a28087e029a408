// What a pass does with a problem, decided on the device.
//
// A pass over a digit that all keys share does nothing. Each pass that sorts takes the items from where the one before has left them: the
// first from the input, the others from the alternate planes or the output's in turn, so that the last move writes the output. Where
// that would begin in the wrong place, or where there is nothing to sort by, a copy is the last move: what comes after the passes, and
// indices, want their planes written even so.
//
// Where it has been chosen (choose.comp), passes sort by prefixes alone, and the last move orders what has the same (finish.comp).

struct Move {
    bool moves;
    bool first;      // reads the input
    bool last;       // writes the output
    bool to_output;  // or to the planes in its place; from the alternate planes then, unless it is the first
    uint turn;       // sorting passes before this one, modulo 2
};

bool by_prefixes(uint passed_over) { return PREFIXES && (passed_over & PASSED_OVER_PREFIXES) != 0; }

// `passed_over`: bit d is set where no pass sorts by digit d. The pass behind the digits is the last move where one is left.
Move move_of_pass(uint passed_over) {
    uint sorting = all_digits() & ~passed_over;
    uint sorts = bitCount(sorting);
    bool copies = sorts == 0 || by_prefixes(passed_over);
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

// What the histogram has found, or what has been chosen.
uint passed_over_by(uint p) { return has_flag(FLAG_PASSES_OVER) ? passed_over_of(p).v[0] : 0; }

// Of a sort by merging: the first sorts runs, and each of the others makes fewer and longer ones of them.
Move move_of_level() {
    uint after = pass_digits() - pass_index();
    Move move;
    move.first = pass_index() == 0;
    move.last = after == 0;
    move.to_output = (after & 1) == 0;
    return move;
}

// Where there is one move alone, whatever the digits are.
Move from_input_to_output() {
    Move move;
    move.first = true;
    move.last = true;
    move.to_output = true;
    return move;
}
