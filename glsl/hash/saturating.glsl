// The sum, or 2^32 - 1 if it is larger. Associative, as the sum itself.
uint add_saturating(uint a, uint b) { return a + min(b, ~a); }
