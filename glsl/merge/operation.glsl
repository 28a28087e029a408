// The set operation.

layout(constant_id = SPEC_OPERATION) const uint OPERATION = OPERATION_UNION;

// Returns the most items of the result, for which the output has room.
uint output_room(uint p) {
    uint most_a = problem_max_a(p);
    uint most_b = problem_max_count(p) - most_a;
    if (OPERATION == OPERATION_INTERSECTION) return min(most_a, most_b);
    return OPERATION == OPERATION_DIFFERENCE ? most_a : most_a + most_b;
}
