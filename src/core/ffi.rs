//! Structs of requests that Rust and C share, member by member. `cargo xtask header` reads this file: its comments are
//! those of the header, without links and without backticks.
#![allow(clippy::doc_markdown, reason = "the comments of the header")]

use ash::vk;

/// A number of items: known on the host, or read from the device, with a maximum known on the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The count, or its maximum. A larger count on the device is clamped and flagged in the status word.
    pub max: u32,
    /// Device address of a 32-bit count, a multiple of 4. 0: max is the count.
    pub address: vk::DeviceAddress,
}

/// A range of device memory, by address. It is aligned to its elements: 4 bytes, or the size of narrower keys. The
/// buffer has usage SHADER_DEVICE_ADDRESS | STORAGE_BUFFER. Give large buffers a dedicated allocation
/// (VkMemoryDedicatedAllocateInfo): random access is up to six times as fast on some devices.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Address of the first byte.
    pub address: vk::DeviceAddress,
    /// Size in bytes. May exceed the size in use.
    pub size: vk::DeviceSize,
}

/// Working memory of a recorded call, in use from its first command to its last. The caller may use it for anything
/// before and after. It needs no initialization, and its contents are undefined afterwards. The buffer has usage
/// SHADER_DEVICE_ADDRESS | STORAGE_BUFFER | INDIRECT_BUFFER | TRANSFER_DST.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scratch {
    /// Indirect dispatches and transfers need a buffer. All other memory is named by address.
    pub buffer: vk::Buffer,
    /// Offset of the first byte, a multiple of 4. A multiple of 256 is best.
    pub offset: vk::DeviceSize,
    /// Size in bytes.
    pub size: vk::DeviceSize,
}
