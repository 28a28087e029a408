// In:  the hierarchy, the sorted ids, triangles and points. Out: the leaves, and the box of every node.
//      One invocation a leaf. It writes its leaf and climbs; of the two that reach a node the first stops and the
//      second, which knows both children done, writes the node's box and climbs on.
// Paper: T. Karras, HPG 2012, section 3 (the bottom-up pass with atomic counters).
// Memory order: a box is written before the arrival at its parent is counted, with release; who counts second has
//      acquired, so both boxes, and by cumulativity all boxes below them, are visible to it. The nodes are nonprivate,
//      since only then do availability and visibility apply to them. All invocations run on one queue, so that the
//      scope of its family suffices: lavapipe (Mesa 22.3) takes memory barriers of workgroup and device scope for
//      control barriers, and loses invocations where they stand in a loop.
// Progress: none needed; nobody waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model

#include "args.glsl"

layout(local_size_x = 128) in;

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer SharedNodes { nonprivate Node v[]; };

// Counts an arrival at a node; true for the second.
bool arrive_second(uint node) {
    return atomicAdd(Words(args.arrivals).v[node], 1u, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer,
                     gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible) == 1u;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= args.triangle_count) {
        return;
    }
    SharedNodes nodes = SharedNodes(args.nodes);

    // 1. The leaf.
    uint id = Words(args.ids).v[i];
    uvec3 t = Triangles(args.triangles).v[id];
    Points p = Points(args.points);
    vec3 a = p.v[t.x], b = p.v[t.y], c = p.v[t.z];
    uint node = args.triangle_count - 1u + i;
    nodes.v[node].lo = min(a, min(b, c));
    nodes.v[node].hi = max(a, max(b, c));
    nodes.v[node].left = id;
    nodes.v[node].right = NONE;

    // 2. The way up.
    node = Words(args.parents).v[node];
    while (node != NONE && arrive_second(node)) {
        uint left = nodes.v[node].left;
        uint right = nodes.v[node].right;
        nodes.v[node].lo = min(nodes.v[left].lo, nodes.v[right].lo);
        nodes.v[node].hi = max(nodes.v[left].hi, nodes.v[right].hi);
        node = Words(args.parents).v[node];
    }
}
