// Writes the number of keys that hash_export has written by their values, and the status.
//
// In:  the cursor, which is the number of selected keys.
// Out: the number of written keys, unless its address is null; the status.
// Workgroups: one.
// Memory order: the cursor comes from an earlier dispatch.
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

#include "radix/scratch.glsl"

void main() {
    if (thread_id() != 0) return;
    uint keys = Words(scratch_part(args.cursor)).v[0];
    bool clamped = keys > args.problem.max_count;
    if (!is_null(args.problem.count_out)) Words(args.problem.count_out).v[0] = min(keys, args.problem.max_count);
    if (!is_null(args.problem.status)) Words(args.problem.status).v[0] = clamped ? STATUS_OUTPUT_CLAMPED : 0;
}
