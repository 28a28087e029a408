// trommel.h for C++17: handles with destructors, initialized infos, and exceptions for errors. Header-only. The
// comments of trommel.h apply to the functions of the same name, and get() returns the C handle.

#ifndef TROMMEL_HPP
#define TROMMEL_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "trommel.h"

namespace trommel {

/// The exception of all functions here: the result code, with the text of trmGetLastError().
class Error : public std::runtime_error {
public:
    explicit Error(TrmResult result) : std::runtime_error(text(result)), result_(result) {}

    TrmResult result() const noexcept { return result_; }

private:
    static std::string text(TrmResult result) { return std::string(trmResultString(result)) + ": " + trmGetLastError(); }

    TrmResult result_;
};

/// Throws Error if the result is an error.
inline void check(TrmResult result) {
    if (result < 0) {
        throw Error(result);
    }
}

/// Returns an info with sType and structSize set and defaults elsewhere.
template <class Info>
Info info() {
    Info made{};
    made.structSize = sizeof(Info);
    if constexpr (std::is_same_v<Info, TrmDeviceRequirementsInfo>) {
        made.sType = TRM_STRUCTURE_TYPE_DEVICE_REQUIREMENTS_INFO;
    } else if constexpr (std::is_same_v<Info, TrmDeviceCreateInfo>) {
        made.sType = TRM_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        made.queueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    } else if constexpr (std::is_same_v<Info, TrmSorterCreateInfo>) {
        made.sType = TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO;
    } else if constexpr (std::is_same_v<Info, TrmSortInfo>) {
        made.sType = TRM_STRUCTURE_TYPE_SORT_INFO;
    } else if constexpr (std::is_same_v<Info, TrmSplitterCreateInfo>) {
        made.sType = TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO;
    } else if constexpr (std::is_same_v<Info, TrmSplitInfo>) {
        made.sType = TRM_STRUCTURE_TYPE_SPLIT_INFO;
    } else {
        static_assert(std::is_same_v<Info, TrmBatchInfo>, "not an info struct of trommel");
        made.sType = TRM_STRUCTURE_TYPE_BATCH_INFO;
    }
    return made;
}

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

/// Returns the info of a splitter of uint32_t keys by the bits from beginBit on.
inline TrmSplitterCreateInfo bitsInfo(std::uint32_t bucketCount, std::uint32_t beginBit, TrmValueType values = TRM_VALUE_TYPE_NONE) {
    auto made = info<TrmSplitterCreateInfo>();
    made.valueType = values;
    made.bucketCount = bucketCount;
    made.beginBit = beginBit;
    return made;
}

/// Returns the info of a splitter of uint32_t keys by ranges: TrmSplitInfo::low and width.
inline TrmSplitterCreateInfo rangesInfo(std::uint32_t bucketCount, TrmValueType values = TRM_VALUE_TYPE_NONE) {
    auto made = bitsInfo(bucketCount, 0, values);
    made.bucketFunction = TRM_BUCKET_FUNCTION_RANGE;
    return made;
}

/// Returns the info of a splitter with a user-defined bucket function. Keys have 32 bits or more.
inline TrmSplitterCreateInfo userInfo(std::uint32_t bucketCount, TrmKeyType keys = TRM_KEY_TYPE_U32, TrmValueType values = TRM_VALUE_TYPE_NONE) {
    auto made = bitsInfo(bucketCount, 0, values);
    made.keyType = keys;
    made.bucketFunction = TRM_BUCKET_FUNCTION_USER;
    return made;
}

/// Returns the info with support for batches.
inline TrmSorterCreateInfo withBatches(TrmSorterCreateInfo made) {
    made.flags |= TRM_SORTER_CREATE_BATCHES_BIT;
    return made;
}

/// Returns the info with support for batches.
inline TrmSplitterCreateInfo withBatches(TrmSplitterCreateInfo made) {
    made.flags |= TRM_SPLITTER_CREATE_BATCHES_BIT;
    return made;
}

/// The requirements of the library on a physical device.
struct Requirements {
    /// Names of device extensions to enable, as static text.
    std::vector<const char *> extensions;
    /// Unmet requirements, one a line; empty if the device meets all.
    std::string missing;
};

/// Sets the required features in the given structs, which may be null, and returns the other requirements. apiVersion
/// is the instance's: see TrmDeviceRequirementsInfo.
inline Requirements deviceRequirements(PFN_vkGetInstanceProcAddr getInstanceProcAddr, VkInstance instance,
                                       std::uint32_t apiVersion, VkPhysicalDevice physicalDevice,
                                       VkPhysicalDeviceVulkan12Features *features12,
                                       VkPhysicalDeviceVulkan13Features *features13) {
    auto query = info<TrmDeviceRequirementsInfo>();
    query.getInstanceProcAddr = getInstanceProcAddr;
    query.instance = instance;
    query.physicalDevice = physicalDevice;
    query.apiVersion = apiVersion;

    std::uint32_t count = 0;
    std::uint32_t size = 0;
    check(trmGetDeviceRequirements(&query, features12, features13, &count, nullptr, &size, nullptr));
    Requirements requirements;
    requirements.extensions.resize(count);
    requirements.missing.resize(size);
    check(trmGetDeviceRequirements(&query, nullptr, nullptr, &count, requirements.extensions.data(), &size, requirements.missing.data()));
    // std::string adds its own terminator.
    requirements.missing.resize(size == 0 ? 0 : size - 1);
    return requirements;
}

/// The library on an engine's device.
class Device {
public:
    explicit Device(const TrmDeviceCreateInfo &info) {
        TrmDevice device = nullptr;
        check(trmCreateDevice(&info, &device));
        handle_.reset(device);
    }

