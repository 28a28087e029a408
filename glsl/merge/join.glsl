// The kernel join.comp, without its declarations.

// The part of each run in the window: the number of items of the run before it, its size, and its first position in
// shared memory. The last start is the total. Position + source delta = index of the item in the group.
shared uint sh_items_before[FAN];
shared uint sh_sizes[FAN];
shared uint sh_starts[FAN + 1];
shared uint sh_source_deltas[FAN];
// Index of the window in the output of the group: the items of all runs before it.
shared uint sh_window_first;

// Loads the boundaries of the window and computes where the parts of the runs begin. Barrier after.
void find_parts(uint p, Group group, uint window) {
    uint r = thread_id();
    if (r < FAN) {
        Words boundaries = tile_words_of(p);
        uint row = boundary_row(group, window);
        bool last = window + 1 == window_count(group.items);
        uint end = last ? items_of_run(group, r) : boundaries.v[row + FAN + r];
        sh_items_before[r] = boundaries.v[row + r];
#ifdef USER_FUNCTION
        // If the comparator is no order, boundaries may be missing, or leave their runs.
        end = min(end, items_of_run(group, r));
        sh_items_before[r] = min(sh_items_before[r], end);
#endif
        sh_sizes[r] = end - sh_items_before[r];
    }
    barrier();
    if (r > FAN) return;
    uint start = 0;
    uint before = 0;
    for (uint i = 0; i < r; ++i) {
        start += sh_sizes[i];
        before += sh_items_before[i];
    }
#ifdef USER_FUNCTION
    // Nor need the parts fit the window.
    start = min(start, WINDOW);
#endif
    sh_starts[r] = start;
    if (r < FAN) sh_source_deltas[r] = r * run_items() + sh_items_before[r] - start;
    else sh_window_first = before;
}

// Returns the run of the item at a position in shared memory.
uint run_of(uint position) {
    uint r = 0;
    [[unroll]] for (uint step = FAN / 2; step > 0; step /= 2) {
        if (sh_starts[r + step] <= position) r += step;
    }
    return r;
}

// Loads the parts of all runs into shared memory, with coalesced accesses.
void load_window(Part part, PassIo io) {
    [[dont_unroll]] for (uint first = 0; first < ITEMS && first * THREADS < part.items; first += LOADS) {
        // Relative to part.first, so some are negative. They wrap, and wrap back when part.first is added.
        uint sources[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            uint position = min(striped(first + k), part.items - 1);
            sources[k] = position + sh_source_deltas[run_of(position)] - sh_window_first;
        }
        stage_items(part, io, first, sources);
    }
}

// Two neighboring sorted ranges of shared memory that are merged: [a, b) and [b, end).
struct Pair {
    uint a;
    uint b;
    uint end;
};

// Returns the pair that contains a position. `runs`: the number of runs in each range.
Pair pair_at(uint position, uint runs) {
    uint r = run_of(position) & ~(2 * runs - 1);
    Pair pair;
    pair.a = sh_starts[r];
    pair.b = sh_starts[r + runs];
    pair.end = sh_starts[r + 2 * runs];
    return pair;
}

// Merges all pairs of ranges of `runs` runs. Returns this thread's positions and their merged items. The positions of a
// thread may lie in several pairs.
Positions merge_pairs(uint runs, uint count, out uint items[ITEMS_WORDS]) {
    Positions own = own_positions(count);
    if (own.first >= own.end) return own;
    Pair pair = pair_at(own.first, runs);
    uint diagonal = own.first - pair.a;
    uint from_a = co_rank(diagonal, pair.a, pair.b - pair.a, pair.b, pair.end - pair.b);
    uint a_next = pair.a + from_a;
    uint b_next = pair.b + (diagonal - from_a);
    uint item_a[MERGED_WORDS];
    uint item_b[MERGED_WORDS];
    load_item(a_next, item_a);
    load_item(b_next, item_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = own.first + k;
        if (position >= own.end) continue;
        if (position == pair.end) {
            pair = pair_at(position, runs);
            a_next = pair.a;
            b_next = pair.b;
            load_item(a_next, item_a);
            load_item(b_next, item_b);
        }
        bool takes_b = b_next < pair.end && (a_next >= pair.b || comes_after(item_a, item_b));
        [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
            items[k * MERGED_WORDS + w] = takes_b ? item_b[w] : item_a[w];
        }
        take_item(takes_b, a_next, b_next, count - 1, item_a, item_b);
    }
    return own;
}

void main() {
    uint p = linear_group() / args.groups;
    if (p >= args.problem_count) return;
    uint windows = window_count(group_items());
    uint index = linear_group() % args.groups;
    uint count = requested_count(p);
    Group group = group_at(index / windows, count);
    uint window = index % windows;
    if (window >= window_count(group.items)) return;

    // 1. Find the part of each run in the window.
    find_parts(p, group, window);
    barrier();
    // `part`: the window's range of the output.
    Part part;
    part.problem = p;
    part.count = count;
    part.first = group.first + sh_window_first;
    part.items = sh_starts[FAN];

    // 2. Load the parts into shared memory.
    PassIo io = level_io(false);
    load_window(part, io);
    barrier();

    // 3. Merge them pairwise until one is left.
    uint items[ITEMS_WORDS];
    for (uint runs = 1; runs < tiles_of(group.items, run_items()); runs *= 2) {
        Positions own = merge_pairs(runs, part.items, items);
        barrier();
        store_items(items, own);
        barrier();
    }

    // 4. Store the window.
    store_merged(part, io);
}
