// Tests of trommel.hpp that the example does not cover: moves, errors, requirements, argsort, a digest.

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <utility>

#include <trommel/merge.hpp>
#include <trommel/sort.hpp>
#include <trommel/split.hpp>

#include "test.hpp"

namespace {

template <class Call>
trommel::Error error_of(Call call) {
    try {
        call();
    } catch (const trommel::Error &error) {
        return error;
    }
    std::cerr << "no error\n";
    std::exit(1);
}

void run(const Engine &engine) {
    VkPhysicalDeviceVulkan12Features features12{};
    VkPhysicalDeviceVulkan13Features features13{};
    const auto needs = trommel::deviceRequirements(vkGetInstanceProcAddr, engine.instance, VK_API_VERSION_1_3,
                                                   engine.physicalDevice, &features12, &features13);
    const auto old = trommel::deviceRequirements(vkGetInstanceProcAddr, engine.instance, VK_API_VERSION_1_2,
                                                 engine.physicalDevice, nullptr, nullptr);
    EXPECT(old.missing == "Vulkan 1.3 as the instance's apiVersion (it is 1.2)");
    EXPECT(needs.missing.empty() && needs.extensions.empty());
    EXPECT(features12.bufferDeviceAddress && features13.synchronization2);

    auto incomplete = library_info(&engine);
    incomplete.device = VK_NULL_HANDLE;
    const auto refused = error_of([&] { trommel::Device{incomplete}; });
    EXPECT(refused.result() == TRM_ERROR_NULL);
    EXPECT(refused.what() == std::string("a required argument is null: device is null"));

    trommel::Device device(library_info(&engine));
    const trommel::Device moved = std::move(device);
    EXPECT(device.get() == nullptr && moved.get() != nullptr);
    trommel::Sorter sorter(moved);
    sorter = trommel::Sorter(moved, TRM_VALUE_TYPE_U32, TRM_STRATEGY_REDUCE_THEN_SCAN);
    EXPECT(sorter.timestampCount(1 << 20) > sorter.timestampCount(1));
    EXPECT(sorter.scratchSize(1 << 20) >= 8 << 20);
    EXPECT(error_of([&] { sorter.scratchSize(UINT32_MAX); }).result() == TRM_ERROR_TOO_LARGE);

    EXPECT(sorter.resultSide() == 0);

    auto wanted = trommel::sorterInfo(TRM_KEY_TYPE_F32, 12);
    wanted.order = TRM_ORDER_DESCENDING;
    wanted.placement = TRM_PLACEMENT_DOUBLE_BUFFER;
    EXPECT(trommel::Sorter(moved, wanted).resultSide() == 0);
    wanted.endBit = 24;
    EXPECT(trommel::Sorter(moved, wanted).resultSide() == 1);
    wanted.valueSize = 13;
    EXPECT(error_of([&] { trommel::Sorter{moved, wanted}; }).result() == TRM_ERROR_MALFORMED);

    const trommel::Batch none;
    EXPECT(none.scratchSize() == 0);
    begin(&engine);
    none.cmd(engine.commands, {});
    EXPECT(error_of([&] { sorter.cmdSort(VK_NULL_HANDLE, trommel::info<TrmSortInfo>()); }).result() == TRM_ERROR_NULL);
    sorter.cmdSort(engine.commands, trommel::info<TrmSortInfo>());
    submit_and_wait(&engine);

    EXPECT(trommel::info<TrmDeviceCreateInfo>().queueFamilyIndex == VK_QUEUE_FAMILY_IGNORED);
    const auto lost = error_of([] { trommel::check(static_cast<TrmResult>(VK_ERROR_DEVICE_LOST)); });
    EXPECT(static_cast<VkResult>(lost.result()) == VK_ERROR_DEVICE_LOST);
}

void sort_and_wait(const Engine &engine, const trommel::Sorter &sorter, const TrmSortInfo &sort) {
    begin(&engine);
    sorter.cmdSort(engine.commands, sort);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
}

/// Sorts indices by keys, which stay unchanged.
void argsort(const Engine &engine) {
    const trommel::Device device(library_info(&engine));
    const trommel::Sorter sorter(device, trommel::argsortInfo(TRM_KEY_TYPE_I16));
    Buffer keys = create_buffer(&engine, 8);
    Buffer indices = create_buffer(&engine, 12);
    // So few keys may need no scratch, but Vulkan has no empty buffers.
    Buffer scratch = create_buffer(&engine, std::max<VkDeviceSize>(sorter.scratchSize(3), 4));
    const std::int16_t unsorted[] = {7, -7, 0};
    std::memcpy(keys.mapped, unsorted, sizeof unsorted);

    auto sort = trommel::info<TrmSortInfo>();
    sort.count.max = 3;
    sort.keys = {keys.address, 6};
    sort.valuesOut = {indices.address, indices.size};
    sort.scratch = {scratch.handle, 0, scratch.size};
    sort_and_wait(engine, sorter, sort);
    EXPECT(sorter.resultSide() == 1);
    EXPECT(std::memcmp(keys.mapped, unsorted, sizeof unsorted) == 0);
    EXPECT(indices.mapped[0] == 1 && indices.mapped[1] == 2 && indices.mapped[2] == 0);

    destroy_buffer(&engine, &scratch);
    destroy_buffer(&engine, &indices);
    destroy_buffer(&engine, &keys);
}

/// Sorts, splits and merges the pairs that every language does: see package.rs. Prints a digest (FNV-1a by Fowler, Noll
/// and Vo, a word at a time).
void digest(const Engine &engine) {
    constexpr std::uint32_t count = 20000;
    const trommel::Device device(library_info(&engine));
    const trommel::Sorter sorter(device, TRM_VALUE_TYPE_U32);
    Buffer keys = create_buffer(&engine, count * 4);
    Buffer values = create_buffer(&engine, count * 4);
    const std::uint32_t buckets = 5;
    const trommel::Splitter splitter(device, trommel::bitsInfo(buckets, 7, TRM_VALUE_TYPE_U32));
    Buffer keys_out = create_buffer(&engine, count * 4);
    Buffer values_out = create_buffer(&engine, count * 4);
    Buffer offsets = create_buffer(&engine, (buckets + 1) * 4);
    constexpr std::uint32_t last = 5000;
    const trommel::Merger merger(device, trommel::mergerInfo(TRM_KEY_TYPE_U32, TRM_VALUE_TYPE_U32));
    Buffer keys_merged = create_buffer(&engine, (count + last) * 4);
    Buffer values_merged = create_buffer(&engine, (count + last) * 4);
    Buffer scratch = create_buffer(&engine, std::max({sorter.scratchSize(count), splitter.scratchSize(count),
                                                      merger.scratchSize(count + last)}));
    for (std::uint32_t i = 0; i < count; i++) {
        keys.mapped[i] = (i * 2654435761u >> 20) * 0x00080401u;
        values.mapped[i] = i;
    }
    auto sort = trommel::info<TrmSortInfo>();
    sort.count.max = count;
    sort.keys = {keys.address, keys.size};
    sort.values = {values.address, values.size};
    sort.scratch = {scratch.handle, 0, scratch.size};
    auto split = trommel::info<TrmSplitInfo>();
    split.count = sort.count;
    split.keys = sort.keys;
    split.values = sort.values;
    split.keysOut = {keys_out.address, keys_out.size};
    split.valuesOut = {values_out.address, values_out.size};
    split.offsets = {offsets.address, offsets.size};
    split.scratch = sort.scratch;
    auto merge = trommel::info<TrmMergeInfo>();
    const VkDeviceSize first = (count - last) * 4;
    merge.countA = sort.count;
    merge.countB.max = last;
    merge.keysA = sort.keys;
    merge.valuesA = sort.values;
    merge.keysB = {keys.address + first, keys.size - first};
    merge.valuesB = {values.address + first, values.size - first};
    merge.keysOut = {keys_merged.address, keys_merged.size};
    merge.valuesOut = {values_merged.address, values_merged.size};
    merge.scratch = sort.scratch;
    begin(&engine);
    sorter.cmdSort(engine.commands, sort);
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    splitter.cmdSplit(engine.commands, split);
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    merger.cmdMerge(engine.commands, merge);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    std::uint64_t digest = 0xcbf29ce484222325;
    for (const Buffer &words : {keys, values, keys_out, values_out, offsets, keys_merged, values_merged}) {
        for (std::uint32_t i = 0; i < words.size / 4; i++) digest = (digest ^ words.mapped[i]) * 0x100000001b3;
    }
    std::cout << std::hex << std::setw(16) << std::setfill('0') << digest << '\n';
    destroy_buffer(&engine, &scratch);
    destroy_buffer(&engine, &values_merged);
    destroy_buffer(&engine, &keys_merged);
    destroy_buffer(&engine, &offsets);
    destroy_buffer(&engine, &values_out);
    destroy_buffer(&engine, &keys_out);
    destroy_buffer(&engine, &values);
    destroy_buffer(&engine, &keys);
}

}  // namespace

int main() {
    // The command buffer of an engine is recorded once, so each part has its own engine.
    for (const auto part : {run, argsort, digest}) {
        Engine engine;
        create_engine(&engine);
        part(engine);
        destroy_engine(&engine);
    }
    return 0;
}
