// Splits for C++17: see trommel.hpp.

#ifndef TROMMEL_SPLIT_HPP
#define TROMMEL_SPLIT_HPP

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "../trommel.hpp"

namespace trommel {

template <>
struct StructureType<TrmSplitterCreateInfo>
    : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO> {};
template <>
struct StructureType<TrmSplitInfo> : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_SPLIT_INFO> {};

/// Returns the info of a splitter of uint32_t keys by the bits from beginBit on.
inline TrmSplitterCreateInfo bitsInfo(std::uint32_t bucketCount, std::uint32_t beginBit,
                                      TrmValueType values = TRM_VALUE_TYPE_NONE) {
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
inline TrmSplitterCreateInfo userInfo(std::uint32_t bucketCount, TrmKeyType keys = TRM_KEY_TYPE_U32,
                                      TrmValueType values = TRM_VALUE_TYPE_NONE) {
    auto made = bitsInfo(bucketCount, 0, values);
    made.keyType = keys;
    made.bucketFunction = TRM_BUCKET_FUNCTION_USER;
    return made;
}

/// Returns the info with support for batches.
inline TrmSplitterCreateInfo withBatches(TrmSplitterCreateInfo made) {
    made.flags |= TRM_SPLITTER_CREATE_BATCHES_BIT;
    return made;
}

/// The pipelines for splits of one format.
class Splitter {
public:
    using Info = TrmSplitInfo;

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
    static Splitter fromSpirv(const Device &device, const TrmSplitterCreateInfo &info,
                              const std::vector<std::uint32_t> &code) {
        TrmSplitter splitter = nullptr;
        const std::size_t bytes = code.size() * sizeof(std::uint32_t);
        check(trmCreateSplitterFromSpirv(device.get(), &info, code.data(), bytes, &splitter));
        return Splitter(splitter);
    }

    TrmSplitter get() const noexcept { return handle_.get(); }

    /// Returns the info as Batch::add() takes it: with this handle.
    Info inBatch(Info info) const noexcept {
        info.splitter = get();
        return info;
    }

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

    /// trmCompileSplitter(): creates pipelines of a splitter with TRM_SPLITTER_CREATE_DEFERRED_BIT on the calling
    /// thread.
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

}  // namespace trommel

#endif  // TROMMEL_SPLIT_HPP
