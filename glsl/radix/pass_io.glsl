// Source and target of a pass.

struct PassIo {
    bool is_active;
    bool first;      // reads the input
    bool last;       // writes the output
    bool to_output;  // or to the planes in its place; from the alternate planes then, unless it is the first
    uint parity;       // sorting passes before this one, modulo 2
};

// A single pass, from the input to the output.
PassIo input_to_output() {
    PassIo io;
    io.first = true;
    io.last = true;
    io.to_output = true;
    return io;
}
