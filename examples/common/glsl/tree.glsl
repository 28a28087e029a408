// The records of a binary tree over leaves in Morton order (LBVH). All buffers are reached by address.

#define NONE 0xffffffffu

layout(constant_id = 0) const uint MORTON_BITS = 30; // 30 or 63

// 2n - 1 nodes for n leaves: node 0 is the root, nodes 0 .. n-2 are internal with two children, nodes n-1 .. 2n-2 are
// the leaves in Morton order. In a leaf `left` is the primitive and `right` is NONE.
struct Node {
    vec3 lo;
    uint left;
    vec3 hi;
    uint right;
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Nodes { Node v[]; };
