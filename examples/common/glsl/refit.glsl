// The boxes of an LBVH, from the leaves up. Of the two invocations that reach a node, the first stops. The second
// writes the node's box, because both children are done, and continues with the parent. The including file includes
// tree.glsl and enables GL_KHR_memory_scope_semantics and use_vulkan_memory_model. Its `args` have the addresses of
// nodes, parents and arrivals.
//
// Paper: T. Karras, HPG 2012, section 3 (the bottom-up pass with atomic counters).
// Memory order: an invocation writes a box before it counts its arrival at the parent, with release. The second arrival
// acquires, so that both boxes and, by cumulativity, all boxes below them are visible. The nodes are nonprivate, since
// availability and visibility apply to nonprivate memory only. All invocations run on one queue, so that the scope of
// its family suffices. Lavapipe (Mesa 22.3) treats memory barriers of workgroup and device scope as control barriers,
// and loses invocations if such a barrier is in a loop.
// Progress: none needed; no invocation waits.

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer SharedNodes { nonprivate Node v[]; };

// Counts an arrival at a node. Returns true for the second one.
bool arrive_second(uint node) {
    return atomicAdd(Words(args.arrivals).v[node], 1u, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer,
                     gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible) == 1u;
}

// Writes a leaf with its primitive and box, then the box of each ancestor with its other child done.
void refit_from(uint node, uint primitive, vec3 lo, vec3 hi) {
    SharedNodes nodes = SharedNodes(args.nodes);

    // 1. The leaf.
    nodes.v[node].lo = lo;
    nodes.v[node].hi = hi;
    nodes.v[node].left = primitive;
    nodes.v[node].right = NONE;

    // 2. The ancestors.
    node = Words(args.parents).v[node];
    while (node != NONE && arrive_second(node)) {
        uint left = nodes.v[node].left;
        uint right = nodes.v[node].right;
        nodes.v[node].lo = min(nodes.v[left].lo, nodes.v[right].lo);
        nodes.v[node].hi = max(nodes.v[left].hi, nodes.v[right].hi);
        node = Words(args.parents).v[node];
    }
}
