// Looks keys up in a table: which of them it has, and their values.
//
// In:  keys; their count, if it is in device memory; the table.
// Out: values[i]: the value of key i, or all ones if the table does not have the key; found: bit i % 32 of word i / 32;
//      the status. STENCIL: keys that are not selected count as absent.
// Workgroups: one for each THREADS keys at the maximum count, at least one. If the actual count is smaller, the others
//             exit.
// Memory order: each word is written by one workgroup. The table is only read.
// Progress: never waits.
//
// Each lane searches for one key. Four lanes, a quad, read a bucket together: a lane reads 16 bytes, or 32 if slots
// have 8 words. A request of 64 bytes by a quad costs as much as one of 8 bytes by one lane; 128 bytes are two
// requests. A quad first loads the first buckets of its own four keys, so that four loads are in flight. Then the keys
// of the subgroup that are left are dealt to its quads, one each, until none is left.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashFindPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "hash/table.glsl"
#include "hash/batch.glsl"
#include "hash/stencil.glsl"

// Slots and words of a bucket that a lane reads.
const uint LANE_SLOTS = SLOTS / 4;
const uint LANE_WORDS = BUCKET_WORDS / 4;
const uint RESULT_WORDS = VALUE_WORDS == 0 ? 1 : VALUE_WORDS;

shared uint sh_found[THREADS / 32];
// For each quad, the lane that it looks for.
shared uint sh_dealt[THREADS / 4];
#ifdef EMULATED
shared uint sh_any;
#endif

uint quad_lane() { return lane_id() % 4; }

// The four bits of a quad, by the number of its first lane.
uint quad_bits(uvec4 mask, uint first) {
    return (LANES != 0 && LANES <= 32 ? mask.x >> first : mask[first / 32] >> (first % 32)) & 15u;
}

// Whether any lane that this one runs in step with has the bit.
bool any_in_step(bool value) {
#ifdef EMULATED
    barrier();
    if (thread_id() == 0) sh_any = 0;
    barrier();
    if (value) atomicOr(sh_any, 1u);
    barrier();
    return sh_any != 0;
#else
    return ballot(value) != uvec4(0);
#endif
}

// A lane's part of a bucket.
struct Part {
    uvec4 low;
    // Unused if LANE_WORDS is 4.
    uvec4 high;
};

// This lane's part of a bucket. `base`: its part of the first bucket.
Part load_part(uvec2 base, uint bucket) {
    Quads quads = Quads(advance(base, bytes_of(bucket, BUCKET_WORDS * 4)));
    Part part;
    part.low = quads.v[0];
    part.high = uvec4(0);
    if (LANE_WORDS == 8) part.high = quads.v[1];
    return part;
}

uint part_word(Part part, uint w) { return LANE_WORDS == 4 || w < 4 ? part.low[w % 4] : part.high[w % 4]; }

// Index of a bucket among those of all slices.
uint bucket_index(Probe probe) { return probe.slice * BUCKETS + probe.bucket; }

bool is_above(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool above = false;
    // From the last word, the least significant here, to the first.
    [[unroll]] for (uint k = KEY_WORDS; k-- != 0;) above = a[k] == b[k] ? above : a[k] > b[k];
    return above;
}

void lane_key(Part part, uint s, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = part_word(part, s * SLOT_WORDS + w);
}

// Whether this lane's part of a full bucket has an erased slot, or a bit of the filter that is set.
bool has_filter_bit(Part part, uint filter_bit) {
    bool set = false;
    [[unroll]] for (uint s = 0; s < LANE_SLOTS; ++s) {
        uint key[KEY_WORDS];
        uint other[KEY_WORDS];
        lane_key(part, s, key);
        set = set || reserved_index(key) == 1;
        if (LANE_SLOTS == 1) {
            // The two slots of a bit belong to two lanes.
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) other[w] = shuffle(key[w], lane_id() ^ 1);
            set = set || quad_lane() == 2 * filter_bit && is_above(key, other);
        } else if (s % 2 == 0) {
            lane_key(part, s + 1, other);
            set = set || (quad_lane() * LANE_SLOTS + s) / 2 == filter_bit && is_above(key, other);
        }
    }
    return set;
}

// The comparison of the buckets of a subgroup's quads with a wanted key each. A bit for each lane.
struct Look {
    // Lanes with the key in their part of the bucket.
    uvec4 hits;
    // Lanes with an empty last slot.
    uvec4 empties;
    // Lanes with an erased slot, or with the filter bit of the key.
    uvec4 set;
};

// Compares the bucket of each quad with the wanted key of the lane `source`. `value`: the value of the key, if this
// lane's part of the bucket has it; zeros otherwise.
Look look_at(Part part, uint key[KEY_WORDS], uint filter_bit, uint source, out uint value[RESULT_WORDS]) {
    uint wanted[KEY_WORDS];
    uint last[KEY_WORDS];
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) wanted[w] = shuffle(key[w], source);
    [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = 0;
    bool hit = false;
    [[unroll]] for (uint s = 0; s < LANE_SLOTS; ++s) {
        lane_key(part, s, last);
        bool same = keys_equal(last, wanted);
        hit = hit || same;
        if (VALUE_WORDS != 0) {
            [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) {
                value[w] = same ? part_word(part, s * SLOT_WORDS + KEY_WORDS + w) : value[w];
            }
        }
    }
    Look look;
    look.hits = ballot(hit);
    // Slots are filled in order: the last one of the last lane decides whether the bucket is full.
    look.empties = ballot(is_empty_key(last));
    look.set = uvec4(0);
    uint first = lane_id() - quad_lane();
    bool is_undecided = quad_bits(look.hits, first) == 0 && (quad_bits(look.empties, first) & 8) == 0;
    if (any_in_step(is_undecided)) look.set = ballot(has_filter_bit(part, shuffle(filter_bit, source)));
    return look;
}

