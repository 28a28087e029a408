// Consecutive items of a problem that one workgroup sorts in registers and shared memory.
//
// The includer defines ITEMS and striped(k), the position of the k-th item of a thread. If a thread may hold fewer than
// ITEMS items, the includer also defines HOLDS(k): whether it holds the k-th.

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;

#ifndef HOLDS
#define HOLDS(k) true
#endif

// Consecutive items of a problem.
struct Part {
    uint problem;
    uint count;  // items of the problem
    uint first;  // index of the first item in the problem
    uint items;
};

Part whole_problem(uint p, uint count) {
    Part part;
    part.problem = p;
    part.count = count;
    part.first = 0;
    part.items = count;
    return part;
}

// Loads word `w` of the key at a position of the part, encoded.
uint load_key_word(Part part, PassIo io, uint w, uint position) {
    if (io.first) return load_encoded(part.problem, w, part.first + position);
    return load_strided(source_plane(part.problem, w, io, part.count), part.first + position);
}

// Moves word `w` of the items into sorted order. `sources`: for each position of this thread, the source index of its
// item in the part.
void permute_word(Part part, PassIo io, uint w, uint sources[ITEMS]) {
    Plane source = source_plane(part.problem, w, io, part.count);
    Plane target = target_plane(part.problem, w, io, part.count);
    uint words[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k) || striped(k) >= part.items) continue;
        uint i = part.first + sources[k];
        words[k] = transcode_in_pass(part.problem, w, io, part.count, i, load_word(w, source, io.first, i));
    }
    // Source and target may be the same array: all threads read before any thread writes.
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k) && striped(k) < part.items) store_word(target, part.first + striped(k), words[k]);
    }
}
