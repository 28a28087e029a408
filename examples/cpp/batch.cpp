// Many sorts in an engine's own command buffer. One dispatch for each problem generates items, trommel sorts all of
// them as a batch with shared barriers, and one dispatch for each problem checks them. The count of the last sort is on
// the device.

#include <iostream>
#include <vector>

#include <trommel/sort.hpp>

#include "example.hpp"

namespace {

/// A problem: its items, and the number of wrong items that the check finds.
struct Problem {
    Problem(const Engine &engine, std::uint32_t count)
        : count(count),
          keys(create_buffer(&engine, count * 4)),
          values(create_buffer(&engine, count * 4)),
          faults(create_buffer(&engine, 4)),
          engine(engine) {}
    Problem(Problem &&other) = delete;

    ~Problem() {
        destroy_buffer(&engine, &faults);
        destroy_buffer(&engine, &values);
        destroy_buffer(&engine, &keys);
    }

    Args args(std::uint32_t used) const { return {keys.address, values.address, faults.address, used}; }

    TrmSortInfo sortInfo() const {
        auto info = trommel::info<TrmSortInfo>();
        info.count.max = count;
        info.keys = {keys.address, keys.size};
        info.values = {values.address, values.size};
        return info;
    }

    std::uint32_t count;
    Buffer keys;
    Buffer values;
    Buffer faults;
    const Engine &engine;
};

std::uint32_t run(const Engine &engine) {
    const trommel::Device device(library_info(&engine));
    const TrmSorterCreateInfo pairs = trommel::sorterInfo(TRM_KEY_TYPE_U32, TRM_VALUE_TYPE_U32);
    const trommel::Sorter sorter(device, trommel::withBatches(pairs));

    std::vector<std::unique_ptr<Problem>> problems;
    for (std::uint32_t count : {1000u, 10u, 50000u, 1u, 20000u}) {
        problems.push_back(std::make_unique<Problem>(engine, count));
    }
    const std::uint32_t onDevice = 15000;
    Buffer count = create_buffer(&engine, 4);
    count.mapped[0] = onDevice;

    trommel::Batch batch;
    for (const auto &problem : problems) {
        auto info = problem->sortInfo();
        if (problem == problems.back()) {
            info.count.address = count.address;
        }
        batch.add(sorter, info);
    }
    Buffer scratch = create_buffer(&engine, batch.scratchSize());

    begin(&engine);
    for (const auto &problem : problems) {
        const Args args = problem->args(problem->count);
        dispatch(&engine, engine.generate, &args);
    }
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT |
                VK_ACCESS_2_TRANSFER_WRITE_BIT);
    batch.cmd(engine.commands, {scratch.handle, 0, scratch.size});
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
    for (const auto &problem : problems) {
        const Args args = problem->args(problem == problems.back() ? onDevice : problem->count);
        dispatch(&engine, engine.check, &args);
    }
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    std::uint32_t wrong = 0;
    for (const auto &problem : problems) {
        wrong += problem->faults.mapped[0];
    }
    // Items past the count on the device are not modified.
    for (std::uint32_t i = onDevice; i < problems.back()->count; i++) {
        wrong += problems.back()->values.mapped[i] != i;
    }
    std::cout << problems.size() << " sorts in a batch, " << wrong << " items wrong\n";

    destroy_buffer(&engine, &scratch);
    destroy_buffer(&engine, &count);
    return wrong;
}

}  // namespace

int main() { return runExample(run); }
