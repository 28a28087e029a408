// Writes the status: STATUS_COUNT_CLAMPED if the number at the address `requested` is above max_count, otherwise 0. The
// address may be null. One invocation.
void write_status(uvec2 requested) {
    if (is_null(args.problem.status)) return;
    bool clamped = !is_null(requested) && load_relaxed(Words(requested), 0) > args.problem.max_count;
    Words(args.problem.status).v[0] = clamped ? STATUS_COUNT_CLAMPED : 0;
}
