// Source and target of a pass, decided on the device (ping-pong).
//
// A pass over a constant digit is skipped. The other passes alternate between two sets of planes: the first reads the
// input, the last writes the output. If the parity of the passes does not end in the output, or if no digit is left, a
// copy is the last pass. Passes after the digits and index values also require planes in place, and so a copy.
//
// A sort by prefixes (choose.comp) sorts only by the topmost digits. Its last pass sorts items with equal prefixes
// (finish.comp).

struct PassIo {
    bool is_active;
    bool first;      // reads the input
    bool last;       // writes the output
    bool to_output;  // or to the planes in its place; from the alternate planes then, unless it is the first
    uint parity;       // sorting passes before this one, modulo 2
};

bool by_prefixes(uint skipped_digits) { return PREFIXES && (skipped_digits & PASSED_OVER_PREFIXES) != 0; }

// `skipped_digits`: bit d is set if no pass sorts by digit d. A pass index equal to the number of digits is the final
// copy, if there is one.
PassIo pass_io(uint skipped_digits) {
    uint sorting = all_digits() & ~skipped_digits;
    uint sorts = bitCount(sorting);
    bool copies = sorts == 0 || by_prefixes(skipped_digits);
    if (has_flag(FLAG_EVEN)) copies = copies || (sorts & 1) != 0;
    if (has_flag(FLAG_ODD)) copies = (sorts & 1) == 0;
    uint moving = copies ? sorting | 1u << pass_digits() : sorting;

    uint before = bitCount(moving & ((1u << pass_index()) - 1));
    uint after = bitCount(moving) - 1 - before;
    PassIo io;
    io.is_active = (moving >> pass_index() & 1) != 0;
    io.first = before == 0;
    io.last = after == 0;
    io.to_output = (after & 1) == 0;
    io.parity = before & 1;
    return io;
}

// Loads the digits that the histogram or choose.comp has marked as skipped.
uint load_skipped_digits(uint p) { return has_flag(FLAG_PASSES_OVER) ? skipped_digits_words(p).v[0] : 0; }

// Merge sorts: the first pass sorts runs, the others merge them.
PassIo level_io() {
    uint after = pass_digits() - pass_index();
    PassIo io;
    io.first = pass_index() == 0;
    io.last = after == 0;
    io.to_output = (after & 1) == 0;
    return io;
}

// A single pass, from the input to the output.
PassIo input_to_output() {
    PassIo io;
    io.first = true;
    io.last = true;
    io.to_output = true;
    return io;
}
