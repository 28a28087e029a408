// Merges for C++17: see trommel.hpp.

#ifndef TROMMEL_MERGE_HPP
#define TROMMEL_MERGE_HPP

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "../trommel.hpp"

namespace trommel {

template <>
struct StructureType<TrmMergerCreateInfo>
    : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_MERGER_CREATE_INFO> {};
template <>
struct StructureType<TrmMergeInfo> : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_MERGE_INFO> {};

/// Returns the info of a merger for the given key and value types, with defaults elsewhere. Keys have 32 bits or more.
inline TrmMergerCreateInfo mergerInfo(TrmKeyType keys, TrmValueType values = TRM_VALUE_TYPE_NONE) {
    auto made = info<TrmMergerCreateInfo>();
    made.keyType = keys;
    made.valueType = values;
    return made;
}

/// Returns the info of a merger for values of valueSize bytes.
inline TrmMergerCreateInfo mergerInfo(TrmKeyType keys, std::uint32_t valueSize) {
    auto made = mergerInfo(keys, TRM_VALUE_TYPE_BYTES);
    made.valueSize = valueSize;
    return made;
}

/// Returns the info of a merger that writes no keys: valuesOut receives the index of each item in its sequence, with
/// TRM_SOURCE_B for items of B.
inline TrmMergerCreateInfo mergeIndicesInfo(TrmKeyType keys) {
    auto made = mergerInfo(keys, TRM_VALUE_TYPE_INDEX);
    made.flags = TRM_MERGER_CREATE_DROP_KEYS_BIT;
    return made;
}

/// Returns the info of a sorted search: valuesOut receives the lower or upper bound in B of each key of A.
inline TrmMergerCreateInfo boundsInfo(TrmKeyType keys, TrmMergeOperation operation) {
    auto made = mergerInfo(keys);
    made.operation = operation;
    return made;
}

/// Returns the info with another operation, such as TRM_MERGE_OPERATION_INTERSECTION.
inline TrmMergerCreateInfo withOperation(TrmMergerCreateInfo made, TrmMergeOperation operation) {
    made.operation = operation;
    return made;
}

/// Returns the info of a set operation that writes only the number of items of its result: to countOut.
inline TrmMergerCreateInfo setCountInfo(TrmKeyType keys, TrmMergeOperation operation) {
    auto made = withOperation(mergerInfo(keys), operation);
    made.flags = TRM_MERGER_CREATE_DROP_KEYS_BIT;
    return made;
}

/// Returns the info for merges of up to so many sequences.
inline TrmMergerCreateInfo withSequences(TrmMergerCreateInfo made, std::uint32_t sequences) {
    made.sequenceCount = sequences;
    return made;
}

/// Returns the info with support for batches.
inline TrmMergerCreateInfo withBatches(TrmMergerCreateInfo made) {
    made.flags |= TRM_MERGER_CREATE_BATCHES_BIT;
    return made;
}

/// The pipelines for merges of one format.
class Merger {
public:
    using Info = TrmMergeInfo;

    /// mergerInfo(), mergeIndicesInfo(), boundsInfo(), withOperation() and setCountInfo() make infos.
    Merger(const Device &device, const TrmMergerCreateInfo &info) {
        TrmMerger merger = nullptr;
        check(trmCreateMerger(device.get(), &info, &merger));
        handle_.reset(merger);
    }

    /// trmCreateMergerFromGlsl()
    static Merger fromGlsl(const Device &device, const TrmMergerCreateInfo &info, const char *source) {
        TrmMerger merger = nullptr;
        check(trmCreateMergerFromGlsl(device.get(), &info, source, &merger));
        return Merger(merger);
    }

    /// trmCreateMergerFromSpirv()
    static Merger fromSpirv(const Device &device, const TrmMergerCreateInfo &info,
                            const std::vector<std::uint32_t> &code) {
        TrmMerger merger = nullptr;
        const std::size_t bytes = code.size() * sizeof(std::uint32_t);
        check(trmCreateMergerFromSpirv(device.get(), &info, code.data(), bytes, &merger));
        return Merger(merger);
    }

    TrmMerger get() const noexcept { return handle_.get(); }

    /// Returns the info as Batch::add() takes it: with this handle.
    Info inBatch(Info info) const noexcept {
        info.merger = get();
        return info;
    }

    /// maxCount is the maximum count of all sequences together.
    VkDeviceSize scratchSize(std::uint32_t maxCount) const {
        VkDeviceSize size = 0;
        check(trmGetMergerScratch(get(), maxCount, &size));
        return size;
    }

    /// maxCount is the maximum count of all sequences together.
    std::uint32_t timestampCount(std::uint32_t maxCount) const {
        std::uint32_t count = 0;
        check(trmGetMergerTimestampCount(get(), maxCount, &count));
        return count;
    }

    /// trmCompileMerger(): creates pipelines of a merger with TRM_MERGER_CREATE_DEFERRED_BIT on the calling thread.
    void compile() const { check(trmCompileMerger(get())); }

    /// trmGetMergerReady()
    bool ready() const {
        VkBool32 ready = VK_FALSE;
        check(trmGetMergerReady(get(), &ready));
        return ready == VK_TRUE;
    }

    /// trmCmdMerge()
    void cmdMerge(VkCommandBuffer commandBuffer, const TrmMergeInfo &info) const {
        check(trmCmdMerge(commandBuffer, get(), &info));
    }

private:
    explicit Merger(TrmMerger merger) : handle_(merger) {}

    struct Destroy {
        void operator()(TrmMerger merger) const noexcept { trmDestroyMerger(merger); }
    };
    std::unique_ptr<std::remove_pointer_t<TrmMerger>, Destroy> handle_;
};

}  // namespace trommel

#endif  // TROMMEL_MERGE_HPP
