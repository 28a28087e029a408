// In:  the tree, points, triangles, vertices and the view. Out: the shaded picture, the nodes that the rays from the
//      eye visited (mean of a pixel), and a histogram of that mean.
//      A sample is a ray from the eye, one to the key light and one into the hemisphere, where the sky, the ground or
//      the mesh itself meets it: sky light with its occlusion. The ground shows only what the mesh takes from it, so
//      that it has no horizon: its color is the backdrop's, times the share of its light that arrives.
// One invocation a pixel; the host records bands of rows, so that no dispatch runs long.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"
#include "traverse.glsl"
#include "sampling.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

const float FAR = 3.4e38;
const float LIGHT_SPREAD = 0.09; // tangent of the key light's half angle: about ten times the sun's, for soft borders
const vec3 KEY = vec3(2.55, 2.30, 1.95);
const vec3 ZENITH = vec3(0.50, 0.64, 0.90);
const vec3 HORIZON = vec3(0.80, 0.80, 0.82);
const vec3 GROUND_BOUNCE = vec3(0.36, 0.32, 0.29);
const vec3 BACKDROP_TOP = vec3(0.15, 0.19, 0.25);
const vec3 BACKDROP_BOTTOM = vec3(0.80, 0.77, 0.73);

vec3 sky_light(vec3 direction, vec3 sky) {
    float up = dot(direction, sky);
    return up > 0.0 ? mix(HORIZON, ZENITH, up) : mix(HORIZON, GROUND_BOUNCE, min(1.0, -4.0 * up));
}

// The studio's backdrop at `at`, in [-1, 1] across the picture: lighter below, darker towards the corners.
vec3 backdrop(vec2 at) {
    vec3 colour = mix(BACKDROP_BOTTOM, BACKDROP_TOP, smoothstep(-0.9, 1.1, at.y));
    return colour * (1.0 - 0.16 * dot(at, at));
}

// Light from the key and the hemisphere at a surface point, each with its occlusion; the two are kept apart for the
// ground.
void gather(vec3 p, vec3 geometric, vec3 n, uvec2 seeds, uint i, View view, vec3 albedo, out vec3 key, out vec3 sky) {
    uint uncounted = 0u;
    vec3 origin = p + geometric * (2e-4 * view.radius);
    vec3 to_light = sample_light(view.light, LIGHT_SPREAD, sample_square(i, view.samples, seeds.x));
    float cosine = dot(n, to_light);
    key = vec3(0.0);
    if (cosine > 0.0 && trace(origin, to_light, FAR, true, uncounted).triangle == NONE) {
        key = KEY * cosine;
    }
    vec3 away = sample_hemisphere(n, sample_square(i, view.samples, seeds.y));
    bool open = trace(origin, away, FAR, true, uncounted).triangle == NONE;
    // What meets the mesh instead gets a little of its color back: a flat stand-in for further bounces.
    sky = open ? sky_light(away, view.sky) : 0.12 * albedo;
}

