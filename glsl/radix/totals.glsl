// Returns the count of a digit in the whole problem. `at`: index of its counter in a row of the histogram. With a
// prepare pass, the histogram has one row. Otherwise each workgroup of the histogram has written a row, and this adds
// them up.
//
// The includer defines MAX_ROWS, the number of rows that are loaded at a time.
uint total_of(Words histogram, uint at) {
    uint rows = histogram_rows();
    uint step = pass_digits() * BINS;
    uint total = 0;
    for (uint row = 0; row < rows; row += MAX_ROWS) {
        uint counts[MAX_ROWS];
        [[unroll]] for (uint i = 0; i < MAX_ROWS; ++i) {
            counts[i] = row + i < rows ? histogram.v[at + (row + i) * step] : 0;
        }
        [[unroll]] for (uint i = 0; i < MAX_ROWS; ++i) total += counts[i];
    }
    return total;
}
