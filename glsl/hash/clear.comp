// Makes a table empty: writes its header and marks, and all ones into all slots.
//
// In:  nothing; if RESIZABLE, the new number of slices in scratch.
// Out: the header, without its unused last words; marks, which LINEAR tables do not have; slots.
// Workgroups: one for each THREADS * ITEMS blocks of 16 bytes behind the header.
// Memory order: every word is written once.
// Progress: never waits.
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

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

#include "radix/scratch.glsl"
#ifdef LINEAR
#include "hash/linear.glsl"
#else
#include "hash/table.glsl"
#endif

void main() {
    // The header still has the number before.
    if (RESIZABLE != 0) resizable_slices = Words(scratch_part(args.state)).v[RESIZE_SLICES];
    uint first = linear_group() * THREADS * ITEMS;
    if (linear_group() == 0 && thread_id() == 0) {
        HashHeader header;
        header.format = TABLE_FORMAT | KEY_WORDS << 8 | VALUE_WORDS << 16 | SCHEME << 24;
        header.slices = table_slices();
        header.used = 0;
        header.entries = 0;
        header.erased = 0;
        header.reserved = uvec2(0);
        // As in empty slots of LINEAR tables.
        header.empty_value = uvec4(0xffffffffu);
        header.erased_value = uvec4(0xffffffffu);
        Header(args.problem.table).v[0] = header;
    }
#ifndef LINEAR
    uint mark = linear_group() * THREADS + thread_id();
    if (mark < mark_words()) marks().v[mark] = 0;
#endif
    uint blocks_a_slice = SLICE_SLOTS * SLOT_WORDS / 4;
    uvec2 target = advance(slice_address(0), bytes_of(first, 16));
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint block = k * THREADS + thread_id();
        if (first + block < all_slices() * blocks_a_slice) Quads(target).v[block] = uvec4(0xffffffffu);
    }
}
