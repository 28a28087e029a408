// The items of a batch that belong to a workgroup: those of one slice, or of the slices that share an overflow slice.
// Positions are those in the sorted order.

// Most positions that the search for the items leaves undecided at either end. Their hashes are tested anyway.
const uint SLACK = 16;
// Items that a workgroup tests at a time.
const uint CHUNK_ITEMS = 4;
const uint CHUNK = CHUNK_ITEMS * THREADS;

// Positions of items of this workgroup, and their hashes.
shared uint sh_positions[CHUNK];
#ifdef OVERFLOW
shared uint sh_listed;
#else
shared uint sh_hashes[CHUNK];
#endif
shared uint sh_items;
// The range of positions, and the ranges that are left while it is being searched for.
shared uint sh_first[2];
shared uint sh_left[2];
shared uint sh_before[2];

// The sorted hashes of an item. Scratch is aligned to words only.
Words hashes_at(uint position) {
    return Words(advance(scratch_part(args.sorted_hashes), bytes_of(position, HASH_WORDS * 4)));
}

// The first hash of an item.
uint hash_at(uint position) { return hashes_at(position).v[HASH_WORDS - 1]; }

// The second hash of an item with a key of two words.
uint second_hash_at(uint position) { return HASH_WORDS == 1 ? 0 : hashes_at(position).v[0]; }

// Slices of this dispatch that share a workgroup.
#ifdef OVERFLOW
const uint SHARE = OVERFLOW_SHARE;
#else
const uint SHARE = 1;
#endif

// Number of workgroups that have slices. Dispatches may have more.
uint slice_count() { return (args.problem.slices + SHARE - 1) / SHARE; }

// The home slices of the items that this workgroup may have.
uint first_home() { return linear_group() * SHARE; }
uint last_home() { return linear_group() * SHARE + SHARE - 1; }

// Whether an item with this hash belongs to this workgroup.
bool is_own(uint hash) {
    uint home = slice_of(hash);
    return home >= first_home() && home <= last_home();
}

// Finds positions around the hashes that may belong to the slices from first_home() to last_home(): those of their
// first bits, by which they are sorted, and less than SLACK others at either end. Half of the threads search for either
// end.
void find_positions(uint count) {
    const uint SEARCHERS = THREADS / 2;
    uint end = thread_id() / SEARCHERS;
    uint searcher = thread_id() % SEARCHERS;
    uint mask = BEGIN_BIT == 32 ? 0xffffffffu : (1u << (BEGIN_BIT % 32)) - 1;
    // Hashes are distributed evenly: the end is near the same share of all positions. If it is not in the window around
    // there, the first round excludes the window.
    float share = float(end == 0 ? first_home() : last_home() + 1) / float(args.problem.slices);
    float reach = 2 * sqrt(float(count)) + 64;
    float guess = min(share, 1) * float(count);
    uint first = uint(max(guess - reach, 0));
    first = min(first, count);
    uint step = uint(2 * reach) / SEARCHERS + 1;
    uint left = count - first;
    bool is_first_round = true;
    if (searcher == 0) sh_left[end] = left;
    barrier();
    while (is_first_round || max(sh_left[0], sh_left[1]) > SLACK) {
        // The end is in [first, first + left]. Each searcher tests one position; `before` of them lie before the end.
        if (!is_first_round) step = left / (SEARCHERS + 1) + 1;
        barrier();
        if (searcher == 0) sh_before[end] = 0;
        barrier();
        uint tested = (searcher + 1) * step - 1;
        if (tested < left) {
            uint hash = hash_at(first + tested);
            bool is_before = end == 0 ? slice_of(hash | mask) < first_home() : slice_of(hash & ~mask) <= last_home();
            if (is_before) atomicAdd(sh_before[end], 1u);
        }
        barrier();
        uint before = sh_before[end] * step;
        if (is_first_round && before == 0) {
            // The end may be before the window.
            left = first + min(step - 1, left);
            first = 0;
        } else {
            bool is_last = is_first_round && sh_before[end] == SEARCHERS;
            first += before;
            left = is_last ? left - before : min(step - 1, left - before);
        }
        if (searcher == 0) sh_left[end] = left;
        is_first_round = false;
        barrier();
    }
    if (searcher == 0) sh_first[end] = end == 0 ? first : first + left;
    barrier();
}

#ifdef OVERFLOW

// Lists the items of the bits in each thread's word of `spilled`. A word waits for the next call if the list has no
// room for all of its bits. Returns whether all bits of all threads have been listed.
bool list_items(inout uint word, uint base) {
    barrier();
    if (thread_id() == 0) {
        sh_items = 0;
        sh_listed = CHUNK;
    }
    barrier();
    uint bits = bitCount(word);
    uint start = bits == 0 ? 0 : atomicAdd(sh_items, bits);
    bool has_room = start + bits <= CHUNK;
    // Those behind the first one without room have none either.
    if (!has_room) atomicMin(sh_listed, start);
    while (has_room && word != 0) {
        sh_positions[start++] = base + findLSB(word);
        word &= word - 1;
    }
    barrier();
    return sh_items <= CHUNK;
}

#else

// Lists the items of this workgroup among the next CHUNK positions.
void list_items(uint begin, uint end) {
    uint hashes[CHUNK_ITEMS];
    if (thread_id() == 0) sh_items = 0;
    [[unroll]] for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        uint position = begin + k * THREADS + thread_id();
        hashes[k] = position < end ? hash_at(position) : 0;
    }
    barrier();
    [[unroll]] for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        uint position = begin + k * THREADS + thread_id();
        if (position < end && is_own(hashes[k])) {
            uint index = atomicAdd(sh_items, 1u);
            sh_positions[index] = position;
            sh_hashes[index] = hashes[k];
        }
    }
    barrier();
}

#endif
