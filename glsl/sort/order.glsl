// A tile that stays with its workgroup, ordered by one digit: keys to their places in sh_keys, places told for what they carry.
void order_by_digit(uint keys[ITEMS], Digit digit, out uint places[PLACE_WORDS]) {
    uint mask = (1u << digit.bits) - 1;
    begin_digit(digit.shift);
    barrier();
    count_digits(keys, digit.shift, mask);
    barrier();
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    scan_digits(totals);
    place_rows(totals);
    barrier();
    rank_keys(keys, mask, places);
    barrier();
}
