// Hash tables for C++17: see trommel.hpp.

#ifndef TROMMEL_HASH_HPP
#define TROMMEL_HASH_HPP

#include <cstdint>
#include <memory>
#include <type_traits>

#include "../trommel.hpp"

namespace trommel {

template <>
struct StructureType<TrmHasherCreateInfo>
    : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_HASHER_CREATE_INFO> {};
template <>
struct StructureType<TrmHashInfo> : std::integral_constant<TrmStructureType, TRM_STRUCTURE_TYPE_HASH_INFO> {};

/// Returns the info of a hasher for the given key and value types, with defaults elsewhere. Keys have 32 bits or more.
/// Without values, tables are sets.
inline TrmHasherCreateInfo hasherInfo(TrmHashOperation operation, TrmKeyType keys,
                                      TrmValueType values = TRM_VALUE_TYPE_NONE) {
    auto made = info<TrmHasherCreateInfo>();
    made.operation = operation;
    made.keyType = keys;
    made.valueType = values;
    return made;
}

/// Returns the info of a hasher for values of valueSize bytes.
inline TrmHasherCreateInfo hasherInfo(TrmHashOperation operation, TrmKeyType keys, std::uint32_t valueSize) {
    auto made = hasherInfo(operation, keys, TRM_VALUE_TYPE_BYTES);
    made.valueSize = valueSize;
    return made;
}

/// Returns the info of a hasher with another operation on the same tables, such as TRM_HASH_OPERATION_FIND.
inline TrmHasherCreateInfo withOperation(TrmHasherCreateInfo made, TrmHashOperation operation) {
    made.operation = operation;
    return made;
}

/// Returns the info of a hasher for tables with linear probing.
inline TrmHasherCreateInfo withLinearProbing(TrmHasherCreateInfo made) {
    made.scheme = TRM_HASH_SCHEME_LINEAR;
    return made;
}

/// Returns the info of a hasher for an operation that runs at the same time as others: see
/// TRM_HASHER_CREATE_CONCURRENT_BIT.
inline TrmHasherCreateInfo withConcurrency(TrmHasherCreateInfo made) {
    made.flags |= TRM_HASHER_CREATE_CONCURRENT_BIT;
    return made;
}

/// Returns the info of a hasher for multimaps: see TRM_HASHER_CREATE_MULTIMAP_BIT.
inline TrmHasherCreateInfo forMultimaps(TrmHasherCreateInfo made) {
    made.flags |= TRM_HASHER_CREATE_MULTIMAP_BIT;
    return made;
}

/// Returns the info of a hasher for tables that grow and shrink: see TRM_HASHER_CREATE_RESIZABLE_BIT.
inline TrmHasherCreateInfo forResizableTables(TrmHasherCreateInfo made) {
    made.flags |= TRM_HASHER_CREATE_RESIZABLE_BIT;
    return made;
}

/// Returns the info of a hasher for the keys that a stencil selects: see TRM_HASHER_CREATE_STENCIL_BIT.
inline TrmHasherCreateInfo withStencil(TrmHasherCreateInfo made) {
    made.flags |= TRM_HASHER_CREATE_STENCIL_BIT;
    return made;
}

/// Returns the info with support for batches.
inline TrmHasherCreateInfo withBatches(TrmHasherCreateInfo made) {
    made.flags |= TRM_HASHER_CREATE_BATCHES_BIT;
    return made;
}

/// The pipelines for one operation on the tables of one format.
class Hasher {
public:
    using Info = TrmHashInfo;

    /// hasherInfo() and withOperation() make infos.
    Hasher(const Device &device, const TrmHasherCreateInfo &info) {
        TrmHasher hasher = nullptr;
        check(trmCreateHasher(device.get(), &info, &hasher));
        handle_.reset(hasher);
    }

    TrmHasher get() const noexcept { return handle_.get(); }

    /// Returns the info as Batch::add() takes it: with this handle.
    Info inBatch(Info info) const noexcept {
        info.hasher = get();
        return info;
    }

    /// Bytes of a table with room for capacity keys. Hashers with the same types return the same size.
    VkDeviceSize tableSize(std::uint32_t capacity) const {
        VkDeviceSize size = 0;
        check(trmGetHasherTableSize(get(), capacity, &size));
        return size;
    }

    /// trmCheckHasherTable(): throws unless size bytes of host memory are a table with room for capacity keys.
    void checkTable(std::uint32_t capacity, const void *table, VkDeviceSize size) const {
        check(trmCheckHasherTable(get(), capacity, table, size));
    }

    VkDeviceSize scratchSize(std::uint32_t maxCount) const {
        VkDeviceSize size = 0;
        check(trmGetHasherScratch(get(), maxCount, &size));
        return size;
    }

    std::uint32_t timestampCount(std::uint32_t maxCount) const {
        std::uint32_t count = 0;
        check(trmGetHasherTimestampCount(get(), maxCount, &count));
        return count;
    }

    /// trmCompileHasher(): creates pipelines of a hasher with TRM_HASHER_CREATE_DEFERRED_BIT on the calling thread.
    void compile() const { check(trmCompileHasher(get())); }

    /// trmGetHasherReady()
    bool ready() const {
        VkBool32 ready = VK_FALSE;
        check(trmGetHasherReady(get(), &ready));
        return ready == VK_TRUE;
    }

    /// trmCmdHash()
    void cmdHash(VkCommandBuffer commandBuffer, const TrmHashInfo &info) const {
        check(trmCmdHash(commandBuffer, get(), &info));
    }

private:
    struct Destroy {
        void operator()(TrmHasher hasher) const noexcept { trmDestroyHasher(hasher); }
    };
    std::unique_ptr<std::remove_pointer_t<TrmHasher>, Destroy> handle_;
};

}  // namespace trommel

#endif  // TROMMEL_HASH_HPP
