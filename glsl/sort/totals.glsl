// How often a digit occurs in the whole problem. Where nothing has been prepared, each group of the histogram has left a row.
//
// Before it: MAX_ROWS, how many rows are on their way together.
uint total_of(Words histogram, uint at) {
    uint rows = histogram_rows();
    uint step = pass_digits() * BINS;
    uint total = 0;
    for (uint row = 0; row < rows; row += MAX_ROWS) {
        uint counts[MAX_ROWS];
        [[unroll]] for (uint i = 0; i < MAX_ROWS; ++i) counts[i] = row + i < rows ? histogram.v[at + (row + i) * step] : 0;
        [[unroll]] for (uint i = 0; i < MAX_ROWS; ++i) total += counts[i];
    }
    return total;
}
