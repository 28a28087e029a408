// Tickets, one atomic counter for each pass: each tile of a look-back pass takes the next number. After them, the tails
// and group counters of the ring (core/lookback.glsl).

Words tickets() { return Words(scratch_part(args.tickets)); }
uint ticket_words() { return pass_digits() * (2 + RING_GROUPS); }
