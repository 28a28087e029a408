// Looks keys up in a table: which of them it has, and their values.
//
// In:  keys; their count, if it is in device memory; the table.
// Out: values[i]: the value of key i, or all ones if the table does not have the key; found: bit i % 32 of word i / 32;
//      the status.
// Workgroups: one for each THREADS keys at the maximum count, at least one. If the actual count is smaller, the others
//             exit.
// Memory order: no other invocation of the dispatch accesses what one writes.
// Progress: never waits.
//
// Four lanes, a quad, read a bucket, each 16 bytes of it: a request of a bucket by a quad costs as much as one of 8
// bytes by one lane. Each lane has a key. A quad first probes the first bucket of the keys of its four lanes, so that
// four requests are in flight. Then the keys of the subgroup that are left are dealt to its quads. If there are more
// quads than keys, several of them probe consecutive buckets for the same key.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "hash/table.glsl"
#include "hash/count.glsl"

// Slots of a bucket that a lane reads.
const uint LANE_SLOTS = SLOTS / 4;
const uint RESULT_WORDS = VALUE_WORDS == 0 ? 1 : VALUE_WORDS;

shared uint sh_found[THREADS / 32];
// For each quad, the lane that it looks for.
shared uint sh_dealt[THREADS / 4];
#ifdef EMULATED
shared uint sh_any;
#endif

uint quad_lane() { return lane_id() % 4; }

// Bits of `lanes` lanes, at most 32, from `first` on, a multiple of `lanes`.
uint bits_of(uvec4 mask, uint first, uint lanes) {
    uint word = LANES != 0 && LANES <= 32 ? mask.x : mask[first / 32];
    return word >> (first % 32) & (0xffffffffu >> (32 - lanes));
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

// This lane's part of a bucket. `base`: its part of the first bucket.
uvec4 load_part(uvec2 base, uint bucket) { return Quads(advance(base, bytes_of(bucket, BUCKET_WORDS * 4))).v[0]; }

// Index of a bucket among those of all slices.
uint bucket_index(Probe probe) { return probe.slice * BUCKETS + probe.bucket; }

bool is_above(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool above = false;
    // From the last word, the least significant here, to the first.
    [[unroll]] for (uint k = KEY_WORDS; k-- != 0;) above = a[k] == b[k] ? above : a[k] > b[k];
    return above;
}

void lane_key(uvec4 part, uint s, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = part[(s * SLOT_WORDS + w) % 4];
}

// Whether a full bucket has an erased slot, or the bit of a match: if so, some lane of its quad returns true.
bool has_bit(uvec4 part, uint match) {
    bool set = false;
    uint first_match = 0;
    uint keys[LANE_SLOTS * KEY_WORDS];
    [[unroll]] for (uint s = 0; s < LANE_SLOTS; ++s) {
        uint key[KEY_WORDS];
        lane_key(part, s, key);
        set = set || reserved_index(key) == 1;
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[s * KEY_WORDS + w] = key[w];
    }
    // Matches among the slots of one lane.
    [[unroll]] for (uint left = LANE_SLOTS; left > 1; left /= 2) {
        [[unroll]] for (uint m = 0; m < left / 2; ++m) {
            uint a[KEY_WORDS];
            uint b[KEY_WORDS];
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
                a[w] = keys[2 * m * KEY_WORDS + w];
                b[w] = keys[(2 * m + 1) * KEY_WORDS + w];
            }
            bool above = is_above(a, b);
            set = set || match == first_match + quad_lane() * (left / 2) + m && above;
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[m * KEY_WORDS + w] = above ? a[w] : b[w];
        }
        first_match += 2 * left;
    }
    // Matches among lanes.
    uint most[KEY_WORDS];
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) most[w] = keys[w];
    [[unroll]] for (uint step = 1; step < 4; step *= 2) {
        uint other[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) other[w] = shuffle(most[w], lane_id() ^ step);
        bool above = is_above(most, other);
        bool is_left = (quad_lane() & (2 * step - 1)) == 0;
        set = set || is_left && match == first_match + quad_lane() / (2 * step) && above;
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) most[w] = above ? most[w] : other[w];
        first_match += 2 / step;
    }
    return set;
}

// What a subgroup finds: the lanes with the wanted key, and the first lanes of quads at which the search ends without it.
struct Look {
    uvec4 hits;
    uvec4 ends;
};