void main() {
    open_table();
    // 1. Each lane loads a key.
    uint count = batch_count();
    uint first = linear_group() * THREADS;
    if (linear_group() == 0 && thread_id() == 0) write_status(args.problem.count);
    if (first >= count) return;
    uint index = first + thread_id();
    bool is_item = index < count;
    uint key[KEY_WORDS];
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = 0;
    if (is_item) load_key(index, key);
    if (thread_id() < THREADS / 32) sh_found[thread_id()] = 0;
    barrier();

    // 2. Reserved keys are in the header.
    bool found = false;
    bool pending = is_item && is_selected(index);
    uint value[RESULT_WORDS];
    [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = 0xffffffffu;
    uint reserved = reserved_index(key);
    if (reserved != NOT_RESERVED) {
        Header header = Header(args.problem.table);
        found = pending && header.v[0].reserved[reserved] != 0;
        pending = false;
        if (VALUE_WORDS != 0 && found) {
            [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = Words(reserved_value(reserved)).v[w];
        }
    }

    // 3. The first bucket of the four keys.
    uint hash, second;
    hash_key(key, hash, second);
    Probe probe = home_probe(hash, second);
    uint probes = 1;
    uvec2 base = advance(slice_address(0), uvec2(quad_lane() * LANE_WORDS * 4, 0));
    uint bucket = bucket_index(probe);
    uint own_first = lane_id() - quad_lane();
    Part parts[4];
    [[unroll]] for (uint k = 0; k < 4; ++k) parts[k] = load_part(base, shuffle(bucket, own_first + k));
    [[unroll]] for (uint k = 0; k < 4; ++k) {
        uint of_bucket[RESULT_WORDS];
        Look look = look_at(parts[k], key, probe.filter_bit, own_first + k, of_bucket);
        uint hits = quad_bits(look.hits, own_first);
        bool is_open = (quad_bits(look.empties, own_first) & 8) != 0;
        bool goes_on = quad_bits(look.set, own_first) != 0;
        bool is_own = quad_lane() == k && pending;
        [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) {
            uint word = VALUE_WORDS == 0 ? 0 : shuffle(of_bucket[w], own_first + (hits == 0 ? 0 : findLSB(hits)));
            if (is_own && hits != 0) value[w] = word;
        }
        if (is_own) {
            found = hits != 0;
            pending = !found && !is_open && goes_on;
        }
    }

    // 4. The other buckets.
    uint subgroup_first = subgroup_id() * lane_count();
    while (true) {
        uvec4 waiting = ballot(pending);
        if (!any_in_step(waiting != uvec4(0))) break;
        // Deal: the quad of number `rank` takes this lane's key.
        uint rank = count_bits(waiting & lanes_below());
        bool is_served = pending && rank < lane_count() / 4;
        if (is_served) {
            sh_dealt[subgroup_first / 4 + rank] = lane_id();
            // Behind HOME_PROBES buckets, the path goes on in the overflow slice.
            if (probes == HOME_PROBES) probe = overflow_probe(hash, second);
            else advance_probe(probe);
            ++probes;
            bucket = bucket_index(probe);
        }
        subgroup_sync();
        uint source = lane_id() / 4 < count_bits(waiting) ? sh_dealt[(subgroup_first + lane_id()) / 4] : lane_id();
        subgroup_sync();
        uint of_bucket[RESULT_WORDS];
        Look look = look_at(load_part(base, shuffle(bucket, source)), key, probe.filter_bit, source, of_bucket);
        uint server = is_served ? 4 * rank : 0;
        uint hits = quad_bits(look.hits, server);
        bool is_open = (quad_bits(look.empties, server) & 8) != 0;
        bool goes_on = quad_bits(look.set, server) != 0;
        [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) {
            uint word = VALUE_WORDS == 0 ? 0 : shuffle(of_bucket[w], server + (hits == 0 ? 0 : findLSB(hits)));
            if (is_served && hits != 0) value[w] = word;
        }
        if (is_served) {
            found = hits != 0;
            pending = !found && !is_open && goes_on && probes < HOME_PROBES + OVERFLOW_PROBES;
        }
    }

    // 5. Store.
    if (found) atomicOr(sh_found[thread_id() / 32], 1u << (thread_id() % 32));
    if (VALUE_WORDS != 0 && is_item && !is_null(args.problem.values)) {
        Words target = Words(advance(args.problem.values, bytes_of(index, VALUE_WORDS * 4)));
        [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) target.v[w] = value[w];
    }
    barrier();
    uint word = thread_id();
    if (word < THREADS / 32 && first + word * 32 < count && !is_null(args.problem.found)) {
        Words(args.problem.found).v[first / 32 + word] = sh_found[word];
    }
}
