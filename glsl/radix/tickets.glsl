// Tickets of the look-back and the counters of the ring.

Words tickets() { return Words(scratch_part(args.tickets)); }
uint ticket_words() { return pass_digits() * (2 + RING_GROUPS); }
