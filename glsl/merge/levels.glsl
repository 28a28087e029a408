// Merge sorts: the first pass sorts runs, the others merge them.
PassIo level_io() {
    uint after = args.levels - args.level;
    PassIo io;
    io.first = args.level == 0;
    io.last = after == 0;
    io.to_output = (after & 1) == 0;
    return io;
}
