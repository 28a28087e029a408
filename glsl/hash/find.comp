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
// bytes by one lane. A quad has four keys, one of each lane. It first probes the first bucket of each of them, so that
// four requests are in flight, and then those that are left, one bucket after the other.
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
#ifdef EMULATED
shared uint sh_any;
#endif

uint quad_lane() { return lane_id() % 4; }
uint quad_first() { return lane_id() - quad_lane(); }

// The bits of this quad.
uint quad_bits(uvec4 mask) {
    uint word = LANES != 0 && LANES <= 32 ? mask.x : mask[lane_id() / 32];
    return word >> (quad_first() % 32) & 15u;
}

// The value that a lane of the quad has.
uint of_quad(uint value, uint lane) { return shuffle(value, quad_first() + lane); }

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

// This lane's part of the bucket that a lane of the quad probes.
uvec4 load_part(Probe probe, uint lane) {
    uvec2 slice = slice_address(of_quad(probe.slice, lane));
    return Quads(slice).v[of_quad(probe.bucket, lane) * 4 + quad_lane()];
}

bool is_above(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool above = false;
    // From the last word, the least significant here, to the first.
    [[unroll]] for (uint k = KEY_WORDS; k-- != 0;) above = a[k] == b[k] ? above : a[k] > b[k];
    return above;
}

void lane_key(uvec4 part, uint s, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = part[(s * SLOT_WORDS + w) % 4];
}

// Whether the bit of a match is set in a full bucket without erased slots.
bool passes_filter(uint match, uvec4 part) {
    uint most[KEY_WORDS];
    bool set = false;
    uint first_match = 0;
    // Matches of slots of one lane.
    uint keys[LANE_SLOTS * KEY_WORDS];
    [[unroll]] for (uint s = 0; s < LANE_SLOTS; ++s) {
        uint key[KEY_WORDS];
        lane_key(part, s, key);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[s * KEY_WORDS + w] = key[w];
    }
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
    // Matches of lanes.
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) most[w] = keys[w];
    [[unroll]] for (uint step = 1; step < 4; step *= 2) {
        uint other[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) other[w] = of_quad(most[w], quad_lane() ^ step);
        bool above = is_above(most, other);
        bool is_left = (quad_lane() & (2 * step - 1)) == 0;
        set = set || is_left && match == first_match + quad_lane() / (2 * step) && above;
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) most[w] = above ? most[w] : other[w];
        first_match += 2 / step;
    }
    return quad_bits(ballot(set)) != 0;
}

// Whether a search for a key that is not in this bucket ends here. The filter of a full bucket is not always needed, so
// it is read only if some lane in step does: `is_needed`.
bool ends_at(uvec4 part, Probe probe, uint lane, bool is_needed) {
    if (!any_in_step(is_needed)) return true;
    bool erased = false;
    [[unroll]] for (uint s = 0; s < LANE_SLOTS; ++s) {
        uint key[KEY_WORDS];
        lane_key(part, s, key);
        erased = erased || reserved_index(key) == 1;
    }
    bool has_erased = quad_bits(ballot(erased)) != 0;
    bool passes = passes_filter(of_quad(probe.match, lane), part);
    return !has_erased && !passes;
}

// Compares a bucket with the key of a lane of the quad. Returns whether the bucket has the key, and in `is_open` whether
// it has an empty slot. The result is the same in all lanes of the quad.
bool look_at(uvec4 part, uint keys[KEY_WORDS], uint lane, out bool is_open, out uint value[RESULT_WORDS]) {
    uint wanted[KEY_WORDS];
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) wanted[w] = of_quad(keys[w], lane);
    [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = 0xffffffffu;
    bool hit = false;
    [[unroll]] for (uint s = 0; s < LANE_SLOTS; ++s) {
        uint key[KEY_WORDS];
        lane_key(part, s, key);
        bool same = keys_equal(key, wanted);
        hit = hit || same;
        if (VALUE_WORDS != 0) {
            [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) {
                value[w] = same ? part[(s * SLOT_WORDS + KEY_WORDS + w) % 4] : value[w];
            }
        }
    }
    // Slots are filled in order: the last one decides.
    uint last[KEY_WORDS];
    lane_key(part, LANE_SLOTS - 1, last);
    uint hits = quad_bits(ballot(hit));
    is_open = quad_bits(ballot(quad_lane() == 3 && reserved_index(last) == 0)) != 0;
    if (VALUE_WORDS != 0) {
        uint holder = hits == 0 ? 0 : findLSB(hits);
        [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = of_quad(value[w], holder);
    }
    return hits != 0;
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
    uvec4 parts[4];
    [[unroll]] for (uint lane = 0; lane < 4; ++lane) parts[lane] = load_part(probe, lane);
    [[unroll]] for (uint lane = 0; lane < 4; ++lane) {
        bool is_open;
        uint of_bucket[RESULT_WORDS];
        bool has_key = look_at(parts[lane], key, lane, is_open, of_bucket);
        bool is_own = quad_lane() == lane && pending;
        bool goes_on = is_own && !has_key && !is_open;
        bool ends = ends_at(parts[lane], probe, lane, goes_on);
        if (is_own) {
            pending = goes_on && !ends;
            found = has_key;
            [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = of_bucket[w];
        }
    }

    // 4. The other buckets, of one key of each quad at a time.
    while (any_in_step(pending)) {
        uint waiting = quad_bits(ballot(pending));
        uint lane = waiting == 0 ? 0 : findLSB(waiting);
        bool is_own = quad_lane() == lane && pending;
        if (is_own) {
            // A home slice ends where the overflow slice may continue.
            if (probes == MOST_PROBES) probe = overflow_probe(hash, second);
            else advance_probe(probe);
            ++probes;
        }
        uvec4 part = load_part(probe, lane);
        bool is_open;
        uint of_bucket[RESULT_WORDS];
        bool has_key = look_at(part, key, lane, is_open, of_bucket);
        bool goes_on = is_own && !has_key && !is_open;
        bool ends = ends_at(part, probe, lane, goes_on);
        if (is_own) {
            pending = goes_on && !ends && probes < 2 * MOST_PROBES;
            found = has_key;
            [[unroll]] for (uint w = 0; w < RESULT_WORDS; ++w) value[w] = of_bucket[w];
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
