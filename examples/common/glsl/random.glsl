// Pseudo-random numbers without state.

// M. Jarzynski and M. Olano, "Hash Functions for GPU Rendering", JCGT 2020 (pcg).
uint hash(uint x) {
    uint state = x * 747796405u + 2891336453u;
    uint word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

float unit_float(uint x) {
    return float(x >> 8) * (1.0 / 16777216.0);
}
