// Writes the keys of a table and their values, in any order. SELECTS: those with values from min_value to max_value.
// BY_SLOT: the numbers of their slots instead of their values.
//
// In:  the table; a cursor of zero.
// Out: keys, and values unless their address is null, up to max_count of them; the cursor, which is the number of all;
//      the number of written ones and the status, but if SELECTS.
// Workgroups: one for each slice, overflow slices included.
// Memory order: each workgroup takes its positions by an atomic addition to the cursor.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashExportPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_SELECTS) const uint SELECTS = 0;

#include "radix/scratch.glsl"
#ifdef LINEAR
layout(constant_id = SPEC_BY_SLOT) const uint BY_SLOT = 0;
#include "hash/linear.glsl"
#else
const uint BY_SLOT = 0;
#include "hash/table.glsl"
#endif

// The slots of this workgroup with keys, in any order. Those of reserved keys follow the slice.
shared uint sh_slots[SLICE_SLOTS + 2];
shared uint sh_count;
// The position of the first key.
shared uint sh_begin;

// The value of a slot.
uvec2 value_address(uvec2 slice, uint slot) {
    uvec2 address = slot_value(slice, slot);
    if (slot >= SLICE_SLOTS) address = reserved_value(slot - SLICE_SLOTS);
    return address;
}

bool is_at_most(uvec2 a, uvec2 b) { return a.y < b.y || a.y == b.y && a.x <= b.x; }

// Whether the value of a slot selects its key.
bool is_selected(uvec2 slice, uint slot) {
    if (SELECTS == 0) return true;
    Words source = Words(value_address(slice, slot));
    uvec2 value = uvec2(source.v[0], VALUE_WORDS == 2 ? source.v[1] : 0);
    return is_at_most(args.problem.min_value, value) && is_at_most(value, args.problem.max_value);
}

// Writes the key of a slot, and its value or its number.
void export_entry(uint position, uvec2 slice, uint slot) {
    uint key[KEY_WORDS];
    uvec2 source = value_address(slice, slot);
    if (slot < SLICE_SLOTS) {
        load_slot_key(slice, slot, key);
    } else {
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = 0xffffffffu;
        key[KEY_WORDS - 1] -= slot - SLICE_SLOTS;
    }
    Words keys = Words(advance(args.problem.keys, bytes_of(position, KEY_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys.v[w] = key[w];
    if (BY_SLOT != 0) {
        uint before = slot < SLICE_SLOTS ? linear_group() * SLICE_SLOTS : all_slices() * SLICE_SLOTS - SLICE_SLOTS;
        Words(args.problem.values).v[position] = before + slot;
        return;
    }
    if (VALUE_WORDS == 0 || is_null(args.problem.values)) return;
    Words values = Words(advance(args.problem.values, bytes_of(position, VALUE_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) values.v[w] = Words(source).v[w];
}

// Writes the number of keys and the status. One invocation.
void write_results() {
    uint keys = Header(args.problem.table).v[0].entries;
    bool clamped = keys > args.problem.max_count;
    if (!is_null(args.problem.count_out)) Words(args.problem.count_out).v[0] = min(keys, args.problem.max_count);
    if (!is_null(args.problem.status)) Words(args.problem.status).v[0] = clamped ? STATUS_OUTPUT_CLAMPED : 0;
}

void main() {
    open_table();
    uint slice = linear_group();
    if (slice >= all_slices()) return;
    if (SELECTS == 0 && slice == 0 && thread_id() == 0) write_results();
    if (thread_id() == 0) sh_count = 0;
    barrier();

    // 1. Find the keys. The first workgroup has the reserved ones as well: one thread each.
    uvec2 address = slice_address(slice);
    uint own = 0;
    [[unroll]] for (uint k = 0; k < SLICE_SLOTS / THREADS; ++k) {
        uint key[KEY_WORDS];
        uint slot = k * THREADS + thread_id();
        if (load_slot_key(address, slot, key) && is_selected(address, slot)) own |= 1u << k;
    }
    if (own != 0) {
        uint at = atomicAdd(sh_count, bitCount(own));
        for (; own != 0; own &= own - 1) sh_slots[at++] = findLSB(own) * THREADS + thread_id();
    }
    if (slice == 0 && thread_id() < 2 && Header(args.problem.table).v[0].reserved[thread_id()] != 0) {
        uint slot = SLICE_SLOTS + thread_id();
        if (is_selected(address, slot)) sh_slots[atomicAdd(sh_count, 1u)] = slot;
    }
    barrier();

    // 2. Take their positions, and write them: neighboring threads to neighboring positions.
    if (thread_id() == 0) sh_begin = atomicAdd(Words(scratch_part(args.cursor)).v[0], sh_count);
    barrier();
    for (uint k = thread_id(); k < sh_count && sh_begin + k < args.problem.max_count; k += THREADS) {
        export_entry(sh_begin + k, address, sh_slots[k]);
    }
}
