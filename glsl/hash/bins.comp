// Finds the first position of each bin of a sorted batch.
//
// In:  the hashes of the batch, sorted by their first bits; their count, if it is in device memory.
// Out: for each value of these bits, the number of items with a smaller value; the number of all items.
// Workgroups: one for each THREADS bins, and one more word.
// Memory order: inputs come from earlier dispatches; every word is written once.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

#include "radix/scratch.glsl"
#include "hash/table.glsl"
#include "hash/batch.glsl"
#include "hash/sorted.glsl"

void main() {
    uint bin = linear_group() * THREADS + thread_id();
    if (bin > 1u << args.bin_bits) return;
    uint count = batch_count();
    // Hashes are distributed evenly: the first position of the bin is near its share, usually in this window.
    float share = ldexp(float(bin), -int(args.bin_bits));
    float guess = share * float(count);
    float reach = 4 * sqrt(float(count));
    uint begin = min(uint(max(guess - reach, 0)), count);
    uint end = min(uint(guess + reach), count);
    if (begin != 0 && bin_of(hash_at(begin - 1)) >= bin) begin = 0;
    if (end != count && bin_of(hash_at(end)) < bin) end = count;
    // It is in [first, first + left].
    uint first = begin;
    uint left = end - begin;
    while (left != 0) {
        uint half_left = left / 2;
        if (bin_of(hash_at(first + half_left)) < bin) {
            first += half_left + 1;
            left -= half_left + 1;
        } else {
            left = half_left;
        }
    }
    bins().v[bin] = first;
}
