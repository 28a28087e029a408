// What all kernels of the example know: the records behind addresses. All buffers are reached by address; no descriptor
// exists. The host's twin of MORTON_BITS is `Morton` in morton.rs.

#include "../../common/glsl/tree.glsl"

struct Vertex {
    vec3 normal;
    uint colour; // sRGB, red in the lowest byte
};

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats { float v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Points { vec3 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Triangles { uvec3 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Vertices { Vertex v[]; };

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
