// Exclusive sum over BINS values, one for each digit, held by the workgroup as DIGITS values a thread: thread t holds the
// digits t, t + THREADS, ... below BINS. Threads past BINS take part with nothing. There are 32 threads or more, and BINS may be one more than a digit has values.

const uint MAX_DIGITS = 9;
const uint DIGITS = (BINS - 1) / THREADS + 1;

// One partial sum for each subgroup's worth of digits; 4 lanes make 64 of them.
shared uint sh_partial_sums[(BINS + 3) / 4];

uint digit_of_thread(uint j) { return j * THREADS + thread_id(); }

void scan_digits(inout uint values[MAX_DIGITS]) {
    uint lanes = lane_count();
    // Few digits are one subgroup's, which waits for no other.
    if (BINS <= lanes) {
        values[0] = inclusive_add(thread_id() < BINS ? values[0] : 0) - values[0];
        return;
    }
    uint inclusive[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        inclusive[j] = inclusive_add(digit < BINS ? values[j] : 0);
        if (digit < BINS && lane_id() == lanes - 1) sh_partial_sums[digit / lanes] = inclusive[j];
    }
    barrier();
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        uint before = 0;
        if (digit < BINS) {
            // All of them: those that count nothing cost less than waiting for one after the other.
            for (uint s = 0; s < (BINS + lanes - 1) / lanes; ++s) before += s < digit / lanes ? sh_partial_sums[s] : 0;
        }
        values[j] = before + inclusive[j] - values[j];
    }
    barrier();
}
