// Where the words of items lie, from the caller's input over the planes between passes to the caller's output.
//
// An item is KEY_WORDS key words and VALUE_WORDS value words. As it comes and as it leaves, it lies the way the caller wants it:
// keys and values in arrays of their own or side by side, keys narrower than a word, values that are the places of the keys.
// Between passes each word has a dense array of its own, a plane, and key words are encoded (radix/keys.glsl). So the passes in the
// middle know nothing of layouts, and move u64 keys just as they move pairs.
//
// Planes lie in turn where the result will (the output's memory is as long as its planes) and in the alternate arrays. Where runs are
// merged both lie in scratch: any number of moves then ends where it should.
//
// Of a split by labels (LABELS), the key is a label, which says where the item goes, and what follows it are the caller's key, unless nobody
// wants it, and value: of those, LEAD_WORDS lie in the array of keys. Labels lie in scratch, at first as narrow as they can be; where there are
// two moves, a plane of them lies behind, and after the last they are planes where they came from. There are no more than two moves. Labels of
// segments are kept even of one move, behind where they came from.

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

uvec2 lead_of(uint p) { return part_of(problem_keys(p), key_step(p)); }
uvec2 to_lead_of(uint p) { return part_of(problem_to_keys(p), LEAD_WORDS * 4); }

uvec2 values_of(uint p) { return part_of(problem_values(p), value_step(p)); }
uvec2 to_keys_of(uint p) { return part_of(problem_to_keys(p), DENSE_KEY_BYTES); }
uvec2 to_values_of(uint p) { return part_of(problem_to_values(p), TRAIL_WORDS * 4); }
uvec2 alternate_keys_of(uint p) { return part_of(problem_alternate_keys(p), (INTERLEAVED ? ITEM_WORDS : KEY_WORDS) * 4); }
uvec2 alternate_values_of(uint p) { return part_of(problem_alternate_values(p), VALUE_WORDS * 4); }

// The planes of an area lie one behind the other, as long as the problem.
uvec2 plane_address(uvec2 area, uint index, uint count) {
    if (index == 0) return area;
    uvec2 bytes = bytes_of(count, 4);
    for (uint i = 0; i < index; ++i) area = advance(area, bytes);
    return area;
}

// Behind the alternate planes, where planes lie in scratch alone.
uvec2 behind(uvec2 area, uint words, uint p) {
    return plane_address(area, words, (problem_max_count(p) + 3) & ~3u);
}

// Whether labels of segments, which are all kept, end behind where they were at first. (Kernels without passes do not
// run on segments.)
#ifdef HAS_PASS
bool labels_end_behind() { return SEGMENTS && (pass_digits() & 1) != 0; }
#else
bool labels_end_behind() { return false; }
#endif

uvec2 middle_plane(uint p, uint w, bool alternate, uint count) {
    if (LABELS) {
        if (w >= KEY_WORDS) return plane_address(alternate_values_of(p), w - KEY_WORDS, count);
        return alternate != labels_end_behind() ? behind(labels_of(p), KEY_WORDS, p) : labels_of(p);
    }
    // Items as long as their planes have room for all of those in one array.
    if (w < KEY_WORDS || INTERLEAVED) {
        uvec2 area = alternate_keys_of(p);
        if (!alternate) area = KEYS_APART || MERGED ? behind(area, INTERLEAVED ? ITEM_WORDS : KEY_WORDS, p) : to_keys_of(p);
        return plane_address(area, w, count);
    }
    uvec2 area = alternate_values_of(p);
    if (!alternate) area = VALUES_APART || MERGED ? behind(area, VALUE_WORDS, p) : to_values_of(p);
    return plane_address(area, w - KEY_WORDS, count);
}

Plane source_plane(uint p, uint w, PassIo io, uint count) {
    Plane plane;
    plane.stride = 1;
    if (!io.first) {
        plane.base = middle_plane(p, w, io.to_output, count);
        return plane;
    }
    uint strides = problem_strides(p);
    if (w < KEY_WORDS) {
        plane.base = key_base(p, w);
        if (!KEYS_ARE_PLANES) plane.stride = LABELS ? KEY_BITS / 8 : strides & 0xffff;
    } else if (is_lead(w)) {
        plane.base = advance(lead_of(p), uvec2((w - KEY_WORDS) * 4, 0));
        if (!LEAD_IS_PLANE) plane.stride = strides & 0xffff;
    } else {
        plane.base = advance(values_of(p), uvec2((w - TRAIL) * 4, 0));
        if (!VALUES_ARE_PLANES) plane.stride = strides >> 16;
    }
    return plane;
}

Plane target_plane(uint p, uint w, PassIo io, uint count) {
    Plane plane;
    plane.stride = 1;
    bool packs_later = w < KEY_WORDS ? KEYS_APART : VALUES_APART;
    if (!io.last || packs_later) {
        plane.base = middle_plane(p, w, !io.to_output, count);
        return plane;
    }
    if (w < KEY_WORDS) {
        plane.base = advance(to_keys_of(p), uvec2(memory_word(w) * 4, 0));
        if (!KEYS_ARE_PLANES) plane.stride = INTERLEAVED ? ITEM_WORDS : KEY_WORDS;
    } else if (INTERLEAVED) {
        plane.base = advance(to_keys_of(p), uvec2(w * 4, 0));
        plane.stride = ITEM_WORDS;
    } else if (is_lead(w)) {
        plane.base = advance(to_lead_of(p), uvec2((w - KEY_WORDS) * 4, 0));
        if (!LEAD_IS_PLANE) plane.stride = LEAD_WORDS;
    } else {
        plane.base = advance(to_values_of(p), uvec2((w - TRAIL) * 4, 0));
        if (!VALUES_ARE_PLANES) plane.stride = TRAIL_WORDS;
    }
    return plane;
}

// Word w of item i, from raw to encoded or back.
uint turn_word(uint p, uint w, PassIo io, bool encode, uint count, uint i, uint word) {
    if (w == TOP_WORD) return encode ? encode_top(word) : decode_top(word);
    bool negative = false;
    if (SIGN_TURNS_LOW_WORDS) {
        uint top = load_word(TOP_WORD, source_plane(p, TOP_WORD, io, count), io.first, i);
        negative = is_negative(encode ? top : decode_top(top));
    }
    return turn_low(word, negative);
}

// A word on its way from where the move reads to where it writes.
uint turn_moving(uint p, uint w, PassIo io, uint count, uint i, uint word) {
    bool leaves = io.last && !KEYS_APART;
    if (ENCODES && w < KEY_WORDS && io.first != leaves) return turn_word(p, w, io, io.first, count, i, word);
    return word;
}

void store_word(Plane plane, uint index, uint word) {
    if (WIDE == 0 && plane.stride == 1) Words(plane.base).v[index] = word;
    else Words(advance(plane.base, bytes_of(index, plane.stride * 4))).v[0] = word;
}
