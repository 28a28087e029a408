// The kernel sort_run.comp, without its declarations.

void main() {
    // 1. Find the problem and the run of this workgroup. The first workgroup of a problem writes its status.
    uint runs = MERGED ? args.groups : 1;
    uint p = linear_group() / runs;
    uint run = linear_group() % runs;
    if (p >= args.problem_count) return;
    uint count = requested_count(p);
    if (run == 0 && thread_id() == 0) write_status(p);

    // 2. Sort the run.
    Part part = whole_problem(p, count);
    part.first = run * TILE;
    if (part.first >= count) return;
    part.items = min(count - part.first, TILE);
    merge_part(part, MERGED ? level_io(true) : input_to_output());
}
