// A problem, or a part of one, that one workgroup holds from its input to its output.
//
// Before it: ITEMS, and striped(k), the places of this thread's items when they leave. Where a thread may have room for more items than
// it holds, HELD is their number.

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;

#ifndef HOLDS
#define HOLDS(k) true
#endif

Move from_input_to_output() {
    Move move;
    move.first = true;
    move.last = true;
    move.to_output = true;
    return move;
}

// Moves word w of the items to where they belong: `from` are the places they came from.
void permute_word(uint p, uint w, uint count, uint from[ITEMS]) {
    Move move = from_input_to_output();
    Plane source = source_plane(p, w, move, count);
    Plane target = target_plane(p, w, move, count);
    uint words[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k) || striped(k) >= count) continue;
        // Where keys are packed later, they are encoded until then.
        bool packs = KEYS_APART && w < KEY_WORDS;
        words[k] = packs ? load_encoded(p, w, move, count, from[k]) : load_word(w, source, true, from[k]);
    }
    // Where the sort is in place, all have been read before one is written.
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k) && striped(k) < count) store_word(target, striped(k), words[k]);
    }
}
