// What the kernels of the tree and the picture are given: one block of addresses (the host's twin is `Args` in
// record.rs).

#include "scene.glsl"

layout(push_constant, scalar) uniform Args {
    uvec2 points;
    uvec2 triangles;
    uvec2 vertices;
    uvec2 codes;
    uvec2 ids;
    uvec2 bounds;    // six words: the smallest and the largest centroid, as ordered words
    uvec2 nodes;
    uvec2 parents;
    uvec2 arrivals;  // one counter an internal node
    uvec2 view;
    uvec2 picture;   // RGBA8
    uvec2 heat;      // RGBA8
    uvec2 visits;    // nodes visited a primary ray, one float a pixel
    uvec2 histogram; // of visits, HISTOGRAM_BINS words
    uint triangle_count;
    uint first_row;
} args;

#define HISTOGRAM_BINS 1024

// Order-preserving map of floats to words: as unsigned integers they compare as the floats do.
uint ordered(float x) {
    uint bits = floatBitsToUint(x);
    return bits ^ ((bits >> 31) != 0u ? 0xffffffffu : 0x80000000u);
}

float unordered(uint word) {
    return uintBitsToFloat(word ^ ((word >> 31) != 0u ? 0x80000000u : 0xffffffffu));
}

vec3 centre_of(uint triangle) {
    uvec3 t = Triangles(args.triangles).v[triangle];
    Points p = Points(args.points);
    return (p.v[t.x] + p.v[t.y] + p.v[t.z]) * (1.0 / 3.0);
}
