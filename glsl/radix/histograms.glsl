// Histograms in scratch.

PROBLEM_MEMBER(uint, histogram)

// Rows of the histogram. Without a prepare pass, each workgroup of the histogram writes its own row; those without keys
// write zeros.
uint histogram_rows() { return DIRECT ? pass_rows() : 1; }

// One more word follows the rows.
uint histogram_part(uint p) {
    uint part = problem_histogram(p);
    if (SEGMENTS) part += segment_first / SEGMENT_TILE * (pass_digits() * PARTS_A_DIGIT + 1);
    return part;
}

Words histogram_of(uint p) { return Words(scratch_part(histogram_part(p))); }

// The skipped digits follow the rows; the counts of prefix bins follow those.
Words skipped_digits_words(uint p) {
    return Words(advance(scratch_part(histogram_part(p)), uvec2(histogram_rows() * pass_digits() * BINS * 4, 0)));
}

// Loads the digits that the histogram or sort/choose_prefix_path.comp has marked as skipped.
uint load_skipped_digits(uint p) { return has_flag(FLAG_SKIPS_DIGITS) ? skipped_digits_words(p).v[0] : 0; }
