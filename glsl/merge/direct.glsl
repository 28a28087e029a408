// Moves single items of a merge from device memory to device memory, without regard to coalescing.

// Returns the words of item `index` of an array. `stride`: the distance of neighboring items in words.
Words item_of(uvec2 array, uint index, uint stride) { return Words(advance(array, bytes_of(index, stride * 4))); }

// Copies the value of item `source` of A, or of B, to item `target` of the output.
void move_value(uint p, bool from_b, uint source, uint target) {
    if (VALUE_WORDS == 0) return;
    Words from = item_of(from_b ? problem_values_b(p) : problem_values_a(p), source, VALUE_STRIDE);
    Words to = item_of(problem_values_out(p), target, VALUE_STRIDE);
    [[dont_unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) {
        to.v[w] = VALUES_ARE_INDICES ? source | (from_b ? SOURCE_B : 0) : from.v[w];
    }
}

// The same of the key and the value.
void move_item(uint p, bool from_b, uint source, uint target) {
    if (!DROPS_KEYS) {
        Words from = item_of(from_b ? problem_keys_b(p) : problem_keys_a(p), source, KEY_STRIDE);
        Words to = item_of(problem_keys_out(p), target, KEY_STRIDE);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) to.v[w] = from.v[w];
    }
    move_value(p, from_b, source, target);
}
