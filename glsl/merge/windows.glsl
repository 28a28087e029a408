// One level of a merge sort: every FAN consecutive runs (a group) become one run. The output of a group is divided into
// windows. One workgroup merges each window.
//
// Window boundaries come from samples. Every STEP-th item of a run is a sample, beginning with its first item. The
// samples of a group are ranked together, and every SPACING-th sample begins a window.
//
// A window has at most SPACING * STEP + FAN * (STEP - 1) items, which is at most WINDOW:
// - It contains SPACING samples.
// - Each sample stands for at most STEP items of its run.
// - Each run adds at most STEP - 1 items before its first sample in the window.
//
// The merge is stable: of equal keys, those of earlier runs come first.
//
// The includer defines WINDOW, the items that a workgroup can hold. All runs of a problem but the last have the same
// length, which is a multiple of STEP.

layout(constant_id = SPEC_FAN) const uint FAN = 16;
layout(constant_id = SPEC_STEP) const uint STEP = 32;

const uint SPACING = (WINDOW - FAN * (STEP - 1)) / STEP;

// A group of FAN consecutive runs.
struct Group {
    uint index;  // in the problem
    uint first;  // index of its first item in the problem
    uint items;
};

// Items of full runs. With a comparator, a group may be longer than 2^32 - 1: only the last level has such a group.
uint run_items() { return args.run_items; }
#ifdef USER_FUNCTION
uint items_of_runs(uint runs) {
    uint high, low;
    umulExtended(runs, run_items(), high, low);
    return high == 0 ? low : 0xffffffffu;
}
#else
uint items_of_runs(uint runs) { return runs * run_items(); }
#endif

// Items of a full group.
uint group_items() { return items_of_runs(FAN); }

// Number of windows of a group with this many items.
uint window_count(uint items) { return tiles_of(tiles_of(items, STEP), SPACING); }

Group group_at(uint index, uint count) {
    Group group;
    group.index = index;
    group.first = index * group_items();
    group.items = min(group_items(), count - min(count, group.first));
    return group;
}

// Items of run `r` of a group. In the last group of a problem, runs may be short or empty.
uint items_of_run(Group group, uint r) { return min(run_items(), group.items - min(group.items, items_of_runs(r))); }

// Index of a window's row of boundaries: for each run, the number of its items before the window.
uint boundary_row(Group group, uint window) { return (group.index * window_count(group_items()) + window) * FAN; }
