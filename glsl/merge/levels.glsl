// A pass of a merge sort: the first one sorts runs, the others merge them.
PassIo level_io(bool first) {
    PassIo io;
    io.first = first;
    io.last = args.levels_after == 0;
    io.to_output = (args.levels_after & 1) == 0;
    return io;
}
