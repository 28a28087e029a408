// What the kernels of secondary rays are given: a block of addresses of their own (the host's twin is `Args` in
// secondary.rs), and the rays. Its first members are those that traverse.glsl asks for.

#include "scene.glsl"

// 32 bytes, so that a ray fetched alone is one sector of a cache line.
struct Ray {
    vec3 origin;
    uint pixel;     // that it belongs to
    vec3 direction; // of length 1; its signs are its octant
    float reach;    // hits beyond it do not count
};

struct Found {
    float t;       // where the nearest hit is, or the ray's reach
    uint triangle; // NONE where nothing was hit
};

layout(buffer_reference, scalar, buffer_reference_align = 32) buffer Rays { Ray v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) writeonly buffer FoundByRay { Found v[]; };

// How many rays there are, and a VkDispatchIndirectCommand over them. The host's twin is `List` in secondary.rs.
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer List {
    uint groups_x;
    uint groups_y;
    uint groups_z;
    uint count;
};

layout(push_constant, scalar) uniform Args {
    uvec2 points;
    uvec2 triangles;
    uvec2 nodes;
    uvec2 view;
    uvec2 rays;
    uvec2 list;
    uvec2 order;       // the ray that each invocation takes; 0: as they lie
    uvec2 found;       // what each ray meets, in the order in which rays lie
    uint triangle_count;
    uint rays_a_pixel;
} args;

#define RAYS_A_GROUP 64u
// More workgroups take more rows; every device takes a row of these.
#define GROUPS_A_ROW 32768u
