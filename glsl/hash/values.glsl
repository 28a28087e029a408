// Values that are combined: by operations that commute, so the result does not depend on the order of execution.
//
// Atomic operations of 32 bits suffice for values of two words. An addition carries. Of minima and maxima, the upper
// words are combined first: a smaller or larger one makes the lower word the identity. In a second round, only values
// with this upper word are combined.

// The neutral value of an operation.
const uint IDENTITY = CHANGE == HASH_MIN || CHANGE == HASH_AND ? 0xffffffffu : 0;
const bool ORDERS = CHANGE == HASH_MIN || CHANGE == HASH_MAX;
const uint ROUNDS = ORDERS && VALUE_WORDS == 2 ? 2 : 1;

// Returns the word before.
uint combine_word(Words target, uint w, uint value) {
    if (CHANGE == HASH_MIN) return atomicMin(target.v[w], value);
    if (CHANGE == HASH_MAX) return atomicMax(target.v[w], value);
    if (CHANGE == HASH_AND) return atomicAnd(target.v[w], value);
    if (CHANGE == HASH_OR) return atomicOr(target.v[w], value);
    return atomicAdd(target.v[w], value);
}

void combine_value(Words target, uint value[MOST_VALUE_WORDS], uint round) {
    if (VALUE_WORDS == 1) {
        combine_word(target, 0, value[0]);
    } else if (!ORDERS) {
        uint before = combine_word(target, 0, value[0]);
        bool adds = CHANGE == HASH_ADD || CHANGE == HASH_INCREMENT;
        uint upper = value[1] + (adds && before + value[0] < before ? 1 : 0);
        if (!adds || upper != 0) combine_word(target, 1, upper);
    } else if (round == 0) {
        uint before = combine_word(target, 1, value[1]);
        bool replaces = CHANGE == HASH_MIN ? value[1] < before : value[1] > before;
        if (replaces) atomicExchange(target.v[0], IDENTITY);
    } else if (load_relaxed(target, 1) == value[1]) {
        combine_word(target, 0, value[0]);
    }
}
