// In:  visits of every pixel and their histogram. Out: the heat map, with a legend from 0 to the end of its scale.
//      The scale ends where 99.5 % of the pixels lie below, so that a few dear pixels do not darken all others.
//      Colours: equal steps of lightness in OKLab (B. Ottosson, "A perceptual color space for image processing", 2020),
//      from a dark violet through red to a pale yellow: lightness alone tells the order.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "args.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

#define LANES 64u
#define BINS_PER_LANE (HISTOGRAM_BINS / LANES)

shared uint sh_sums[LANES];
shared uint sh_scale;

vec3 heat_colour(float x) {
    float lightness = mix(0.13, 0.96, x);
    float hue = mix(-1.25, 1.75, pow(x, 0.8)); // radians
    float chroma = 0.21 * sqrt(max(0.0, sin(3.14159265 * mix(0.12, 0.93, x))));
    float a = chroma * cos(hue);
    float b = chroma * sin(hue);
    vec3 lms = vec3(lightness + 0.3963377774 * a + 0.2158037573 * b,
                    lightness - 0.1055613458 * a - 0.0638541728 * b,
                    lightness - 0.0894841775 * a - 1.2914855480 * b);
    lms = lms * lms * lms;
    vec3 linear = vec3(dot(lms, vec3(4.0767416621, -3.3077115913, 0.2309699292)),
                       dot(lms, vec3(-1.2684380046, 2.6097574011, -0.3413193965)),
                       dot(lms, vec3(-0.0041960863, -0.7034186147, 1.7076147010)));
    return pow(clamp(linear, 0.0, 1.0), vec3(1.0 / 2.2));
}

// The end of the scale, found by the whole workgroup: sums of 16 bins each, then the sum and the bin that holds the
// limit.
void find_scale(uint lane, uint pixels) {
    Words histogram = Words(args.histogram);
    uint sum = 0u;
    for (uint i = 0u; i < BINS_PER_LANE; i++) {
        sum += histogram.v[lane * BINS_PER_LANE + i];
    }
    sh_sums[lane] = sum;
    barrier();
    if (lane == 0u) {
        uint limit = pixels - pixels / 200u;
        uint below = 0u;
        uint group = 0u;
        while (group + 1u < LANES && below + sh_sums[group] < limit) {
            below += sh_sums[group++];
        }
        uint bin = group * BINS_PER_LANE;
        while (bin + 1u < HISTOGRAM_BINS && below + histogram.v[bin] < limit) {
            below += histogram.v[bin++];
        }
        sh_scale = bin + 1u;
    }
    barrier();
}

// Digits of three by five dots, the top row in the highest bits.
const uint DIGITS[10] =
    uint[](0x7b6fu, 0x2c97u, 0x73e7u, 0x73cfu, 0x5bc9u, 0x79cfu, 0x79efu, 0x7249u, 0x7befu, 0x7bcfu);

// Whether the dot of `number`, written to the right of `at`'s origin, covers `at` (in dots, downwards).
bool in_number(ivec2 at, uint number) {
    int count = number >= 1000u ? 4 : number >= 100u ? 3 : number >= 10u ? 2 : 1;
    if (at.x < 0 || at.y < 0 || at.y >= 5 || at.x >= 4 * count || at.x % 4 == 3) {
        return false;
    }
    for (int i = count - 1 - at.x / 4; i > 0; i--) {
        number /= 10u;
    }
    return ((DIGITS[number % 10u] >> (14 - 3 * at.y - at.x % 4)) & 1u) != 0u;
}

vec3 draw(uvec2 pixel, uvec2 extent) {
    // The legend, in dots that grow with the picture: "0", a bar of 64 dots, the end of the scale.
    int dot_size = max(1, int(min(extent.x, extent.y) / 240u));
    ivec2 at = (ivec2(pixel) - ivec2(0, extent.y)) / dot_size + ivec2(-6, 11);
    if (in_number(at, 0u) || in_number(at - ivec2(72, 0), sh_scale)) {
        return vec3(0.85);
    }
    if (at.y >= 0 && at.y < 5 && at.x >= 6 && at.x < 70) {
        return heat_colour((float(at.x) - 6.0) / 63.0);
    }
    float visits = Floats(args.visits).v[pixel.y * extent.x + pixel.x];
    return heat_colour(clamp(visits / float(sh_scale), 0.0, 1.0));
}

void main() {
    View view = View(args.view);
    uvec2 extent = view.extent;
    find_scale(gl_LocalInvocationIndex, extent.x * extent.y);
    uvec2 pixel = gl_GlobalInvocationID.xy;
    if (all(lessThan(pixel, extent))) {
        Words(args.heat).v[pixel.y * extent.x + pixel.x] = packUnorm4x8(vec4(draw(pixel, extent), 1.0));
    }
}
