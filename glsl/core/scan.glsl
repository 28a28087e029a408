// Exclusive scan over BINS values, one for each digit. The workgroup holds them as DIGITS values for each thread:
// thread t has the digits t, t + THREADS, ... below BINS. Threads beyond BINS contribute nothing. There are at least 32
// threads. BINS may be 257.

const uint MAX_DIGITS = 9;
const uint DIGITS = (BINS - 1) / THREADS + 1;

// One partial sum for each subgroup's share of digits; 4 lanes need 64.
shared uint sh_partial_sums[(BINS + 3) / 4];

uint digit_of_thread(uint j) { return j * THREADS + thread_id(); }

void scan_digits(inout uint values[MAX_DIGITS]) {
    uint lanes = lane_count();
    // Few digits belong to one subgroup, which needs no barrier.
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
            // Reads all partial sums, and adds 0 for the later ones: independent loads cost less than a loop that ends
            // early.
            for (uint s = 0; s < (BINS + lanes - 1) / lanes; ++s) before += s < digit / lanes ? sh_partial_sums[s] : 0;
        }
        values[j] = before + inclusive[j] - values[j];
    }
    barrier();
}
