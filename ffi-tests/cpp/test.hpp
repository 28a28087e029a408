// Shared by the C++ programs: expectations, and memory of an engine.

#ifndef TEST_HPP
#define TEST_HPP

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

#include "../../examples/c/engine.h"

#define EXPECT(condition)                                   \
    do {                                                    \
        if (!(condition)) {                                 \
            std::cerr << __LINE__ << ": " #condition "\n"; \
            std::exit(1);                                   \
        }                                                   \
    } while (false)

using Words = std::vector<std::uint32_t>;

/// Memory that ends itself.
struct Memory {
    Memory(const Engine &engine, std::size_t words) : buffer(create_buffer(&engine, words * 4)), engine(engine) {}
    Memory(const Engine &engine, const Words &words) : Memory(engine, words.size()) {
        std::memcpy(buffer.mapped, words.data(), words.size() * 4);
    }
    Memory(const Memory &) = delete;
    ~Memory() { destroy_buffer(&engine, &buffer); }

    TrmRange range() const { return {buffer.address, buffer.size}; }
    TrmScratch scratch() const { return {buffer.handle, 0, buffer.size}; }
    bool begins_with(const Words &words) const { return std::equal(words.begin(), words.end(), buffer.mapped); }

    Buffer buffer;
    const Engine &engine;
};

#endif  // TEST_HPP
