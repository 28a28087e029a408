// Keys of user-defined functions, and what identifies their kernels.
//
// The type KEY depends on the type of the keys:
// - keys of 32 bits: uint, int or float;
// - keys of 64 bits: uvec2, low word first;
// - keys of several words: uvec2, uvec3 or uvec4, in the order of the words in memory.
//
// The compiler defines KEY, USER_KEY_OF(words), USER_KEY, USER_FUNCTION and USER_INTERFACE: see src/radix/user.rs.

// The function, the interface of host and kernel, and the type of the key. The host reads these ids from a module that
// was compiled earlier and rejects one that does not match.
layout(constant_id = SPEC_INTERFACE_FUNCTION) const uint INTERFACE_FUNCTION = USER_FUNCTION;
layout(constant_id = SPEC_INTERFACE) const uint INTERFACE = USER_INTERFACE;
layout(constant_id = SPEC_INTERFACE_KEY) const uint INTERFACE_KEY = USER_KEY;
// Always true. A kernel uses it, because unused constants would be dropped.
const bool INTERFACE_MATCHES =
    INTERFACE_FUNCTION == USER_FUNCTION && INTERFACE == USER_INTERFACE && INTERFACE_KEY == USER_KEY;

// Returns the key of these words, which are not encoded.
KEY user_key(uint key[KEY_WORDS]) {
    uint words[MAX_KEY_WORDS] = uint[MAX_KEY_WORDS](0, 0, 0, 0);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) words[memory_word(w)] = key[w];
    return USER_KEY_OF(words);
}
