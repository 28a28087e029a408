// Reading keys once, in no particular order, for kernels that only count.

// Keys in flight a thread: enough to cover memory latency, few enough to stay in registers.
const uint BATCH = 8;
const uint BATCH_KEYS = BATCH * THREADS;

uint batch_index(uint first, uint k) { return first + k * THREADS + thread_id(); }

// Keys at or past `end` are left undefined: ask batch_index again before using one.
void load_batch(Words keys, uint first, uint end, out uint batch[BATCH]) {
    [[unroll]] for (uint k = 0; k < BATCH; ++k) {
        uint i = batch_index(first, k);
        if (i < end) batch[k] = keys.v[i];
    }
}