vec3 shade_mesh(Hit hit, vec3 direction, uvec2 seeds, uint i, View view) {
    uvec3 t = Triangles(args.triangles).v[hit.triangle];
    Points points = Points(args.points);
    Vertices vertices = Vertices(args.vertices);
    vec3 a = points.v[t.x], b = points.v[t.y], c = points.v[t.z];
    vec3 na = vertices.v[t.x].normal, nb = vertices.v[t.y].normal, nc = vertices.v[t.z].normal;
    vec3 share = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);

    // 1. Both normals face the eye, wherever the triangle's own front is.
    vec3 geometric = normalize(cross(b - a, c - a));
    geometric = faceforward(geometric, direction, geometric);
    vec3 smoothed = share.x * na + share.y * nb + share.z * nc;
    float side = dot(smoothed, geometric) < 0.0 ? -1.0 : 1.0;
    vec3 n = dot(smoothed, smoothed) > 1e-12 ? normalize(side * smoothed) : geometric;

    // 2. The point is lifted to the surface that the smooth normals describe, else the light's border shows the facets:
    //    J. Hanika, "Hacking the Shadow Terminator", Ray Tracing Gems II, 2021.
    vec3 p = share.x * a + share.y * b + share.z * c;
    vec3 lifted = share.x * (p - min(0.0, side * dot(p - a, na)) * side * na)
                + share.y * (p - min(0.0, side * dot(p - b, nb)) * side * nb)
                + share.z * (p - min(0.0, side * dot(p - c, nc)) * side * nc);

    // 3. Matt clay under a thin, smooth coat.
    vec3 albedo = share.x * unpackUnorm4x8(vertices.v[t.x].colour).rgb
                + share.y * unpackUnorm4x8(vertices.v[t.y].colour).rgb
                + share.z * unpackUnorm4x8(vertices.v[t.z].colour).rgb;
    albedo = pow(albedo, vec3(2.2));
    vec3 key, sky;
    gather(lifted, geometric, n, seeds, i, view, albedo, key, sky);
    vec3 half_way = normalize(view.light - direction);
    float gloss = 10.0 * pow(max(0.0, dot(n, half_way)), 90.0);
    float fresnel = 0.04 + 0.5 * pow(1.0 - clamp(dot(n, -direction), 0.0, 1.0), 5.0);
    vec3 mirrored = sky_light(reflect(direction, n), view.sky);
    return (albedo * (key + sky)) * (1.0 - fresnel) + fresnel * (gloss * key + mirrored * min(sky, vec3(1.0)));
}

vec3 shade_ground(vec3 p, vec2 at, uvec2 seeds, uint i, View view) {
    vec3 key, sky;
    gather(p, view.sky, view.sky, seeds, i, view, vec3(0.3), key, sky);
    vec3 whole = KEY * dot(view.sky, view.light) + mix(HORIZON, ZENITH, 2.0 / 3.0);
    return backdrop(at) * (key + sky) / whole;
}

// Filmic curve and sRGB: highlights roll off, shadows keep their hue. The constants put middle gray where it was.
vec3 develop(vec3 c) {
    vec3 x = max(vec3(0.0), c) * 0.66;
    vec3 y = x * (x + 0.35) / (x * (x + 0.62) + 0.16);
    return pow(clamp(y, 0.0, 1.0), vec3(1.0 / 2.2));
}

void main() {
    View view = View(args.view);
    uvec2 pixel = uvec2(gl_GlobalInvocationID.x, gl_GlobalInvocationID.y + args.first_row);
    if (any(greaterThanEqual(pixel, view.extent))) {
        return;
    }
    uint index = pixel.y * view.extent.x + pixel.x;
    uint seed = hash(index) & ~7u; // each use adds a number below 8

    // 1. All samples of the pixel.
    vec3 colour = vec3(0.0);
    uint visits = 0u;
    for (uint i = 0u; i < view.samples; i++) {
        vec2 at = (vec2(pixel) + sample_square(i, view.samples, hash(seed))) / vec2(view.extent) * 2.0 - 1.0;
        at.y = -at.y;
        vec3 direction = normalize(view.forward + at.x * view.right + at.y * view.up);
        Hit hit = trace(view.eye, direction, FAR, false, visits);
        uvec2 seeds = uvec2(hash(seed + 1u), hash(seed + 2u));

        float fall = dot(direction, view.sky);
        float to_ground = (view.ground - dot(view.eye, view.sky)) / fall;
        if (hit.triangle != NONE) {
            colour += shade_mesh(hit, direction, seeds, i, view);
        } else if (fall < 0.0 && to_ground > 0.0 && to_ground < 40.0 * view.radius) {
            colour += shade_ground(view.eye + to_ground * direction, at, seeds, i, view);
        } else {
            colour += backdrop(at);
        }
    }
    float share = 1.0 / float(view.samples);
    float mean_visits = float(visits) * share;

    // 2. Half a step of noise hides the steps of eight bits in the backdrop.
    vec3 noise = vec3(unit_float(hash(seed + 3u)), unit_float(hash(seed + 4u)), unit_float(hash(seed + 5u))) - 0.5;
    Words(args.picture).v[index] = packUnorm4x8(vec4(develop(colour * share) + noise / 255.0, 1.0));
    Floats(args.visits).v[index] = mean_visits;
    uint bin = min(uint(mean_visits), HISTOGRAM_BINS - 1u);
    atomicAdd(Words(args.histogram).v[bin], 1u);
}
