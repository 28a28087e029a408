// Addresses of the words of items: in the caller's input, in the planes between passes, and in the caller's output.
//
// An item is KEY_WORDS key words and VALUE_WORDS value words. The caller's arrays may be dense, strided or interleaved
// (keys and values side by side). Keys may be narrower than a word. Values may be the indices of the items.
//
// Between passes, each word of the items has a dense array of its own: a plane. Key words in planes are encoded
// (radix/keys.glsl). So only the first read and the last write depend on layout and encoding.
//
// Passes alternate between two sets of planes (ping-pong): the memory of the output, and the alternate arrays. In merge
// sorts, both sets are in scratch: the number of passes then has no effect on where the result is.
//
// Splits by labels (LABELS): the label takes the place of the key, and determines the bin. The caller's key and value
// follow as value words: first KEY_ARRAY_WORDS words of the key array, none if keys are dropped, then the words of the
// value array. Labels are in scratch.
// - The input has labels of 8, 16 or 32 bits.
// - If there are two passes, a second plane follows the array of labels.
// - After the last pass, labels that are kept are in one of the two planes. Segments keep theirs after a single pass
//   too, in the second plane.

PROBLEM_MEMBER(uvec2, keys)
PROBLEM_MEMBER(uvec2, values)
PROBLEM_MEMBER(uvec2, to_keys)
PROBLEM_MEMBER(uvec2, to_values)
PROBLEM_MEMBER(uvec2, alternate_keys)
PROBLEM_MEMBER(uvec2, alternate_values)
PROBLEM_MEMBER(uint, strides)

uvec2 problem_labels(uint p) { return problem_alternate_keys(p); }
uint problem_key_stride(uint p) { return problem_strides(p) & 0xffff; }

#include "radix/input.glsl"

// Bytes from one value of the input to the next, and of dense keys.
uint value_step(uint p) { return (problem_strides(p) >> 16) * 4; }
const uint DENSE_KEY_BYTES = NARROW ? KEY_BITS / 8 : (INTERLEAVED ? ITEM_WORDS : KEY_WORDS) * 4;

uvec2 key_array_of(uint p) { return segment_address(problem_keys(p), key_step(p)); }
uvec2 to_key_array_of(uint p) { return segment_address(problem_to_keys(p), KEY_ARRAY_WORDS * 4); }

uvec2 values_of(uint p) { return segment_address(problem_values(p), value_step(p)); }
uvec2 to_keys_of(uint p) { return segment_address(problem_to_keys(p), DENSE_KEY_BYTES); }
uvec2 to_values_of(uint p) { return segment_address(problem_to_values(p), VALUE_ARRAY_WORDS * 4); }
uvec2 alternate_keys_of(uint p) {
    return segment_address(problem_alternate_keys(p), (INTERLEAVED ? ITEM_WORDS : KEY_WORDS) * 4);
}
uvec2 alternate_values_of(uint p) { return segment_address(problem_alternate_values(p), VALUE_WORDS * 4); }

// Returns the address of a plane. The planes of an area are consecutive; each has `count` words.
uvec2 plane_address(uvec2 area, uint index, uint count) {
    if (index == 0) return area;
    uvec2 bytes = bytes_of(count, 4);
    for (uint i = 0; i < index; ++i) area = advance(area, bytes);
    return area;
}

// Returns the address after the first `planes` planes of an area: there the second set of planes begins, if both sets
// are in scratch.
uvec2 address_after_planes(uvec2 area, uint planes, uint p) {
    return plane_address(area, planes, (problem_max_count(p) + 3) & ~3u);
}

// Whether the sorted labels of segments end in the second plane of labels. (Kernels without passes do not run on
// segments.)
#ifdef HAS_PASS
bool labels_end_in_second_plane() { return SEGMENTS && (pass_digits() & 1) != 0; }
#else
bool labels_end_in_second_plane() { return false; }
#endif

