// Before the first round of a step:
// In:  the grouped list: its length, where its buckets begin (of a split as the splitter says, of a sorted list by
//      searching for the borders), and the least distance in it.
// Out: how many items are near, what keys are relative to from now on, and the dispatch over the list.
//      Near is the first bucket that has items, and those behind it until there are `fill`; never the last, which has
//      no end. Where only that one has items, nothing is near: all are carried over, and keys begin at the least
//      distance.
// Before a later round:
// In:  how many items there are for it, and in the pile. Out: the dispatch over them.
//      Each round appends at most as many items as the graph has edges. Where the pile would have no room for so many,
//      nothing is near: what was for this round is carried over, for which there is room, because room for it was left
//      before the round that appended it.
// Progress: none needed. One workgroup.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

layout(constant_id = 0) const uint GROUPING = GROUPING_NONE;

// An invocation a bucket.
layout(local_size_x = 256) in;

const uint ITEMS_A_GROUP = 256u;
// Longer lists take more rows of workgroups; every device takes a row of these.
const uint GROUPS_A_ROW = 32768u;

shared uint sh_first; // bucket that has items
shared uint sh_last;  // bucket that is near
shared uint sh_near;  // items

// Where the keys from this one on begin.
uint lower_bound(uint key, uint count) {
    uint first = 0u;
    while (count > 0u) {
        uint half_count = count / 2u;
        if (Words(args.list).v[first + half_count] < key) {
            first += half_count + 1u;
            count -= half_count + 1u;
        } else {
            count = half_count;
        }
    }
    return first;
}

uint bucket_offset(uint bucket, uint total) {
    return GROUPING == GROUPING_SORT ? lower_bound(bucket * args.delta, total) : Words(args.offsets).v[bucket];
}

uvec2 plus(uvec2 sum, uint x) {
    uint low = sum.x + x;
    return uvec2(low, sum.y + (low < x ? 1u : 0u));
}

// Finds the buckets that are near, by an invocation a bucket.
void find_near(uint total) {
    uint bucket = gl_LocalInvocationIndex;
    uint open = args.buckets - 1u;
    if (bucket == 0u) {
        sh_first = open;
        sh_last = open - 1u;
    }
    barrier();
    uint end = 0u;
    if (bucket < open) {
        end = bucket_offset(bucket + 1u, total);
        if (end > 0u) {
            atomicMin(sh_first, bucket);
        }
        if (end >= max(args.fill, 1u)) {
            atomicMin(sh_last, bucket);
        }
    }
    barrier();
    if (bucket == sh_last) {
        sh_near = end;
    }
    barrier();
}

void begin_step(State state, uint total) {
    uint near = total;
    uint shift = 0u;
    uint border = 0u;
    if (GROUPING != GROUPING_NONE && total > 0u) {
        near = sh_near;
        shift = near > 0u ? sh_first * args.delta : state.nearest - state.base;
        border = state.base + (sh_last + 1u) * args.delta;
        // Beyond what a distance can be, there is no border.
        border = border < state.base ? NONE : border;
    }
    state.near = near;
    state.shift = shift;
    state.base += shift;
    state.border = border;
    state.count = 0u;
    state.nearest = NONE;
    if (total > 0u) {
        state.items = plus(state.items, total);
        state.longest = max(state.longest, total);
        state.steps++;
        state.idle += near == 0u ? 1u : 0u;
    }
}

void begin_round(State state, uint total) {
    uint edges = Words(args.rows).v[args.vertex_count];
    state.near = state.count + edges <= args.capacity ? total : 0u;
    state.shift = 0u;
}

void main() {
    State state = State(args.state);
    bool first = args.round == 0u;
    uint total = first ? state.count : state.near_count;
    if (GROUPING != GROUPING_NONE && first) {
        find_near(total);
    }
    if (gl_LocalInvocationIndex != 0u) {
        return;
    }

    // 1. What is near.
    if (first) {
        begin_step(state, total);
    } else {
        begin_round(state, total);
    }
    uint near = state.near;
    state.limit = near > 0u && args.round < args.last_round ? state.border : 0u;
    state.rounds += near > 0u ? 1u : 0u;

    // 2. The list that is read, and an empty one for the next round.
    uint groups = (total + ITEMS_A_GROUP - 1u) / ITEMS_A_GROUP;
    uint row = min(groups, GROUPS_A_ROW);
    state.groups = uvec3(row, (groups + max(row, 1u) - 1u) / max(row, 1u), 1u);
    state.total = total;
    state.near_count = 0u;
    state.tasks = 0u;
}
