// The ranges of keys that are bins.

PROBLEM_MEMBER(KeyRange, range)

// Loads the parameters of the bucket function.
void enter_function(uint p) {
    if (FUNCTION == FUNCTION_RANGE) bin_range = problem_range(p);
}
