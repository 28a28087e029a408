// Decides the number of slots of a table by the numbers of its keys and of its erased slots.
//
// In:  the header of the table; the number of keys to make room for.
// Out: in scratch: the new number of slices; the number of keys that move, which is 0 if the table stays as it is; the
//      commands of the dispatches that export the table and clear it.
// Workgroups: one.
// Memory order: every word is written once.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/commands.glsl"
#define PUSH HashResizePush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "radix/scratch.glsl"
#include "hash/saturating.glsl"
#ifdef LINEAR
#include "hash/linear.glsl"
#else
#include "hash/table.glsl"
#endif

// The number of slices of which so many keys use half of the slots.
uint slices_for(uint keys) {
    uint slices = keys / (SLICE_SLOTS / 2) + (keys % (SLICE_SLOTS / 2) != 0 ? 1 : 0);
#ifdef LINEAR
    if (slices > 1) slices = 2u << findMSB(slices - 1);
#endif
    return clamp(slices, args.problem.min_slices, args.problem.slices);
}

void main() {
    if (thread_id() != 0) return;
    open_table();
    HashHeader header = Header(args.problem.table).v[0];
    uint reserve = args.problem.max_reserve;
    if (!is_null(args.problem.reserve)) reserve = min(Words(args.problem.reserve).v[0], reserve);
    uint keys = add_saturating(header.entries, reserve);
    uint slots = table_slices() * SLICE_SLOTS;

    bool is_full = add_saturating(keys, header.erased) > slots / 4 * 3;
    bool is_empty = keys < slots / 8;
    uint slices = slices_for(keys);
    bool helps = slices != table_slices() || header.erased >= slots / 8;
    bool moves = (is_full || is_empty) && helps && header.entries <= args.problem.max_count;

    Words state = Words(scratch_part(args.state));
    state.v[RESIZE_SLICES] = slices;
    state.v[RESIZE_KEYS] = moves ? header.entries : 0;
    uint blocks = with_overflow_slices(slices) * (SLICE_SLOTS * SLOT_WORDS / 4);
    Words commands = Words(scratch_part(args.commands));
    write_command(commands, RESIZE_EXPORT, moves ? all_slices() : 0, 0);
    write_command(commands, RESIZE_CLEAR, moves ? (blocks - 1) / args.clear_blocks + 1 : 0, 0);
}
