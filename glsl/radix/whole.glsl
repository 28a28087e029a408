// Items that one workgroup holds until they lie where they are wanted.
//
// Before it: ITEMS, and striped(k), the places of this thread's items when they leave. Where a thread may have room for more items than
// it holds, HOLDS(k) tells which it does.

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;

#ifndef HOLDS
#define HOLDS(k) true
#endif

// Neighbouring items of a problem.
struct Part {
    uint problem;
    uint count;  // items of the problem
    uint first;
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

// Word w of a key, encoded.
uint load_key_word(Part part, PassIo io, uint w, uint position) {
    if (io.first) return load_encoded(part.problem, w, part.first + position);
    return load_strided(source_plane(part.problem, w, io, part.count), part.first + position);
}

// Moves word w of the items to where they belong: `from` are the places they came from.
void permute_word(Part part, PassIo io, uint w, uint from[ITEMS]) {
    Plane source = source_plane(part.problem, w, io, part.count);
    Plane target = target_plane(part.problem, w, io, part.count);
    uint words[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k) || striped(k) >= part.items) continue;
        uint i = part.first + from[k];
        words[k] = turn_moving(part.problem, w, io, part.count, i, load_word(w, source, io.first, i));
    }
    // Where the sort is in place, all have been read before one is written.
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k) && striped(k) < part.items) store_word(target, part.first + striped(k), words[k]);
    }
}
