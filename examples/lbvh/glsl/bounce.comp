// In:  the tree, points, triangles and the view. Out: secondary rays, their count, and the dispatch over them.
//      Where the ray through the middle of a pixel meets the mesh, `rays_a_pixel` rays leave: a matt surface's, about
//      the triangle's own normal, so that none begins below it. They lie as a wavefront tracer appends them: tile by
//      tile in any order, in a tile sample by sample, in a sample pixel by pixel. Neighbours in memory begin side by
//      side and go anywhere.
// One invocation a pixel.
// Memory order: the atomics are relaxed; the next dispatch reads the results behind a barrier.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "rays.glsl"
#include "traverse.glsl"
#include "sampling.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

const float FAR = 3.4e38;

shared uint sh_met[2]; // a bit for each pixel of the tile that shows the mesh
shared uint sh_first;  // of the tile's rays

vec3 direction_through(vec2 point, View view) {
    vec2 at = point / vec2(view.extent) * 2.0 - 1.0;
    return normalize(view.forward + at.x * view.right - at.y * view.up);
}

// The triangle's normal on the side that the ray comes from.
vec3 normal_towards(vec3 direction, uint triangle) {
    uvec3 t = Triangles(args.triangles).v[triangle];
    Points p = Points(args.points);
    vec3 a = p.v[t.x];
    vec3 n = cross(p.v[t.y] - a, p.v[t.z] - a);
    // Scaled first: squares of very small or large sides leave the range of floats.
    n = normalize(n / max(abs(n.x), max(abs(n.y), abs(n.z))));
    return faceforward(n, direction, n);
}

// Room for `count` more rays; where it begins.
uint append(uint count) {
    List list = List(args.list);
    uint first = atomicAdd(list.count, count);
    uint groups = (first + count + RAYS_A_GROUP - 1u) / RAYS_A_GROUP;
    atomicMax(list.groups_x, min(groups, GROUPS_A_ROW));
    atomicMax(list.groups_y, (groups + GROUPS_A_ROW - 1u) / GROUPS_A_ROW);
    return first;
}

void main() {
    View view = View(args.view);
    uvec2 pixel = gl_GlobalInvocationID.xy;
    uint lane = gl_LocalInvocationIndex;

    // 1. What the pixel shows.
    vec3 direction = direction_through(vec2(pixel) + 0.5, view);
    Hit hit = Hit(FAR, vec2(0.0), NONE);
    uint uncounted = 0u;
    if (all(lessThan(pixel, view.extent))) {
        hit = trace(view.eye, direction, FAR, false, uncounted);
    }
    bool met = hit.triangle != NONE;

    // 2. The pixel's place among those of its tile, and the tile's among all.
    if (lane < 2u) {
        sh_met[lane] = 0u;
    }
    barrier();
    if (met) {
        atomicOr(sh_met[lane / 32u], 1u << (lane % 32u));
    }
    barrier();
    uint low = bitCount(sh_met[0]);
    uint hits = low + bitCount(sh_met[1]);
    uint rank = bitCount(sh_met[lane / 32u] & ((1u << (lane % 32u)) - 1u)) + (lane < 32u ? 0u : low);
    if (lane == 0u && hits > 0u) {
        sh_first = append(hits * args.rays_a_pixel);
    }
    barrier();
    if (!met) {
        return;
    }

    // 3. The rays. They begin above the surface, so that they do not meet it at once.
    vec3 n = normal_towards(direction, hit.triangle);
    vec3 origin = view.eye + hit.t * direction + n * (2e-4 * view.radius);
    uint index = pixel.y * view.extent.x + pixel.x;
    uint seed = (hash(index) & ~7u) + 6u; // the picture's samples take the numbers before
    for (uint i = 0u; i < args.rays_a_pixel; i++) {
        // One use alone needs no shuffling, so that any number of samples will do.
        vec3 away = sample_hemisphere(n, sample_square(i, 1u, seed));
        Rays(args.rays).v[sh_first + i * hits + rank] = Ray(origin, index, away, FAR);
    }
}
