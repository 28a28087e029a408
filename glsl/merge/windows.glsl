// A level of a sort by merging: of every FAN neighbouring runs, a group, one is made, window by window.
//
// Of the items of a run every STEP-th is a sample, the first one too. In the order of all samples of a group every SPACING-th begins a window.
// Between two of those are SPACING samples, and of each run at most STEP items for each of its samples and STEP - 1 before the first: so no
// window has more than SPACING * STEP + FAN * (STEP - 1) items, which is what a workgroup has room for, whatever the keys are.
//
// Items that compare equal keep their order: those of the runs before go first.
//
// Before it: WINDOW, what a workgroup has room for. Runs are as long as the push constants say, a multiple of STEP, but for the last of a
// problem.

layout(constant_id = SPEC_FAN) const uint FAN = 16;
layout(constant_id = SPEC_STEP) const uint STEP = 32;

const uint SPACING = (WINDOW - FAN * (STEP - 1)) / STEP;

struct Group {
    uint index;  // in its problem
    uint first;  // item of the problem
    uint items;
};

uint run_items() { return args.run_items; }
uint group_items() { return FAN * run_items(); }

// Windows of so many items, and of every group but the last.
uint windows_of(uint items) { return tiles_of(tiles_of(items, STEP), SPACING); }

Group group_at(uint index, uint count) {
    Group group;
    group.index = index;
    group.first = index * group_items();
    group.items = min(group_items(), count - min(count, group.first));
    return group;
}

// Items of run r, which may be none.
uint items_of_run(Group group, uint r) { return min(run_items(), group.items - min(group.items, r * run_items())); }

// Items of each run before the first of a window.
uint row_of(Group group, uint window) { return (group.index * windows_of(group_items()) + window) * FAN; }