// Compares the bucket of each quad with the key of the lane `source`. If this lane's part has the key, its value is left
// in `value`. Quads that are not `used` find nothing.
Look look_at(uvec4 part, uint key[KEY_WORDS], uint match, uint source, bool used, out uint value[RESULT_WORDS]) {
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
                value[w] = same ? part[(s * SLOT_WORDS + KEY_WORDS + w) % 4] : value[w];
            }
        }
    }
    Look look;
    look.hits = ballot(hit && used);
    // Slots are filled in order: the last one of the last lane decides whether the bucket is full.
    uvec4 empties = ballot(is_empty_key(last));
    uint first = lane_id() - quad_lane();
    bool ends = (bits_of(empties, first, 4) & 8) != 0;
    bool is_undecided = used && !ends && bits_of(look.hits, first, 4) == 0;
    if (any_in_step(is_undecided)) {
        uvec4 set = ballot(has_bit(part, shuffle(match, source)));
        ends = ends || bits_of(set, first, 4) == 0;
    }
    look.ends = ballot(ends && used && quad_lane() == 0);
    return look;
}

void main() {
    // 1. Each lane loads a key.
    uint count = batch_count();
    uint first = linear_group() * THREADS;
    if (linear_group() == 0 && thread_id() == 0) write_status();
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
    bool pending = is_item;
    uint value[RESULT_WORDS];
    [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = 0xffffffffu;
    uint reserved = reserved_index(key);
    if (reserved != NOT_RESERVED) {
        Header header = Header(args.problem.table);
        found = is_item && header.v.reserved[reserved] != 0;
        pending = false;
        if (VALUE_WORDS != 0 && found) {
            [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = reserved_value(reserved, w);
        }
    }

    // 3. The first bucket of the four keys.
    uint hash = first_hash(key);
    uint second = second_hash(key);
    Probe probe = home_probe(hash, second);
    uint probes = 1;
    uvec2 base = advance(slice_address(0), uvec2(quad_lane() * 16, 0));
    uint bucket = bucket_index(probe);
    uint own_first = lane_id() - quad_lane();
    uvec4 parts[4];
    [[unroll]] for (uint k = 0; k < 4; ++k) parts[k] = load_part(base, shuffle(bucket, own_first + k));
    [[unroll]] for (uint k = 0; k < 4; ++k) {
        uint of_bucket[RESULT_WORDS];
        Look look = look_at(parts[k], key, probe.match, own_first + k, true, of_bucket);
        uint hits = bits_of(look.hits, own_first, 4);
        bool is_own = quad_lane() == k && pending;
        [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) {
            uint word = VALUE_WORDS == 0 ? 0 : shuffle(of_bucket[w], own_first + (hits == 0 ? 0 : findLSB(hits)));
            if (is_own && hits != 0) value[w] = word;
        }
        if (is_own) {
            found = hits != 0;
            pending = !found && bits_of(look.ends, own_first, 4) == 0;
        }
    }

    // 4. The other buckets.
    uint quads = lane_count() / 4;
    uint first_quad = subgroup_id() * quads;
    while (true) {
        uvec4 waiting = ballot(pending);
        if (!any_in_step(waiting != uvec4(0))) break;
        // Deal: `share` quads, a power of two, take the key of number `rank`. Their lanes lie in one word of a mask.
        uint keys = count_bits(waiting);
        uint share = keys >= quads ? 1 : min(1 << findMSB(quads / max(keys, 1)), 8);
        uint rank = count_bits(waiting & lanes_below());
        bool is_served = pending && rank < quads / share;
        if (is_served) {
            sh_dealt[first_quad + rank] = lane_id();
            // A home slice ends where the overflow slice may continue.
            if (probes == MOST_PROBES) {
                probe = overflow_probe(hash, second);
                probe.bucket = (probe.bucket - probe.step) % BUCKETS;
            }
        }
        subgroup_sync();
        uint quad = lane_id() / 4;
        bool is_dealt = quad / share < keys;
        uint source = is_dealt ? sh_dealt[first_quad + quad / share] : lane_id();
        subgroup_sync();
        uint ahead = quad % share + 1;
        uint from = shuffle(bucket_index(probe), source);
        uint step = shuffle(probe.step, source);
        // The probes of a slice are counted, from its first bucket on.
        bool used = is_dealt && shuffle(probes % MOST_PROBES, source) + ahead <= MOST_PROBES;
        uint target = from / BUCKETS * BUCKETS + (from + ahead * step) % BUCKETS;
        uint of_bucket[RESULT_WORDS];
        Look look = look_at(load_part(base, target), key, probe.match, source, used, of_bucket);
        uint server = is_served ? 4 * share * rank : 0;
        uint hits = bits_of(look.hits, server, 4 * share);
        [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) {
            uint word = VALUE_WORDS == 0 ? 0 : shuffle(of_bucket[w], server + (hits == 0 ? 0 : findLSB(hits)));
            if (is_served && hits != 0) value[w] = word;
        }
        if (is_served) {
            uint done = min(share, MOST_PROBES - probes % MOST_PROBES);
            probes += done;
            probe.bucket = (probe.bucket + done * probe.step) % BUCKETS;
            found = hits != 0;
            pending = !found && bits_of(look.ends, server, 4 * share) == 0 && probes < 2 * MOST_PROBES;
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
