// The caller's input, and the layout of items.
//
// The includer defines three functions of a problem:
//   problem_keys(): the caller's array of keys;
//   problem_labels(): the array of labels, which replace the keys of a split by labels (LABELS);
//   problem_key_stride(): the distance of neighboring keys, in words, or in bytes if keys are narrower.

layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 0;
layout(constant_id = SPEC_LAYOUT) const uint LAYOUT = 0;
layout(constant_id = SPEC_WIDE) const uint WIDE = 0;

const uint ITEM_WORDS = KEY_WORDS + VALUE_WORDS;
const bool LABELS = (LAYOUT & LAYOUT_LABELS) != 0;
const bool INTERLEAVED = (LAYOUT & LAYOUT_INTERLEAVED) != 0;
const bool VALUES_ARE_INDICES = (LAYOUT & LAYOUT_INDICES) != 0;
const bool DROPS_KEYS = (LAYOUT & LAYOUT_DROP_KEYS) != 0;
// Whether the last pass leaves keys (encoded) or values in scratch. A further kernel writes them to the output, unless
// the caller drops them.
const bool KEYS_IN_SCRATCH = (LAYOUT & LAYOUT_KEYS_IN_SCRATCH) != 0;
const bool VALUES_IN_SCRATCH = (LAYOUT & LAYOUT_VALUES_IN_SCRATCH) != 0;
const bool STRIDED = (LAYOUT & LAYOUT_STRIDED) != 0;
const bool KEYS_ARE_STRIDED = STRIDED && !LABELS;
const bool NARROW = KEY_BITS < 32;

// Splits by labels: after the label, words in the key array, then words in the value array.
const uint KEY_ARRAY_WORDS = LAYOUT >> LAYOUT_KEY_ARRAY_WORDS_SHIFT & 15;
const uint VALUE_ARRAY_BEGIN = KEY_WORDS + KEY_ARRAY_WORDS;
const uint VALUE_ARRAY_WORDS = ITEM_WORDS - VALUE_ARRAY_BEGIN;

// Whether these words are in dense arrays of their own in the input and output too. Then their strides are constants of
// the pipeline.
const bool KEYS_ARE_PLANES = KEY_WORDS == 1 && !INTERLEAVED && !KEYS_ARE_STRIDED && !NARROW;
const bool KEY_ARRAY_IS_PLANE = KEY_ARRAY_WORDS == 1 && !STRIDED;
const bool VALUES_ARE_PLANES = VALUE_ARRAY_WORDS <= 1 && !INTERLEAVED && !STRIDED && !VALUES_ARE_INDICES;

bool is_in_key_array(uint w) { return w >= KEY_WORDS && w < VALUE_ARRAY_BEGIN; }
bool is_index(uint w) { return VALUES_ARE_INDICES && w >= VALUE_ARRAY_BEGIN; }
bool is_plane(uint w) {
    return w < KEY_WORDS ? KEYS_ARE_PLANES : is_in_key_array(w) ? KEY_ARRAY_IS_PLANE : VALUES_ARE_PLANES;
}

// One word of each item.
struct Plane {
    uvec2 base;
    uint stride;  // distance of neighboring items in words; of keys narrower than a word, in bytes
};

// Returns the address of the current segment in an array; without segments, of the array. `item_bytes`: the distance of
// neighboring items.
uvec2 segment_address(uvec2 array, uint item_bytes) {
    if (!SEGMENTS) return array;
    return advance(array, bytes_of(segment_first, item_bytes));
}

// Bytes from one key of the input to the next.
uint key_step(uint p) { return problem_key_stride(p) * (NARROW ? 1 : 4); }

// Labels of segments have 32 bits, as the planes that they end in.
uvec2 labels_of(uint p) { return segment_address(problem_labels(p), 4); }
uvec2 keys_of(uint p) { return LABELS ? labels_of(p) : segment_address(problem_keys(p), key_step(p)); }

// Word w of the input's keys.
uvec2 key_base(uint p, uint w) { return advance(keys_of(p), uvec2(NARROW ? 0 : memory_word(w) * 4, 0)); }

Plane key_plane(uint p, uint w) {
    Plane plane;
    plane.stride = 1;
    plane.base = key_base(p, w);
    if (!KEYS_ARE_PLANES) plane.stride = LABELS ? KEY_BITS / 8 : problem_key_stride(p);
    return plane;
}

// Loads a key narrower than a word. `stride` is in bytes.
uint load_narrow(uvec2 base, uint stride, uint index) {
    uvec2 address = advance(base, bytes_of(index, stride));
    uint shift = (address.x & 3) * 8;
    return Words(uvec2(address.x & ~3u, address.y)).v[0] >> shift & KEY_MASK;
}

uint load_strided(Plane plane, uint index) {
    return Words(advance(plane.base, bytes_of(index, plane.stride * 4))).v[0];
}

// Loads word `w` of item `index`; key words are not decoded or encoded. `from_input`: whether the plane is in the
// caller's input.
uint load_word(uint w, Plane plane, bool from_input, uint index) {
    if (from_input && NARROW && w < KEY_WORDS) return load_narrow(plane.base, plane.stride, index);
    if (from_input && is_index(w)) return SEGMENTS ? segment_first + index : index;
    return load_strided(plane, index);
}

// Whether encoded keys differ from the caller's keys.
const bool ENCODES = KEYS_ARE_SIGNED || KEYS_DESCEND;

// Loads a key word of the input and encodes it.
uint load_encoded(uint p, uint w, uint index) {
    uint word = load_word(w, key_plane(p, w), true, index);
    if (!ENCODES) return word;
    if (w == TOP_WORD) return encode_top(word);
    bool negative = false;
    if (SIGN_FLIPS_LOW_WORDS) negative = is_negative(load_word(TOP_WORD, key_plane(p, TOP_WORD), true, index));
    return transcode_low(word, negative);
}
