// Vertex welding in an engine's own command buffer: each triangle of a terrain has three corners of its own, and
// corners in the same cell of a fine grid become one vertex. A hash table maps each cell to its first corner. The host
// computes cells before that, and indices after it; examples/weld has kernels for both.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <vector>

#include <trommel/hash.hpp>

#include "example.hpp"

namespace {

/// Squares on a side of the terrain, of two triangles each.
constexpr std::uint32_t SIDE = 100;
constexpr std::uint32_t CORNERS = SIDE * SIDE * 6;
/// Cells of the grid in a unit of length. Squares have sides of 1.
constexpr float CELLS = 1024.0f;

using Point = std::array<float, 3>;
using Cell = std::array<std::uint32_t, 3>;

/// The corners of all triangles, those of a triangle one after the other. Copies of a corner differ by rounding errors.
std::vector<Point> terrain() {
    constexpr std::array<std::array<std::uint32_t, 2>, 6> SQUARE{{{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}}};
    std::vector<Point> corners;
    for (std::uint32_t i = 0; i < CORNERS; i++) {
        const std::uint32_t square = i / 6;
        const auto x = static_cast<float>(square % SIDE + SQUARE[i % 6][0]);
        const auto z = static_cast<float>(square / SIDE + SQUARE[i % 6][1]);
        const float error = static_cast<float>(i % 3) * 1e-5f;
        corners.push_back({x + error, 8.0f * std::sin(x * 0.1f) * std::cos(z * 0.1f), z - error});
    }
    return corners;
}

Cell cellOf(const Point &point) {
    Cell cell;
    std::transform(point.begin(), point.end(), cell.begin(), [](float coordinate) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lround(coordinate * CELLS)));
    });
    return cell;
}

std::uint32_t run(const Engine &engine) {
    // Once: the library's handle on the engine's device, and a hasher for each operation on maps of cells.
    const trommel::Device device(library_info(&engine));
    const auto inserts = trommel::hasherInfo(TRM_HASH_OPERATION_INSERT, TRM_KEY_TYPE_U32X3, TRM_VALUE_TYPE_U32);
    const trommel::Hasher insert(device, inserts);
    const trommel::Hasher clear(device, trommel::withOperation(inserts, TRM_HASH_OPERATION_CLEAR));
    const trommel::Hasher find(device, trommel::withOperation(inserts, TRM_HASH_OPERATION_FIND));
    const trommel::Hasher count(device, trommel::withOperation(inserts, TRM_HASH_OPERATION_STATISTICS));

    // A vertex belongs to six triangles, but there may be as many vertices as corners.
    constexpr std::uint32_t CAPACITY = CORNERS + CORNERS / 4;
    const std::vector<Point> corners = terrain();
    std::array<Buffer, 6> buffers{
        create_buffer(&engine, insert.tableSize(CAPACITY)), create_buffer(&engine, CORNERS * sizeof(Cell)),
        create_buffer(&engine, CORNERS * 4),                create_buffer(&engine, CORNERS * 4),
        create_buffer(&engine, sizeof(TrmHashStatistics)),  create_buffer(&engine, insert.scratchSize(CORNERS))};
    auto &[table, cells, ids, firsts, numbers, scratch] = buffers;
    for (std::uint32_t i = 0; i < CORNERS; i++) {
        const Cell cell = cellOf(corners[i]);
        std::copy(cell.begin(), cell.end(), cells.mapped + i * cell.size());
        ids.mapped[i] = i;
    }

    // For each mesh: of the corners in a cell, the first one is inserted, and all of them find it.
    auto empty = trommel::info<TrmHashInfo>();
    empty.table = rangeOf(table);
    empty.capacity = CAPACITY;
    auto inserted = empty;
    inserted.count.max = CORNERS;
    inserted.keys = rangeOf(cells);
    inserted.values = rangeOf(ids);
    inserted.scratch = {scratch.handle, 0, scratch.size};
    auto found = inserted;
    found.values = rangeOf(firsts);
    auto counted = empty;
    counted.statistics = rangeOf(numbers);
    const auto wait = [&] {
        barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    };
    begin(&engine);
    clear.cmdHash(engine.commands, empty);
    wait();
    insert.cmdHash(engine.commands, inserted);
    wait();
    find.cmdHash(engine.commands, found);
    count.cmdHash(engine.commands, counted);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    // The first corner of each cell is a vertex. The index buffer has the number of each corner's vertex.
    std::vector<Point> vertices;
    std::vector<std::uint32_t> indices(CORNERS);
    for (std::uint32_t i = 0; i < CORNERS; i++) {
        const std::uint32_t first = std::min(firsts.mapped[i], i);
        indices[i] = first == i ? static_cast<std::uint32_t>(vertices.size()) : indices[first];
        if (first == i) vertices.push_back(corners[i]);
    }

    std::map<Cell, std::uint32_t> numberOf;
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < CORNERS; i++) {
        const auto number = static_cast<std::uint32_t>(numberOf.size());
        wrong += numberOf.emplace(cellOf(corners[i]), number).first->second != indices[i];
    }
    TrmHashStatistics statistics;
    std::memcpy(&statistics, numbers.mapped, sizeof statistics);
    wrong += statistics.keys != numberOf.size() || vertices.size() != (SIDE + 1) * (SIDE + 1);
    std::cout << CORNERS << " corners are " << vertices.size() << " vertices, " << wrong << " wrong; "
              << 100 * statistics.keys / statistics.slots << " % of the slots are in use\n";

    std::for_each(buffers.rbegin(), buffers.rend(), [&](Buffer &buffer) { destroy_buffer(&engine, &buffer); });
    return wrong;
}

}  // namespace

int main() { return runExample(run); }
