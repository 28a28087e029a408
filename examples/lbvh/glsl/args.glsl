// What every kernel of the example is given: one block of addresses (the host's twin is `Args` in record.rs), and the
// records behind them. All buffers are reached by address; no descriptor exists.

#define NONE 0xffffffffu

// 2n - 1 nodes for n triangles: node 0 is the root, nodes 0 .. n-2 are internal with two children, nodes n-1 .. 2n-2 are
// the leaves in Morton order. In a leaf `left` is the triangle and `right` is NONE.
struct Node {
    vec3 lo;
    uint left;
    vec3 hi;
    uint right;
};

struct Vertex {
    vec3 normal;
    uint colour; // sRGB, red in the lowest byte
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Points { vec3 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Triangles { uvec3 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Vertices { Vertex v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Nodes { Node v[]; };

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer View {
    vec3 eye;
    vec3 right; // right and up reach from the middle of the picture to its border, one unit in front of the eye
    vec3 up;
    vec3 forward;
    vec3 light; // towards the key light
    vec3 sky;   // the world's up axis
    float ground; // height of the ground plane along `sky`
    float radius; // of the mesh; all distances that must not be zero are fractions of it
    uvec2 extent;
    uint samples; // rays a pixel, a power of two
};

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
