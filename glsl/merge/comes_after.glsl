// The order of items. The includer defines MERGED_WORDS, the words of an item. The compared words come first.

// Whether the key of `a` is greater than the key of `b`: then `a` belongs after `b`. Carried words are not compared.
bool comes_after(uint a[MERGED_WORDS], uint b[MERGED_WORDS]) {
    bool greater = false;
    [[unroll]] for (uint w = 0; w < COMPARED_WORDS; ++w) {
        uint x = a[w] & compared_bits(w);
        uint y = b[w] & compared_bits(w);
        greater = x > y || x == y && greater;
    }
    return greater;
}
