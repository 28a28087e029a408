// Writes bucket offsets, counts and indirect commands; with segments, those of each segment one after the other.
//
// The rows of these kernels hold addresses of the outputs in place of items: see for_each_result() in
// src/radix/problems.rs.

layout(constant_id = SPEC_BUCKETS) const uint BUCKETS = 256;

uvec2 offsets_of(uint p) { return problem_values(p); }
uvec2 counts_of(uint p) { return problem_to_keys(p); }
uvec2 commands_of(uint p) { return problem_to_values(p); }
// Items of a workgroup in the commands.
#ifdef RECOUNTS
uint command_items_of(uint p) { return problem_tile_words(p); }
#else
uint command_items_of(uint p) { return problem_strides(p); }
// Address of the given bucket starts.
uvec2 starts_of(uint p) { return problem_keys(p); }
// Capacity of the output in items, with given bucket starts.
uint output_items_of(uint p) { return problem_alternate_values(p).x; }
#endif

void tell_bucket(uint p, uint segment, uint bucket, uint start, uint count) {
    uint first = segment * BUCKETS;
    if (!is_null(offsets_of(p))) {
        Words offsets = Words(offsets_of(p));
        offsets.v[first + segment + bucket] = start;
        if (bucket == BUCKETS - 1) offsets.v[first + segment + BUCKETS] = start + count;
    }
    if (!is_null(counts_of(p))) Words(counts_of(p)).v[first + bucket] = count;
    if (!is_null(commands_of(p))) {
        write_command(Words(commands_of(p)), first + bucket, tiles_of(count, command_items_of(p)), 1);
    }
}

void set_status(uint p, uint bit) {
    if (is_null(problem_status(p))) return;
    atomicOr(Words(problem_status(p)).v[0], bit, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void tell_strays(uint p) { set_status(p, STATUS_NO_BUCKET); }
