// The kernel partition.comp, without its declarations.

const uint SAMPLES = THREADS / FAN;

// Rank of each sample of the workgroup among all samples of its group.
shared uint sh_ranks[SAMPLES];

// Loads the compared words of an item of the problem.
void load_compared(uint p, uint count, uint index, out uint item[MERGED_WORDS]) {
    item[MERGED_WORDS - 1] = 0;
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        item[w] = Words(intermediate_plane(p, FIRST_WORD + w, level_io(false).to_output, count)).v[index];
    }
}

// Every `step`-th item of a run, from item `first` of the problem on.
struct StridedRun {
    uint problem;
    uint count;  // items in the problem
    uint first;
    uint step;
    bool earlier;  // whether the run is before the run of the key that is searched
};

// Returns the number of these items that precede `key` in the merge: between `low` and `high`.
uint count_preceding(StridedRun run, uint key[MERGED_WORDS], uint low, uint high) {
    while (low < high) {
        uint middle = (low + high) / 2;
        uint item[MERGED_WORDS];
        load_compared(run.problem, run.count, run.first + middle * run.step, item);
        bool precedes = run.earlier ? !comes_after(item, key) : comes_after(key, item);
        if (precedes) low = middle + 1;
        else high = middle;
    }
    return low;
}

void main() {
    uint p = linear_group() / args.groups;
    if (p >= args.problem_count) return;
    uint count = requested_count(p);
    uint first_sample = linear_group() % args.groups * SAMPLES;
    if (first_sample >= tiles_of(count, STEP)) return;

    // The sample and the run of this thread.
    uint own_sample = thread_id() % SAMPLES;
    uint r = thread_id() / SAMPLES;
    uint sample_index = (first_sample + own_sample) * STEP;
    bool has_sample = sample_index < count;
    Group group = group_at(sample_index / group_items(), count);
    uint items = items_of_run(group, r);
    uint first = group.first + r * run_items();
    StridedRun run = StridedRun(p, count, first, STEP, first < sample_index);
    uint key[MERGED_WORDS];
    if (has_sample) load_compared(p, count, sample_index, key);

    // 1. Rank the sample: count the samples of each run that precede it.
    if (thread_id() < SAMPLES) sh_ranks[thread_id()] = 0;
    barrier();
    bool is_own_run = sample_index - first < items;
    uint samples_before = (sample_index - first) / STEP;
    if (!is_own_run) samples_before = has_sample ? count_preceding(run, key, 0, tiles_of(items, STEP)) : 0;
    atomicAdd(sh_ranks[own_sample], samples_before);
    barrier();
    uint rank = sh_ranks[own_sample];
    if (!has_sample || rank % SPACING != 0) return;

    // 2. Count the items of the run before the window: the last preceding sample and some of the items up to the next.
    uint items_before = sample_index - first;
    run.step = 1;
    if (!is_own_run) {
        items_before = samples_before == 0
            ? 0
            : count_preceding(run, key, (samples_before - 1) * STEP + 1, min(samples_before * STEP, items));
    }
    tile_words_of(p).v[boundary_row(group, rank / SPACING) + r] = items_before;
}
