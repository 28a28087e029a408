// Decides source and target of a pass on the device (ping-pong).
//
// A pass over a constant digit is skipped. The other passes alternate between two sets of planes: the first reads the
// input, the last writes the output. If the parity of the passes does not end in the output, or if no digit is left, a
// copy is the last pass. Passes after the digits and index values also require planes in place, and so a copy.
//
// A sort by prefixes (sort/choose_prefix_path.comp) sorts only by the topmost digits. Its last pass sorts items with
// equal prefixes (sort/equal_prefixes.comp).

bool by_prefixes(uint skipped_digits) { return PREFIXES && (skipped_digits & SORTED_BY_PREFIXES) != 0; }

// `skipped_digits`: bit d is set if no pass sorts by digit d. A pass index equal to the number of digits is the final
// copy, if there is one.
PassIo pass_io(uint skipped_digits) {
    uint sorting = all_digits() & ~skipped_digits;
    uint passes = bitCount(sorting);
    bool copies = passes == 0 || by_prefixes(skipped_digits);
    if (has_flag(FLAG_EVEN)) copies = copies || (passes & 1) != 0;
    if (has_flag(FLAG_ODD)) copies = (passes & 1) == 0;
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
