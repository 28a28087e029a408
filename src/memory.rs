//! How inputs, outputs and scratch are named: addresses for what the caller owns, a buffer for scratch.

use crate::{Error, Result};
use ash::vk;

/// A range of device memory, by address: elements of 4 bytes need an alignment of 4, nothing more.
///
/// The buffer behind it has usage `SHADER_DEVICE_ADDRESS | STORAGE_BUFFER`. Large buffers want dedicated allocations
/// (`VkMemoryDedicatedAllocateInfo`): random access is up to six times as fast on some devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub address: vk::DeviceAddress,
    /// Bytes.
    pub size: vk::DeviceSize,
}

impl Range {
    /// No memory.
    pub const NONE: Self = Self { address: 0, size: 0 };

    /// `size` bytes from `address`.
    pub const fn new(address: vk::DeviceAddress, size: vk::DeviceSize) -> Self {
        Self { address, size }
    }

    /// `size` bytes of `buffer` from `offset`.
    ///
    /// # Safety
    /// `buffer` is a buffer of `device` with memory bound and usage `SHADER_DEVICE_ADDRESS`.
    pub unsafe fn of_buffer(device: &ash::Device, buffer: vk::Buffer, offset: vk::DeviceSize, size: vk::DeviceSize) -> Self {
        // SAFETY: the caller's promise is the call's own requirement.
        let base = unsafe { device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(buffer)) };
        Self { address: base + offset, size }
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.size != 0
            && other.size != 0
            && self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size)
    }

    /// Checks that `required` bytes lie here, aligned to words; null is allowed where nothing is required.
    pub(crate) fn check(self, names: RangeNames, required: u64, max_count: u64) -> Result<()> {
        if required == 0 {
            return Ok(());
        }
        if self.address == 0 {
            return Err(Error::Null { argument: names.address });
        }
        check_alignment(names.address, self.address)?;
        if self.size < required {
            return Err(Error::TooSmall { argument: names.size, value: self.size, required, max_count: Some(max_count) });
        }
        if self.address.checked_add(self.size).is_none() {
            return Err(Error::TooLarge {
                argument: names.size,
                value: self.size,
                limit: u64::MAX - self.address,
                why: "the end of the address space",
            });
        }
        Ok(())
    }
}

/// What a range's members are called in messages.
#[derive(Clone, Copy)]
pub(crate) struct RangeNames {
    pub(crate) address: &'static str,
    pub(crate) size: &'static str,
}

pub(crate) fn check_alignment(argument: &'static str, value: u64) -> Result<()> {
    if value.is_multiple_of(4) { Ok(()) } else { Err(Error::Misaligned { argument, value, alignment: 4 }) }
}

/// How many items: known to the host, or lying on the device with a maximum known to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The count, or the most it can be. A count on the device that is above it is clamped, and flagged in the status word.
    pub max: u32,
    /// Address of a `u32` on the device, 4-aligned; 0: `max` is the count.
    pub address: vk::DeviceAddress,
}

impl Count {
    /// `count` items.
    pub const fn host(count: u32) -> Self {
        Self { max: count, address: 0 }
    }

    /// As many items as the `u32` at `address` says when the commands execute, at most `max`.
    pub const fn device(address: vk::DeviceAddress, max: u32) -> Self {
        Self { max, address }
    }

    pub(crate) const fn is_on_device(self) -> bool {
        self.address != 0
    }
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Self::host(count)
    }
}

/// Memory that a recorded call works in, from its first command to its last. Its contents need no preparation and mean
/// nothing afterwards.
///
/// The buffer has usage `SHADER_DEVICE_ADDRESS | STORAGE_BUFFER | INDIRECT_BUFFER | TRANSFER_DST`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scratch {
    /// The buffer: indirect arguments and table updates want one, where everything else is an address.
    pub buffer: vk::Buffer,
    /// First byte, a multiple of 4.
    pub offset: vk::DeviceSize,
    /// Bytes.
    pub size: vk::DeviceSize,
}

/// Queries of the caller's pool that a call writes: one before its first command, then one after each of its passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// A pool of type `TIMESTAMP`, its queries reset by the caller.
    pub pool: vk::QueryPool,
    /// The first query.
    pub first: u32,
}
