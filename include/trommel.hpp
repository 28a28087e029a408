// trommel.h for C++17: handles with destructors, initialized infos, and exceptions for errors. Header-only. The
// comments of trommel.h apply to the functions of the same name, and get() returns the C handle. Each primitive has a
// header of its own, such as trommel/sort.hpp, which includes this one.

#ifndef TROMMEL_HPP
#define TROMMEL_HPP

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
    static std::string text(TrmResult result) {
        return std::string(trmResultString(result)) + ": " + trmGetLastError();
    }

    TrmResult result_;
};

/// Throws Error if the result is an error.
inline void check(TrmResult result) {
    if (result < 0) {
        throw Error(result);
    }
}

/// The sType of an info struct.
template <class Info>
struct StructureType;

template <>
struct StructureType<TrmDeviceRequirementsInfo>
    : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_DEVICE_REQUIREMENTS_INFO> {};
template <>
struct StructureType<TrmDeviceCreateInfo>
    : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_DEVICE_CREATE_INFO> {};
template <>
struct StructureType<TrmBatchInfo> : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_BATCH_INFO> {};

/// Returns an info with sType and structSize set and defaults elsewhere.
template <class Info>
Info info() {
    Info made{};
    made.sType = StructureType<Info>::value;
    made.structSize = sizeof(Info);
    if constexpr (std::is_same_v<Info, TrmDeviceCreateInfo>) {
        made.queueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    }
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
    check(trmGetDeviceRequirements(&query, nullptr, nullptr, &count, requirements.extensions.data(), &size,
                                   requirements.missing.data()));
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

/// Problems to record together. A batch copies their infos to heap memory; trmCmdBatch() itself uses none.
class Batch {
public:
    /// Adds a problem of a handle. Infos stay in the order of add(): the check for overlaps
    /// takes linear time for arrays that follow one another in a few large buffers.
    template <class Handle>
    void add(const Handle &handle, typename Handle::Info info) {
        infos_.push_back(std::make_shared<typename Handle::Info>(handle.inBatch(info)));
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
    struct List {
        explicit List(const Batch &batch) {
            for (const auto &info : batch.infos_) {
                headers.push_back(static_cast<const TrmInfoHeader *>(info.get()));
            }
            info.infoCount = static_cast<std::uint32_t>(headers.size());
            info.infos = headers.data();
        }

        List(const List &) = delete;
        List &operator=(const List &) = delete;

        std::vector<const TrmInfoHeader *> headers;
        TrmBatchInfo info = trommel::info<TrmBatchInfo>();
    };

    std::vector<std::shared_ptr<const void>> infos_;
};

}  // namespace trommel

#endif  // TROMMEL_HPP
