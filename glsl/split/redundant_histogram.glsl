// Redundant histogram: every workgroup counts all items of the problem by itself. For few items, this takes less time
// than waiting for a counting pass.
//
// A workgroup leaves out the items of its own tile, which it counts during ranking. Items before and after these are
// counted separately: the first give the prefix of the tile, all together the starts of the bins.
//
// Includes before: radix/input.glsl.

// The histogram is privatized: it has COPIES copies. Neighboring threads increment different copies, in different
// banks.
const uint COPIES_THAT_FIT = 512 / BINS;
const uint COPIES = COPIES_THAT_FIT > 8 ? 8 : COPIES_THAT_FIT;
// Counters [side][bin][copy]. Side 0: items before the workgroup's own; side 1: items after these.
shared uint sh_redundant_counts[2 * BINS * COPIES];

// Items in flight for each thread.
const uint BATCH = 8;

// All items of a problem except the workgroup's own.
struct OtherItems {
    uint problem;
    uint count;      // items of the problem
    uint own_first;  // index of the first item that is left out
    uint own_items;  // number of items that are left out
};

void clear_redundant_histogram() {
    for (uint i = thread_id(); i < sh_redundant_counts.length(); i += THREADS) sh_redundant_counts[i] = 0;
}

// Loads the word with the digit of a batch: BATCH * THREADS items from index `from` on.
void load_batch(OtherItems others, uint from, out uint keys[BATCH]) {
    uint word = KEY_WORDS == 1 ? 0 : args.digit >> 8 & 0xff;
    Plane plane = key_plane(others.problem, word);
    [[unroll]] for (uint k = 0; k < BATCH; ++k) {
        uint i = from + k * THREADS + thread_id();
        if (i >= others.count) continue;
        if (!KEYS_ARE_PLANES) keys[k] = load_encoded(others.problem, word, i);
        else keys[k] = ENCODES ? encode_top(Words(plane.base).v[i]) : Words(plane.base).v[i];
    }
}

// Counts the items of a batch, without those that are left out.
void count_batch(OtherItems others, uint from, uint keys[BATCH]) {
    uint mask = (1u << (args.digit >> 16)) - 1;
    [[unroll]] for (uint k = 0; k < BATCH; ++k) {
        uint i = from + k * THREADS + thread_id();
        if (i >= others.count || i - others.own_first < others.own_items) continue;
        uint counter = bin_of(keys[k], args.digit & 0xff, mask) + (i < others.own_first ? 0 : BINS);
        atomicAdd(sh_redundant_counts[counter * COPIES + thread_id() % COPIES], 1);
    }
}

// Returns the number of items in a bin on one side. Barrier before: all threads have counted.
uint redundant_count(uint side, uint bin) {
    uint count = 0;
    // Each thread begins in a different bank.
    [[dont_unroll]] for (uint copy = 0; copy < COPIES; ++copy) {
        count += sh_redundant_counts[(side * BINS + bin) * COPIES + (copy + thread_id()) % COPIES];
    }
    return count;
}
