// Exclusive scan over the threads of a workgroup, without subgroups. (Hillis and Steele, "Data parallel algorithms",
// 1986.)

// Double buffer of partial sums.
shared uint sh_sums[2 * THREADS];

// Returns the sum of `value` over the preceding threads, and the sum over all threads. The whole workgroup must call
// it. A barrier must precede another call.
uint exclusive_sum(uint value, out uint total) {
    uint row = 0;
    uint sum = value;
    sh_sums[thread_id()] = sum;
    for (uint distance = 1; distance < THREADS; distance *= 2) {
        barrier();
        if (thread_id() >= distance) sum += sh_sums[row + thread_id() - distance];
        row = THREADS - row;
        sh_sums[row + thread_id()] = sum;
    }
    barrier();
    total = sh_sums[row + THREADS - 1];
    return sum - value;
}
