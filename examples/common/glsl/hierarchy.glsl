// The internal nodes of an LBVH. Each invocation finds its node from the sorted codes, without the other nodes.
// Node i covers a range of leaves that begins or ends at leaf i. The including file includes codes.glsl, and its `args`
// have the addresses of nodes, parents and arrivals.
//
// Paper: T. Karras, "Maximizing Parallelism in the Construction of BVHs, Octrees, and k-d Trees", HPG 2012, sections 3,
// 4 (the index distinguishes equal codes, as if it were appended to the code).
// Depth: along a path the common prefix of (code, index) grows at each node, so that no path has more than
// MORTON_BITS + 32 internal nodes.

// Length of the common prefix of leaves i and j in bits, including the zeros before a code of one word; -1 if j is not
// a leaf.
int common_prefix(uint i, uvec2 code, int j, uint leaf_count) {
    if (j < 0 || j >= int(leaf_count)) {
        return -1;
    }
    uvec2 differing = code ^ load_code(uint(j));
    return differing.y != 0u ? 31 - findMSB(differing.y)
         : differing.x != 0u ? 63 - findMSB(differing.x)
         : 95 - findMSB(i ^ uint(j));
}

// Writes the children of internal node i and their parent, and clears the node's arrival counter for refit.glsl.
// Invocations 0 .. leaf_count - 1 call it.
void link_node(uint i, uint leaf_count) {
    if (i == 0u) {
        Words(args.parents).v[0] = NONE;
    }
    if (i + 1u >= leaf_count) {
        return;
    }
    Words(args.arrivals).v[i] = 0u;
    uvec2 code = load_code(i);
    int first = int(i);

    // 1. The range grows towards the neighbor that shares more bits; the other neighbor bounds it from outside.
    int next = common_prefix(i, code, first + 1, leaf_count);
    int towards = next > common_prefix(i, code, first - 1, leaf_count) ? 1 : -1;
    int outside = common_prefix(i, code, first - towards, leaf_count);

    // 2. The other end: doubling finds an upper limit of the length, halving the exact one.
    int limit = 2;
    while (common_prefix(i, code, first + limit * towards, leaf_count) > outside) {
        limit *= 2;
    }
    int len = 0;
    for (int step = limit / 2; step > 0; step /= 2) {
        if (common_prefix(i, code, first + (len + step) * towards, leaf_count) > outside) {
            len += step;
        }
    }
    int last = first + len * towards;

    // 3. The split: the last leaf that shares more bits with leaf i than the whole range does.
    int node_prefix = common_prefix(i, code, last, leaf_count);
    int offset = 0;
    int step = len;
    do {
        step = (step + 1) / 2;
        if (common_prefix(i, code, first + (offset + step) * towards, leaf_count) > node_prefix) {
            offset += step;
        }
    } while (step > 1);
    uint split = uint(first + offset * towards + min(towards, 0));

    // 4. A child that covers one leaf is that leaf.
    uint leaves = leaf_count - 1u;
    uint left = split + (uint(min(first, last)) == split ? leaves : 0u);
    uint right = split + 1u + (uint(max(first, last)) == split + 1u ? leaves : 0u);
    Nodes nodes = Nodes(args.nodes);
    nodes.v[i].left = left;
    nodes.v[i].right = right;
    Words(args.parents).v[left] = i;
    Words(args.parents).v[right] = i;
}
