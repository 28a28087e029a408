// Decoupled look-back over RADIX counters at once, after Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016.
//
// A look-back word: two bits of state, 30 bits of count. Counts are taken modulo 2^30, which is exact for every place below
// 2^30. The meaning of the state bits turns with the parity of the pass, and after a pass every word holds a prefix, which
// the next pass reads as empty: so the words are cleared once for all passes. The kernel's push constants tell which pass it
// is: args.pass_index.

layout(constant_id = SPEC_SPIN_LIMIT) const uint SPIN_LIMIT = 4096;

const uint LOOK_BACK_EMPTY = 0;
const uint LOOK_BACK_COUNT = 1;
const uint LOOK_BACK_PREFIX = 2;
const uint LOOK_BACK_MASK = 0x3fffffffu;

// Words read in one turn: their latencies overlap.
const uint LOOK_BACK_WINDOW = 4;

shared uint sh_vote;

uint look_back_turn() { return (args.pass_index & 1) << 31; }
uint look_back_state(uint word) { return (word ^ look_back_turn()) >> 30; }
uint look_back_count(uint word) { return word & LOOK_BACK_MASK; }

void publish(Words words, uint tile, uint counts[MAX_DIGITS], uint state) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit < RADIX) store_relaxed(words, tile * RADIX + digit, (state << 30 ^ look_back_turn()) | (counts[j] & LOOK_BACK_MASK));
    }
}

bool any_thread(bool value) {
    barrier();
    if (thread_id() == 0) sh_vote = 0;
    barrier();
    if (value) atomicOr(sh_vote, 1);
    barrier();
    return sh_vote != 0;
}

// Sums one digit's counts from tile - 1 back to the first prefix. False when it has waited long enough.
bool look_back_digit(Words words, uint tile, uint digit, out uint exclusive) {
    exclusive = 0;
    uint next = tile;  // the tile before it is the next to be read
    for (uint turn = 0; turn < SPIN_LIMIT; ++turn) {
        uint window[LOOK_BACK_WINDOW];
        [[unroll]] for (uint i = 0; i < LOOK_BACK_WINDOW; ++i) {
            uint t = next > i ? next - 1 - i : 0;
            window[i] = load_relaxed(words, t * RADIX + digit);
        }
        bool waiting = false;
        [[unroll]] for (uint i = 0; i < LOOK_BACK_WINDOW; ++i) {
            uint state = look_back_state(window[i]);
            waiting = waiting || state == LOOK_BACK_EMPTY;
            if (!waiting) {
                exclusive += look_back_count(window[i]);
                next -= 1;
                if (state == LOOK_BACK_PREFIX) return true;
            }
        }
    }
    return false;
}

// Every digit's count before `tile`. The whole workgroup agrees on the answer.
bool look_back(Words words, uint tile, out uint exclusive[MAX_DIGITS]) {
    bool found = true;
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        exclusive[j] = 0;
        if (digit < RADIX) found = look_back_digit(words, tile, digit, exclusive[j]) && found;
    }
    return !any_thread(!found);
}
