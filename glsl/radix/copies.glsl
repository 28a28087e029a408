// A histogram in shared memory, of COUNTED digits: a number that the includer defines. For a single digit, it is
// privatized: every counter has COPIES copies.
//
// Neighboring threads increment different copies, which are in different banks. So only a few lanes increment the same
// counter at a time, whatever the keys are.

// Number of copies of each counter.
layout(constant_id = SPEC_HISTOGRAMS) const uint COPIES = 1;

// Rounded up to whole rows of banks: see counter_word in core/counters.glsl.
const uint COUNTER_WORDS = (COUNTED * BINS * COPIES + 31) / 32 * 32;
// The counters are followed by those of the prefix bins.
shared uint sh_histogram[COUNTER_WORDS + (PREFIXES ? PREFIX_BINS : 0)];

void clear_counts() {
    for (uint i = thread_id(); i < sh_histogram.length(); i += THREADS) sh_histogram[i] = 0;
}

// Returns the index of the copy that this thread increments.
uint own_counter(uint counter) { return COPIES == 1 ? counter_word(counter) : counter * COPIES + thread_id() % COPIES; }

// Returns the sum of all copies of a counter.
uint count_of(uint counter) {
    if (COPIES == 1) return sh_histogram[counter_word(counter)];
    uint count = 0;
    // Each thread begins in a different bank.
    for (uint copy = 0; copy < COPIES; ++copy) count += sh_histogram[counter * COPIES + (copy + thread_id()) % COPIES];
    return count;
}