    TrmDevice get() const noexcept { return handle_.get(); }

private:
    struct Destroy {
        void operator()(TrmDevice device) const noexcept { trmDestroyDevice(device); }
    };
    std::unique_ptr<std::remove_pointer_t<TrmDevice>, Destroy> handle_;
};

/// The pipelines for sorts of one format.
class Sorter {
public:
    /// Sorts uint32_t keys. sorterInfo() and argsortInfo() make infos for other formats.
    explicit Sorter(const Device &device, TrmValueType values = TRM_VALUE_TYPE_NONE, TrmStrategy strategy = TRM_STRATEGY_AUTO) {
        auto made = info<TrmSorterCreateInfo>();
        made.valueType = values;
        made.strategy = strategy;
        create(device, made);
    }

    Sorter(const Device &device, const TrmSorterCreateInfo &info) { create(device, info); }

    TrmSorter get() const noexcept { return handle_.get(); }

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

/// The pipelines for splits of one format.
class Splitter {
public:
    /// bitsInfo(), rangesInfo() and userInfo() make infos.
    Splitter(const Device &device, const TrmSplitterCreateInfo &info) {
        TrmSplitter splitter = nullptr;
        check(trmCreateSplitter(device.get(), &info, &splitter));
        handle_.reset(splitter);
    }

    /// trmCreateSplitterFromGlsl()
    static Splitter fromGlsl(const Device &device, const TrmSplitterCreateInfo &info, const char *source) {
        TrmSplitter splitter = nullptr;
        check(trmCreateSplitterFromGlsl(device.get(), &info, source, &splitter));
        return Splitter(splitter);
    }

    /// trmCreateSplitterFromSpirv()
    static Splitter fromSpirv(const Device &device, const TrmSplitterCreateInfo &info, const std::vector<std::uint32_t> &code) {
        TrmSplitter splitter = nullptr;
        check(trmCreateSplitterFromSpirv(device.get(), &info, code.data(), code.size() * sizeof(std::uint32_t), &splitter));
        return Splitter(splitter);
    }

    TrmSplitter get() const noexcept { return handle_.get(); }

    VkDeviceSize scratchSize(std::uint32_t maxCount) const {
        VkDeviceSize size = 0;
        check(trmGetSplitterScratch(get(), maxCount, &size));
        return size;
    }

    std::uint32_t timestampCount(std::uint32_t maxCount) const {
        std::uint32_t count = 0;
        check(trmGetSplitterTimestampCount(get(), maxCount, &count));
        return count;
    }

    /// trmCompileSplitter(): creates pipelines of a splitter with TRM_SPLITTER_CREATE_DEFERRED_BIT on the calling thread.
    void compile() const { check(trmCompileSplitter(get())); }

    /// trmGetSplitterReady()
    bool ready() const {
        VkBool32 ready = VK_FALSE;
        check(trmGetSplitterReady(get(), &ready));
        return ready == VK_TRUE;
    }

    /// trmCmdSplit()
    void cmdSplit(VkCommandBuffer commandBuffer, const TrmSplitInfo &info) const {
        check(trmCmdSplit(commandBuffer, get(), &info));
    }

private:
    explicit Splitter(TrmSplitter splitter) : handle_(splitter) {}

    struct Destroy {
        void operator()(TrmSplitter splitter) const noexcept { trmDestroySplitter(splitter); }
    };
    std::unique_ptr<std::remove_pointer_t<TrmSplitter>, Destroy> handle_;
};

/// Problems to record together. A batch copies their infos to heap memory; trmCmdBatch() itself uses none.
class Batch {
public:
    void add(const Sorter &sorter, TrmSortInfo info) {
        info.sorter = sorter.get();
        order_.push_back({false, sorts_.size()});
        sorts_.push_back(info);
    }

    void add(const Splitter &splitter, TrmSplitInfo info) {
        info.splitter = splitter.get();
        order_.push_back({true, splits_.size()});
        splits_.push_back(info);
    }

    VkDeviceSize scratchSize() const {
        VkDeviceSize size = 0;
        const List list(*this);
        check(trmGetBatchScratch(&list.info, &size));
        return size;
    }

    /// trmCmdBatch()
    void cmd(VkCommandBuffer commandBuffer, const TrmScratch &scratch) const {
        List list(*this);
        list.info.scratch = scratch;
        check(trmCmdBatch(commandBuffer, &list.info));
    }

private:
    /// The index of a problem's info among those of its primitive. Infos stay in the order of add(): the check for
    /// overlaps takes linear time for arrays that follow one another in a few large buffers.
    struct Place {
        bool split;
        std::size_t index;
    };

    struct List {
        explicit List(const Batch &batch) {
            for (const Place &place : batch.order_) {
                headers.push_back(place.split ? header(batch.splits_[place.index]) : header(batch.sorts_[place.index]));
            }
            info.infoCount = static_cast<std::uint32_t>(headers.size());
            info.infos = headers.data();
        }
        template <class Info>
        static const TrmInfoHeader *header(const Info &info) {
            return reinterpret_cast<const TrmInfoHeader *>(&info);
        }

        List(const List &) = delete;
        List &operator=(const List &) = delete;

        std::vector<const TrmInfoHeader *> headers;
        TrmBatchInfo info = trommel::info<TrmBatchInfo>();
    };

    std::vector<Place> order_;
    std::vector<TrmSortInfo> sorts_;
    std::vector<TrmSplitInfo> splits_;
};

}  // namespace trommel

#endif  // TROMMEL_HPP
