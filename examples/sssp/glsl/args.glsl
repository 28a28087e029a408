// What every kernel of the example is given: one block of addresses (the host's twin is `Args` in record.rs), and the
// records behind them. All buffers are reached by address; no descriptor exists.
//
// An item of a list is a vertex and the distance at which it was put there, as a key: the distance beyond `base`. It is
// stale when the vertex has come nearer since, for then another item has been made of it. Distances of a vertex only
// fall, so that no two items are the same, and at any time one item of a vertex at most is not stale.

#define NONE 0xffffffffu

// What groups the items between two iterations; the host's twin is `Grouping`.
#define GROUPING_NONE 0u
#define GROUPING_SPLIT 1u
#define GROUPING_SORT 2u

// A vertex of more edges than these is cut into tasks of as many.
#define TASK_EDGES 2048u

struct Edge {
    uint target;
    uint weight;
};

// Edges of one vertex.
struct Task {
    uint first;
    uint end;
    uint distance; // of the vertex
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Edges { Edge v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Tasks { Task v[]; };

// The host's twin is `State` in record.rs.
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer State {
    uvec3 groups;       // VkDispatchIndirectCommand of `relax`
    uint count;         // items in the pile, the list that is grouped next
    uint near_count;    // items in the list that the next round relaxes
    uint total;         // items that this round reads
    uint near;          // so many of them, the first, are relaxed; the others are carried over to the pile
    uint base;          // distance that keys written in this step are relative to
    uint shift;         // by so much larger than that of the keys that are read
    uint border;        // distance at which the buckets that are near end
    uint limit;         // items before it go to the next round, others to the pile: `border`, or 0 in the last round
    uint nearest;       // least distance in the pile
    uint tasks;
    uint overflows;     // items that found no room
    uint steps;         // of which there was something to do
    uint idle;          // steps of which nothing was near
    uint rounds;        // of which there was something to do
    uint longest;       // list that was grouped
    uvec2 vertices;     // relaxed, 64 bits
    uvec2 edges;        // relaxed, 64 bits
    uvec2 items;        // grouped, 64 bits
};

// A list is one buffer: `capacity` keys, and as many vertices behind them.
layout(push_constant, scalar) uniform Args {
    uvec2 rows;         // of the graph: where each vertex's edges begin, and where the last one's end
    uvec2 edges;
    uvec2 distances;
    uvec2 state;
    uvec2 list;         // that is read
    uvec2 near;         // list for the next round
    uvec2 pile;         // list for the next step
    uvec2 offsets;      // where each bucket begins in what the splitter wrote
    uvec2 tasks;
    uint vertex_count;
    uint source;
    uint capacity;      // of a list, in items
    uint delta;         // width of a bucket
    uint buckets;
    uint fill;          // buckets are taken together until there are so many items near
    uint round;
    uint last_round;
} args;
