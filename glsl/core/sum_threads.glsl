// Exclusive scan of one value for each thread of the workgroup, without subgroups. Kernels that need no other subgroup
// function use it, and so need no variant for emulated subgroups.

shared uint sh_sums[THREADS];

uint sum_threads(uint value, out uint total) {
    uint thread = thread_id();
    sh_sums[thread] = value;
    for (uint step = 1; step < THREADS; step *= 2) {
        barrier();
        uint add = thread >= step ? sh_sums[thread - step] : 0;
        barrier();
        sh_sums[thread] += add;
    }
    barrier();
    total = sh_sums[THREADS - 1];
    uint exclusive = sh_sums[thread] - value;
    barrier();
    return exclusive;
}
