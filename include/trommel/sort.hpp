// Sorts for C++17: see trommel.hpp.

#ifndef TROMMEL_SORT_HPP
#define TROMMEL_SORT_HPP

#include <cstdint>
#include <memory>
#include <type_traits>

#include "../trommel.hpp"

namespace trommel {

template <>
struct StructureType<TrmSorterCreateInfo>
    : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO> {};
template <>
struct StructureType<TrmSortInfo> : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_SORT_INFO> {};

/// Returns the info of a sorter for the given key and value types, with defaults elsewhere.
inline TrmSorterCreateInfo sorterInfo(TrmKeyType keys, TrmValueType values = TRM_VALUE_TYPE_NONE) {
    auto made = info<TrmSorterCreateInfo>();
    made.keyType = keys;
    made.valueType = values;
    return made;
}

/// Returns the info of a sorter for values of valueSize bytes.
inline TrmSorterCreateInfo sorterInfo(TrmKeyType keys, std::uint32_t valueSize) {
    auto made = sorterInfo(keys, TRM_VALUE_TYPE_BYTES);
    made.valueSize = valueSize;
    return made;
}

/// Returns the info of an argsort: valuesOut receives the sorted indices, and the keys are not modified.
inline TrmSorterCreateInfo argsortInfo(TrmKeyType keys) {
    auto made = sorterInfo(keys, TRM_VALUE_TYPE_INDEX);
    made.flags = TRM_SORTER_CREATE_DROP_KEYS_BIT;
    made.placement = TRM_PLACEMENT_PRESERVE;
    return made;
}

/// Returns the info with support for batches.
inline TrmSorterCreateInfo withBatches(TrmSorterCreateInfo made) {
    made.flags |= TRM_SORTER_CREATE_BATCHES_BIT;
    return made;
}

/// The pipelines for sorts of one format.
class Sorter {
public:
    using Info = TrmSortInfo;

    /// Sorts uint32_t keys. sorterInfo() and argsortInfo() make infos for other formats.
    explicit Sorter(const Device &device, TrmValueType values = TRM_VALUE_TYPE_NONE,
                    TrmStrategy strategy = TRM_STRATEGY_AUTO) {
        auto made = info<TrmSorterCreateInfo>();
        made.valueType = values;
        made.strategy = strategy;
        create(device, made);
    }

    Sorter(const Device &device, const TrmSorterCreateInfo &info) { create(device, info); }

    /// trmCreateSorterFromGlsl()
    static Sorter fromGlsl(const Device &device, const TrmSorterCreateInfo &info, const char *source) {
        TrmSorter sorter = nullptr;
        check(trmCreateSorterFromGlsl(device.get(), &info, source, &sorter));
        return Sorter(sorter);
    }

    /// trmCreateSorterFromSpirv()
    static Sorter fromSpirv(const Device &device, const TrmSorterCreateInfo &info,
                            const std::vector<std::uint32_t> &code) {
        TrmSorter sorter = nullptr;
        const std::size_t bytes = code.size() * sizeof(std::uint32_t);
        check(trmCreateSorterFromSpirv(device.get(), &info, code.data(), bytes, &sorter));
        return Sorter(sorter);
    }

    TrmSorter get() const noexcept { return handle_.get(); }

    /// Returns the info as Batch::add() takes it: with this handle.
    Info inBatch(Info info) const noexcept {
        info.sorter = get();
        return info;
    }

    VkDeviceSize scratchSize(std::uint32_t maxCount) const {
        VkDeviceSize size = 0;
        check(trmGetSorterScratch(get(), maxCount, &size));
        return size;
    }

    std::uint32_t timestampCount(std::uint32_t maxCount) const {
        std::uint32_t count = 0;
        check(trmGetSorterTimestampCount(get(), maxCount, &count));
        return count;
    }

    /// Returns which arrays hold the result: 0 for keys and values, 1 for keysOut and valuesOut.
    std::uint32_t resultSide() const {
        std::uint32_t side = 0;
        check(trmGetSorterResultSide(get(), &side));
        return side;
    }

    /// trmCompileSorter(): creates pipelines of a sorter with TRM_SORTER_CREATE_DEFERRED_BIT on the calling thread.
    void compile() const { check(trmCompileSorter(get())); }

    /// trmGetSorterReady()
    bool ready() const {
        VkBool32 ready = VK_FALSE;
        check(trmGetSorterReady(get(), &ready));
        return ready == VK_TRUE;
    }

    /// trmCmdSort()
    void cmdSort(VkCommandBuffer commandBuffer, const TrmSortInfo &info) const {
        check(trmCmdSort(commandBuffer, get(), &info));
    }

private:
    explicit Sorter(TrmSorter sorter) : handle_(sorter) {}

    struct Destroy {
        void operator()(TrmSorter sorter) const noexcept { trmDestroySorter(sorter); }
    };

    void create(const Device &device, const TrmSorterCreateInfo &info) {
        TrmSorter sorter = nullptr;
        check(trmCreateSorter(device.get(), &info, &sorter));
        handle_.reset(sorter);
    }

    std::unique_ptr<std::remove_pointer_t<TrmSorter>, Destroy> handle_;
};

}  // namespace trommel

#endif  // TROMMEL_SORT_HPP
