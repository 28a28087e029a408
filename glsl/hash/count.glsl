// The number of keys of a batch.

uint batch_count() {
    uint most = args.problem.max_count;
    return is_null(args.problem.count) ? most : min(Words(args.problem.count).v[0], most);
}
