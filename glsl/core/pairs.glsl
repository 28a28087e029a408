// Device memory as an array of pairs of words: one request loads or stores both.
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Pairs {
    uvec2 v[];
};
