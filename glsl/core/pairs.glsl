// Device memory as an array of pairs of words: one request loads or stores both.
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Pairs {
    uvec2 v[];
};

// Whether an address that is aligned to words is also aligned to pairs. `low`: its low word.
bool is_aligned_to_pairs(uint low) { return (low & 4) == 0; }
