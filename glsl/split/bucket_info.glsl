// Writes bucket offsets, counts and indirect commands; with segments, those of each segment one after the other.

layout(constant_id = SPEC_BUCKETS) const uint BUCKETS = 256;

PROBLEM_MEMBER(uvec2, offsets)
PROBLEM_MEMBER(uvec2, counts)
PROBLEM_MEMBER(uvec2, commands)
// Items for each workgroup of an indirect command.
PROBLEM_MEMBER(uint, command_items)

// Writes the requested information on one bucket: its first item and its number of items.
void write_bucket(uint p, uint segment, uint bucket, uint start, uint count) {
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

// Sets a bit in the status of a problem.
void set_status(uint p, uint bit) {
    if (is_null(problem_status(p))) return;
    atomicOr(Words(problem_status(p)).v[0], bit, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Reports that there are items without a bucket.
void set_no_bucket(uint p) { set_status(p, STATUS_NO_BUCKET); }
