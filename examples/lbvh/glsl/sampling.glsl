// Well-spread sample points: a two-dimensional lattice, shifted and shuffled for each pixel and each use.

#include "../../common/glsl/random.glsl"

// Sample `i` of `samples` (a power of two). The lattice steps are the powers of the plastic number's inverse, as in M.
// Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018, in units of 2^-32. `seed` differs for
// every pixel and use; its low bits shuffle the order, so that two uses in one pixel do not move together.
vec2 sample_square(uint i, uint samples, uint seed) {
    uint j = i ^ (seed & (samples - 1u));
    uint x = hash(seed) + j * 3242174889u;
    uint y = hash(seed + 1u) + j * 2447445414u;
    return vec2(unit_float(x), unit_float(y));
}

// Two axes that complete a unit vector to an orthonormal frame; Duff et al., JCGT 2017.
void make_frame(vec3 n, out vec3 s, out vec3 t) {
    float sign_z = n.z >= 0.0 ? 1.0 : -1.0;
    float a = -1.0 / (sign_z + n.z);
    float b = n.x * n.y * a;
    s = vec3(1.0 + sign_z * n.x * n.x * a, sign_z * b, -sign_z * n.x);
    t = vec3(b, sign_z + n.y * n.y * a, -n.y);
}

vec2 sample_disc(vec2 u) {
    float angle = 6.2831853 * u.y;
    return sqrt(u.x) * vec2(cos(angle), sin(angle));
}

// A direction of the hemisphere about `n`, with a density proportional to its cosine.
vec3 sample_hemisphere(vec3 n, vec2 u) {
    vec3 s, t;
    make_frame(n, s, t);
    vec2 d = sample_disc(u);
    return normalize(d.x * s + d.y * t + sqrt(max(0.0, 1.0 - u.x)) * n);
}

// A direction towards a round light; `spread` is the tangent of its half angle.
vec3 sample_light(vec3 light, float spread, vec2 u) {
    vec3 s, t;
    make_frame(light, s, t);
    vec2 d = sample_disc(u) * spread;
    return normalize(light + d.x * s + d.y * t);
}
