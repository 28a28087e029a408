// Source and target of a pass.

struct PassIo {
    bool is_active;  // whether the pass moves items; otherwise it is skipped
    bool first;      // reads the input
    bool last;       // writes the output
    bool to_output;  // writes the output or its planes, and reads the alternate planes; otherwise the reverse
    uint parity;     // number of active passes before this one, modulo 2
};

// A single pass, from the input to the output.
PassIo input_to_output() {
    PassIo io;
    io.first = true;
    io.last = true;
    io.to_output = true;
    return io;
}
