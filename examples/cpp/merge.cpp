// A merge in an engine's own command buffer: a small sorted delta joins a large sorted base, as the boxes that have
// moved join all others. Keys have an id each. The number of items of the delta is on the device.

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include <trommel/merge.hpp>

#include "example.hpp"

namespace {

using Items = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::uint32_t BASE = 100000;
constexpr std::uint32_t MAX_DELTA = 2000;
constexpr std::uint32_t DELTA = 1234;

/// Sorted keys with ids from firstId on. Many keys are equal.
Items sortedItems(std::uint32_t count, std::uint32_t firstId) {
    Items items;
    for (std::uint32_t i = 0; i < count; i++) {
        items.emplace_back((firstId + i) * 2654435761u >> 16, firstId + i);
    }
    std::sort(items.begin(), items.end());
    return items;
}

/// The keys and the ids of items, in a buffer each.
struct Arrays {
    Arrays(const Engine &engine, std::uint32_t room)
        : keys(create_buffer(&engine, room * 4)), ids(create_buffer(&engine, room * 4)), engine(engine) {}
    Arrays(const Arrays &) = delete;

    ~Arrays() {
        destroy_buffer(&engine, &ids);
        destroy_buffer(&engine, &keys);
    }

    void write(const Items &items) {
        for (std::size_t i = 0; i < items.size(); i++) {
            keys.mapped[i] = items[i].first;
            ids.mapped[i] = items[i].second;
        }
    }

    Buffer keys;
    Buffer ids;
    const Engine &engine;
};

std::uint32_t run(const Engine &engine) {
    // Once: the library's handle on the engine's device, and a merger of keys with values.
    const trommel::Device device(library_info(&engine));
    const trommel::Merger merger(device, trommel::mergerInfo(TRM_KEY_TYPE_U32, TRM_VALUE_TYPE_U32));

    const Items baseItems = sortedItems(BASE, 0);
    const Items deltaItems = sortedItems(DELTA, BASE);
    Arrays base(engine, BASE), delta(engine, MAX_DELTA), merged(engine, BASE + MAX_DELTA);
    base.write(baseItems);
    delta.write(deltaItems);
    Buffer deltaCount = create_buffer(&engine, 4);
    deltaCount.mapped[0] = DELTA;
    // Small merges need no scratch, but Vulkan has no empty buffers.
    Buffer scratch = create_buffer(&engine, std::max<VkDeviceSize>(merger.scratchSize(BASE + MAX_DELTA), 4));

    // Every frame.
    auto merge = trommel::info<TrmMergeInfo>();
    merge.countA.max = BASE;
    merge.countB = {MAX_DELTA, deltaCount.address};
    merge.keysA = rangeOf(base.keys);
    merge.valuesA = rangeOf(base.ids);
    merge.keysB = rangeOf(delta.keys);
    merge.valuesB = rangeOf(delta.ids);
    merge.keysOut = rangeOf(merged.keys);
    merge.valuesOut = rangeOf(merged.ids);
    merge.scratch = {scratch.handle, 0, scratch.size};
    begin(&engine);
    merger.cmdMerge(engine.commands, merge);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    // Of equal keys, those of the base come first.
    Items expected;
    std::merge(baseItems.begin(), baseItems.end(), deltaItems.begin(), deltaItems.end(), std::back_inserter(expected),
               [](const auto &a, const auto &b) { return a.first < b.first; });
    std::uint32_t wrong = 0;
    for (std::size_t i = 0; i < expected.size(); i++) {
        wrong += merged.keys.mapped[i] != expected[i].first || merged.ids.mapped[i] != expected[i].second;
    }
    std::cout << DELTA << " items merged into " << BASE << ", " << wrong << " items wrong\n";

    destroy_buffer(&engine, &scratch);
    destroy_buffer(&engine, &deltaCount);
    return wrong;
}

}  // namespace

int main() { return runExample(run); }
