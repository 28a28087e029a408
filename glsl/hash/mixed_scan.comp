// Segmented scan of the elements of a mixed batch. A segment is the elements of one key, in the order of the batch.
//
// In:  in scratch: the elements and the identities of their keys, sorted by these; for each tile, the exclusive prefix:
//      the composition of the elements in the tiles before it, of the segment that goes on; a bit for each item:
//      whether the table has its key; the values of the batch, and the keys, if they have more than two words; their
//      count, if it is in device memory.
// Out: in scratch: before[i]: the composition of the elements of its key before item i, if it changes something and the
//      caller wants results; for each position in the sorted order, a bit: whether its key is erased, and another one:
//      whether a value is assigned to it. Only the last element of a key has bits. At positions with a bit, the key,
//      and the value that is assigned.
// REDUCE: reads elements, identities and the count. Out: in scratch: for each tile, its aggregate: the composition of
//      the elements of its last segment, and a head flag: whether this segment begins in the tile.
// SPINE: replaces the aggregates of all tiles by exclusive prefixes.
// Workgroups: one for each tile of THREADS * ITEMS elements at the maximum count. SPINE: one.
// Memory order: inputs come from earlier dispatches. Each invocation of SPINE reads what it overwrites.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashMixedPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;
const uint TILE = THREADS * ITEMS;

#include "radix/scratch.glsl"
#include "hash/count.glsl"
#include "hash/mixed.glsl"

// The aggregate of a range of elements: the composition of those of its last segment, and a head flag: whether this
// segment begins in the range.
struct Aggregate {
    uint element;
    bool has_head;
};

Aggregate join(Aggregate first, Aggregate second) {
    if (second.has_head) return second;
    return Aggregate(compose(first.element, second.element), first.has_head);
}

shared uint sh_elements[THREADS];
shared uint sh_heads[THREADS];

// Shows the aggregate of this thread to the others.
void store_aggregate(Aggregate aggregate) {
    sh_elements[thread_id()] = aggregate.element;
    sh_heads[thread_id()] = aggregate.has_head ? 1 : 0;
    barrier();
}

Aggregate shared_aggregate(uint thread) { return Aggregate(sh_elements[thread], sh_heads[thread] != 0); }

// The aggregate of all threads before this one. `total`: that of all threads.
Aggregate scan_aggregates(Aggregate aggregate, out Aggregate total) {
    uint thread = thread_id();
    barrier();
    store_aggregate(aggregate);
    for (uint step = 1; step < THREADS; step *= 2) {
        if (thread >= step) aggregate = join(shared_aggregate(thread - step), aggregate);
        barrier();
        store_aggregate(aggregate);
    }
    total = shared_aggregate(THREADS - 1);
    return thread == 0 ? Aggregate(NO_CHANGE, false) : shared_aggregate(thread - 1);
}

#ifdef SPINE
void main() {
    uint count = batch_count();
    uint tiles = count / args.tile + (count % args.tile != 0 ? 1 : 0);
    Words aggregates = Words(scratch_part(args.aggregates));
    Aggregate before = Aggregate(NO_CHANGE, false);
    for (uint first = 0; first < tiles; first += TILE) {
        uint own = first + thread_id() * ITEMS;
        Aggregate parts[ITEMS];
        Aggregate aggregate = Aggregate(NO_CHANGE, false);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            parts[k] = Aggregate(NO_CHANGE, false);
            uint word = 2 * (own + k);
            if (own + k < tiles) parts[k] = Aggregate(aggregates.v[word], aggregates.v[word + 1] != 0);
            aggregate = join(aggregate, parts[k]);
        }
        Aggregate total;
        aggregate = join(before, scan_aggregates(aggregate, total));
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (own + k < tiles) aggregates.v[2 * (own + k)] = aggregate.element;
            aggregate = join(aggregate, parts[k]);
        }
        before = join(before, total);
    }
}
#else

#include "hash/key.glsl"
#include "hash/load_key.glsl"
#include "hash/identity.glsl"

// The elements of a thread are neighbors.
uint elements[ITEMS];
bool are_first[ITEMS];
// The two words of their identities.
uint first_hashes[ITEMS];
uint others[ITEMS];

