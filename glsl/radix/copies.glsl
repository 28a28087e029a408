// Counters in shared memory for COUNTED digits, which the includer defines. A single digit has several copies of each
// counter.
//
// Neighboring threads use different copies, which are in different banks: only a few lanes increment the same counter,
// whatever the keys are.

// Of one digit, so many neighbouring threads have counters of their own, which lie in banks of their own: whatever the keys are, no more than a
// few lanes meet in one.
layout(constant_id = SPEC_HISTOGRAMS) const uint COPIES = 1;

// Padded rows of counters: see core/counters.glsl.
const uint COUNTER_WORDS = (COUNTED * BINS * COPIES + 31) / 32 * 32;
// The bins of prefixes follow.
shared uint sh_histogram[COUNTER_WORDS + (PREFIXES ? PREFIX_BINS : 0)];

void clear_counts() {
    for (uint i = thread_id(); i < sh_histogram.length(); i += THREADS) sh_histogram[i] = 0;
}

uint own_counter(uint counter) { return COPIES == 1 ? counter_word(counter) : counter * COPIES + thread_id() % COPIES; }

uint count_of(uint counter) {
    if (COPIES == 1) return sh_histogram[counter_word(counter)];
    uint count = 0;
    // Each thread begins in a different bank.
    for (uint copy = 0; copy < COPIES; ++copy) count += sh_histogram[counter * COPIES + (copy + thread_id()) % COPIES];
    return count;
}
