// What the C++ examples share: an engine for the length of a run.

#ifndef TROMMEL_EXAMPLE_HPP
#define TROMMEL_EXAMPLE_HPP

#include <cstdint>
#include <iostream>

#include <trommel.hpp>

#include "../c/engine.h"

inline TrmRange rangeOf(const Buffer &buffer) { return {buffer.address, buffer.size}; }

/// Runs an example, which returns the number of wrong results. Returns the exit status of the program.
template <typename Run>
int runExample(Run run) {
    Engine engine;
    create_engine(&engine);
    std::uint32_t wrong = 1;
    try {
        wrong = run(engine);
    } catch (const trommel::Error &error) {
        std::cerr << error.what() << '\n';
    }
    destroy_engine(&engine);
    return wrong == 0 ? 0 : 1;
}

#endif  // TROMMEL_EXAMPLE_HPP
