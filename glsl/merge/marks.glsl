// The marked items of A, which an update removes. marked[2 * i]: a bit for each of the items from 32 * i on.
// marked[2 * i + 1]: the number of marked items before item 32 * i. The last i is count_a / 32.

MERGE_DETAIL(uint, marked)

// Returns the mask of the bits below that of an item, in its word.
uint bits_before(uint item) { return (1 << item % 32) - 1; }

// Returns the number of marked items of A before an item.
uint marked_before(uint p, uint item) {
    Words marked = Words(scratch_part(merge_marked(p)));
    return marked.v[item / 32 * 2 + 1] + bitCount(marked.v[item / 32 * 2] & bits_before(item));
}