// Loads the elements of a thread. Returns their aggregate.
Aggregate load_elements(uint begin, uint count) {
    uint last_first = 0;
    uint last_other = 0;
    bool has_last = begin != 0 && begin < count;
    if (has_last) load_identity(begin - 1, last_first, last_other);
    Aggregate aggregate = Aggregate(NO_CHANGE, false);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        elements[k] = NO_CHANGE;
        are_first[k] = false;
        if (begin + k >= count) continue;
        elements[k] = Words(scratch_part(args.elements)).v[begin + k];
        load_identity(begin + k, first_hashes[k], others[k]);
        are_first[k] = !has_last || first_hashes[k] != last_first || others[k] != last_other;
        has_last = true;
        last_first = first_hashes[k];
        last_other = others[k];
        aggregate = join(aggregate, Aggregate(elements[k], are_first[k]));
    }
    return aggregate;
}

#ifdef REDUCE
void main() {
    uint count = batch_count();
    uint begin = linear_group() * TILE;
    if (begin >= count) return;
    Aggregate total;
    scan_aggregates(load_elements(begin + thread_id() * ITEMS, count), total);
    if (thread_id() == 0) {
        Words aggregates = Words(scratch_part(args.aggregates));
        aggregates.v[2 * linear_group()] = total.element;
        aggregates.v[2 * linear_group() + 1] = total.has_head ? 1 : 0;
    }
}
#else

layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 1;

shared uint sh_erased[TILE / 32];
shared uint sh_assigned[TILE / 32];

// Decides the change of a key by all its elements, of which the last one has this position.
void finish_key(uint position, uint in_tile, uint index, uint change, uint key[KEY_WORDS]) {
    bool had_key = (Words(scratch_part(args.had_keys)).v[index / 32] >> index % 32 & 1) != 0;
    uint opcode = opcode_of(change);
    bool erases = opcode == OPCODE_ERASE && had_key;
    bool assigns = opcode == OPCODE_ASSIGN || opcode == OPCODE_INSERT && !had_key;
    if (erases) atomicOr(sh_erased[in_tile / 32], 1u << in_tile % 32);
    if (assigns) atomicOr(sh_assigned[in_tile / 32], 1u << in_tile % 32);
    if (!erases && !assigns) return;
    Words target = Words(advance(scratch_part(args.keys), bytes_of(position, KEY_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) target.v[w] = key[w];
    if (!assigns) return;
    Words source = Words(advance(args.problem.values, bytes_of(index_of(change), VALUE_WORDS * 4)));
    target = Words(advance(scratch_part(args.values), bytes_of(position, VALUE_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) target.v[w] = source.v[w];
}

void main() {
    uint count = batch_count();
    uint tile_begin = linear_group() * TILE;
    if (tile_begin >= count) return;
    for (uint word = thread_id(); word < TILE / 32; word += THREADS) {
        sh_erased[word] = 0;
        sh_assigned[word] = 0;
    }
    uint begin = tile_begin + thread_id() * ITEMS;
    Aggregate own = load_elements(begin, count);

    // 1. Compose what is before the thread's elements.
    Aggregate total;
    Aggregate earlier = Aggregate(Words(scratch_part(args.aggregates)).v[2 * linear_group()], false);
    Aggregate aggregate = join(earlier, scan_aggregates(own, total));

    // 2. Apply them.
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = begin + k;
        if (position >= count) continue;
        uint index = index_of(elements[k]);
        uint before = are_first[k] ? NO_CHANGE : aggregate.element;
        // Most keys of many batches have one operation.
        if (opcode_of(before) != OPCODE_FIND && wants_results()) {
            Words(scratch_part(args.before)).v[index] = before;
        }
        aggregate = Aggregate(compose(before, elements[k]), false);
        bool is_last = position + 1 == count;
        if (!is_last && k + 1 < ITEMS) is_last = are_first[min(k + 1, ITEMS - 1)];
        if (!is_last && k + 1 == ITEMS) {
            uint next_first, next_other;
            load_identity(position + 1, next_first, next_other);
            is_last = next_first != first_hashes[k] || next_other != others[k];
        }
        if (!is_last) continue;
        uint key[KEY_WORDS];
        if (HASH_IS_KEY) unhash_key(first_hashes[k], others[k], key);
        else load_key(index, key);
        finish_key(position, position - tile_begin, index, aggregate.element, key);
    }

    // 3. Store the bits.
    barrier();
    for (uint word = thread_id(); word < TILE / 32; word += THREADS) {
        if (tile_begin + word * 32 >= count) continue;
        Words(scratch_part(args.erased)).v[tile_begin / 32 + word] = sh_erased[word];
        Words(scratch_part(args.assigned)).v[tile_begin / 32 + word] = sh_assigned[word];
    }
}
#endif
#endif