// Returns the plane of word `w` between passes, of the alternate set or of the other one.
uvec2 intermediate_plane(uint p, uint w, bool alternate, uint count) {
    if (LABELS) {
        if (w >= KEY_WORDS) return plane_address(alternate_values_of(p), w - KEY_WORDS, count);
        return alternate != labels_end_in_second_plane()
            ? address_after_planes(labels_of(p), KEY_WORDS, p)
            : labels_of(p);
    }
    // An array of interleaved items is as large as all their planes.
    if (w < KEY_WORDS || INTERLEAVED) {
        uvec2 area = alternate_keys_of(p);
        if (!alternate) {
            area = KEYS_IN_SCRATCH || MERGED
                ? address_after_planes(area, INTERLEAVED ? ITEM_WORDS : KEY_WORDS, p)
                : to_keys_of(p);
        }
        return plane_address(area, w, count);
    }
    uvec2 area = alternate_values_of(p);
    if (!alternate) area = VALUES_IN_SCRATCH || MERGED ? address_after_planes(area, VALUE_WORDS, p) : to_values_of(p);
    return plane_address(area, w - KEY_WORDS, count);
}

// Returns where a pass reads word `w`.
Plane source_plane(uint p, uint w, PassIo io, uint count) {
    Plane plane;
    plane.stride = 1;
    if (!io.first) {
        plane.base = intermediate_plane(p, w, io.to_output, count);
        return plane;
    }
    uint strides = problem_strides(p);
    if (w < KEY_WORDS) {
        plane.base = key_base(p, w);
        if (!KEYS_ARE_PLANES) plane.stride = LABELS ? KEY_BITS / 8 : strides & 0xffff;
    } else if (is_in_key_array(w)) {
        plane.base = advance(key_array_of(p), uvec2((w - KEY_WORDS) * 4, 0));
        if (!KEY_ARRAY_IS_PLANE) plane.stride = strides & 0xffff;
    } else {
        plane.base = advance(values_of(p), uvec2((w - VALUE_ARRAY_BEGIN) * 4, 0));
        if (!VALUES_ARE_PLANES) plane.stride = strides >> 16;
    }
    return plane;
}

// Returns where a pass writes word `w`.
Plane target_plane(uint p, uint w, PassIo io, uint count) {
    Plane plane;
    plane.stride = 1;
    bool stays_in_scratch = w < KEY_WORDS ? KEYS_IN_SCRATCH : VALUES_IN_SCRATCH;
    if (!io.last || stays_in_scratch) {
        plane.base = intermediate_plane(p, w, !io.to_output, count);
        return plane;
    }
    if (w < KEY_WORDS) {
        plane.base = advance(to_keys_of(p), uvec2(memory_word(w) * 4, 0));
        if (!KEYS_ARE_PLANES) plane.stride = INTERLEAVED ? ITEM_WORDS : KEY_WORDS;
    } else if (INTERLEAVED) {
        plane.base = advance(to_keys_of(p), uvec2(w * 4, 0));
        plane.stride = ITEM_WORDS;
    } else if (is_in_key_array(w)) {
        plane.base = advance(to_key_array_of(p), uvec2((w - KEY_WORDS) * 4, 0));
        if (!KEY_ARRAY_IS_PLANE) plane.stride = KEY_ARRAY_WORDS;
    } else {
        plane.base = advance(to_values_of(p), uvec2((w - VALUE_ARRAY_BEGIN) * 4, 0));
        if (!VALUES_ARE_PLANES) plane.stride = VALUE_ARRAY_WORDS;
    }
    return plane;
}

// Encodes or decodes word `w` of item `i`, which a pass has loaded as `word`. Low words of floats need the sign: then
// this loads the top word too.
uint transcode_word(uint p, uint w, PassIo io, bool encode, uint count, uint i, uint word) {
    if (w == TOP_WORD) return encode ? encode_top(word) : decode_top(word);
    bool negative = false;
    if (SIGN_FLIPS_LOW_WORDS) {
        uint top = load_word(TOP_WORD, source_plane(p, TOP_WORD, io, count), io.first, i);
        negative = is_negative(encode ? top : decode_top(top));
    }
    return transcode_low(word, negative);
}

// Converts a loaded word to the encoding of the target of the pass: encodes in the first pass, decodes in the last.
uint transcode_in_pass(uint p, uint w, PassIo io, uint count, uint i, uint word) {
    bool decodes = io.last && !KEYS_IN_SCRATCH;
    if (ENCODES && w < KEY_WORDS && io.first != decodes) return transcode_word(p, w, io, io.first, count, i, word);
    return word;
}

// Stores a word of item `index`. In dense planes of up to 2^30 words, the item is indexed. In larger ones (WIDE) and in
// strided ones, each item needs an address.
void store_word(Plane plane, uint index, uint word) {
    if (WIDE == 0 && plane.stride == 1) Words(plane.base).v[index] = word;
    else Words(advance(plane.base, bytes_of(index, plane.stride * 4))).v[0] = word;
}
