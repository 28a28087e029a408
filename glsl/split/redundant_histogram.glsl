// Redundant histogram: a workgroup counts all items of the problem by itself. For few items this takes less time than
// waiting for a pass that counts.
//
// Includes before: radix/input.glsl.

// Counters of each bin, for the items before and after the workgroup's own. Neighboring threads use different copies,
// in different banks.
const uint COPIES_THAT_FIT = 512 / BINS;
const uint COPIES = COPIES_THAT_FIT > 8 ? 8 : COPIES_THAT_FIT;
shared uint sh_recounted[2 * BINS * COPIES];

// Items in flight for each thread.
const uint BATCH = 8;

// The items of a problem, without some consecutive ones.
struct Rest {
    uint problem;
    uint count;  // items of the problem
    uint first;  // the first that is left out
    uint items;  // and how many are
};

void clear_recount() {
    for (uint i = thread_id(); i < sh_recounted.length(); i += THREADS) sh_recounted[i] = 0;
}

// Loads each thread's items of a batch.
void load_batch(Rest rest, uint from, out uint keys[BATCH]) {
    uint word = KEY_WORDS == 1 ? 0 : args.digit >> 8 & 0xff;
    Plane plane = key_plane(rest.problem, word);
    [[unroll]] for (uint k = 0; k < BATCH; ++k) {
        uint i = from + k * THREADS + thread_id();
        if (i >= rest.count) continue;
        if (!KEYS_ARE_PLANES) keys[k] = load_encoded(rest.problem, word, i);
        else keys[k] = ENCODES ? encode_top(Words(plane.base).v[i]) : Words(plane.base).v[i];
    }
}

void count_batch(Rest rest, uint from, uint keys[BATCH]) {
    uint mask = (1u << (args.digit >> 16)) - 1;
    [[unroll]] for (uint k = 0; k < BATCH; ++k) {
        uint i = from + k * THREADS + thread_id();
        if (i >= rest.count || i - rest.first < rest.items) continue;
        uint counter = bin_of(keys[k], args.digit & 0xff, mask) + (i < rest.first ? 0 : BINS);
        atomicAdd(sh_recounted[counter * COPIES + thread_id() % COPIES], 1);
    }
}

// Returns the number of items of a bin before (0) or after (1) those that were left out. Barrier before: all threads
// have counted.
uint recounted(uint side, uint bin) {
    uint count = 0;
    // Each thread begins in a different bank.
    [[dont_unroll]] for (uint copy = 0; copy < COPIES; ++copy) {
        count += sh_recounted[(side * BINS + bin) * COPIES + (copy + thread_id()) % COPIES];
    }
    return count;
}
