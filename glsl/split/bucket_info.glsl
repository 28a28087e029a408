// Writes bucket offsets, counts and indirect commands; with segments, those of each segment one after the other.

layout(constant_id = SPEC_BUCKETS) const uint BUCKETS = 256;

PROBLEM_MEMBER(uvec2, offsets)
PROBLEM_MEMBER(uvec2, counts)
PROBLEM_MEMBER(uvec2, commands)
PROBLEM_MEMBER(uint, command_items)

void tell_bucket(uint p, uint segment, uint bucket, uint start, uint count) {
    uint first = segment * BUCKETS;
    if (!is_null(problem_offsets(p))) {
        Words offsets = Words(problem_offsets(p));
        offsets.v[first + segment + bucket] = start;
        if (bucket == BUCKETS - 1) offsets.v[first + segment + BUCKETS] = start + count;
    }
    if (!is_null(problem_counts(p))) Words(problem_counts(p)).v[first + bucket] = count;
    if (!is_null(problem_commands(p))) {
        write_command(Words(problem_commands(p)), first + bucket, tiles_of(count, problem_command_items(p)), 1);
    }
}

void set_status(uint p, uint bit) {
    if (is_null(problem_status(p))) return;
    atomicOr(Words(problem_status(p)).v[0], bit, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void tell_strays(uint p) { set_status(p, STATUS_NO_BUCKET); }
