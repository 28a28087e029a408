// trommel.hpp beyond what the example uses: moves, errors, requirements.

#include <iostream>
#include <utility>

#include <trommel.hpp>

#include "../../examples/c/engine.h"

#define EXPECT(condition)                                   \
    do {                                                    \
        if (!(condition)) {                                 \
            std::cerr << __LINE__ << ": " #condition "\n"; \
            std::exit(1);                                   \
        }                                                   \
    } while (false)

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
    const auto needs =
        trommel::deviceRequirements(vkGetInstanceProcAddr, engine.instance, engine.physicalDevice, &features12, &features13);
    EXPECT(needs.missing.empty() && needs.extensions.empty());
    EXPECT(features12.bufferDeviceAddress && features13.synchronization2);

    auto incomplete = library_info(&engine);
    incomplete.device = VK_NULL_HANDLE;
    const auto refused = error_of([&] { trommel::Device{incomplete}; });
    EXPECT(refused.result() == TRM_ERROR_NULL);
    EXPECT(refused.what() == std::string("an argument that must be given is null: device is null"));

    trommel::Device device(library_info(&engine));
    const trommel::Device moved = std::move(device);
    EXPECT(device.get() == nullptr && moved.get() != nullptr);
    trommel::Sorter sorter(moved);
    sorter = trommel::Sorter(moved, TRM_VALUE_TYPE_U32, TRM_STRATEGY_REDUCE_THEN_SCAN);
    EXPECT(sorter.timestampCount(1 << 20) > sorter.timestampCount(1));
    EXPECT(sorter.scratchSize(1 << 20) >= 8 << 20);
    EXPECT(error_of([&] { sorter.scratchSize(UINT32_MAX); }).result() == TRM_ERROR_TOO_LARGE);

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

}  // namespace

int main() {
    Engine engine;
    create_engine(&engine);
    run(engine);
    destroy_engine(&engine);
    return 0;
}
