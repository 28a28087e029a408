// The push constants of every kernel, and the records that their addresses refer to. The host's twin is `Args` in
// record.rs. There are no descriptors.

#include "../../common/glsl/tree.glsl"

struct Box {
    vec3 lo;
    vec3 hi;
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Boxes { Box v[]; };

layout(push_constant, scalar) uniform Args {
    uvec2 boxes;
    uvec2 changed;   // ids of the boxes that change in this frame; 0: all boxes
    uvec2 codes;
    uvec2 ids;
    uvec2 marks;     // one bit a box: the box has changed, and its item in the base is stale
    uvec2 nodes;
    uvec2 parents;
    uvec2 arrivals;  // one counter an internal node
    uint box_count;
    uint count;      // boxes of this dispatch
    uint first;      // id of the first box that changes
    uint frame;
} args;
