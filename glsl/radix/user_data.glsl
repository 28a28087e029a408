// Input of a user-defined function besides keys. Included before the function.

struct TrmUserData {
    uvec2 address;  // user_address of the request, for buffer references
    uvec4 words;    // user_words of the request
};
