// In:  the sorted codes. Out: the children of every internal node, the parent of every node, and cleared arrival
//      counters. Each internal node is found alone, from the codes only: node i covers a range of leaves with one end
//      at i.
// Paper: T. Karras, "Maximizing Parallelism in the Construction of BVHs, Octrees, and k-d Trees", HPG 2012, sections 3,
// 4
//      (equal codes are told apart by their index, as if it were appended to the code).
// Depth: along a path the common prefix of (code, index) grows at each node, so that no path has more than
//      MORTON_BITS + 32 internal nodes: the tracer's stack relies on it.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"
#include "codes.glsl"

layout(local_size_x = 128) in;

// Length of the common prefix of leaves i and j in bits, with the zeros before a code of one word; -1 where j is no
// leaf.
int common_prefix(uint i, uvec2 code, int j) {
    if (j < 0 || j >= int(args.triangle_count)) {
        return -1;
    }
    uvec2 differing = code ^ load_code(uint(j));
    return differing.y != 0u ? 31 - findMSB(differing.y)
         : differing.x != 0u ? 63 - findMSB(differing.x)
         : 95 - findMSB(i ^ uint(j));
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i == 0u) {
        Words(args.parents).v[0] = NONE;
    }
    if (i + 1u >= args.triangle_count) {
        return;
    }
    Words(args.arrivals).v[i] = 0u;
    uvec2 code = load_code(i);
    int first = int(i);

    // 1. The range grows towards the neighbor that shares more bits; the other neighbor bounds it from outside.
    int towards = common_prefix(i, code, first + 1) > common_prefix(i, code, first - 1) ? 1 : -1;
    int outside = common_prefix(i, code, first - towards);

    // 2. The other end: doubling finds an upper limit of the length, halving the exact one.
    int limit = 2;
    while (common_prefix(i, code, first + limit * towards) > outside) {
        limit *= 2;
    }
    int len = 0;
    for (int step = limit / 2; step > 0; step /= 2) {
        if (common_prefix(i, code, first + (len + step) * towards) > outside) {
            len += step;
        }
    }
    int last = first + len * towards;

    // 3. The split: the last leaf that shares more bits with leaf i than the whole range does.
    int node_prefix = common_prefix(i, code, last);
    int offset = 0;
    int step = len;
    do {
        step = (step + 1) / 2;
        if (common_prefix(i, code, first + (offset + step) * towards) > node_prefix) {
            offset += step;
        }
    } while (step > 1);
    uint split = uint(first + offset * towards + min(towards, 0));

    // 4. A child that covers one leaf is that leaf.
    uint leaves = args.triangle_count - 1u;
    uint left = split + (uint(min(first, last)) == split ? leaves : 0u);
    uint right = split + 1u + (uint(max(first, last)) == split + 1u ? leaves : 0u);
    Nodes nodes = Nodes(args.nodes);
    nodes.v[i].left = left;
    nodes.v[i].right = right;
    Words(args.parents).v[left] = i;
    Words(args.parents).v[right] = i;
}
