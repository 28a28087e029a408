//! Device buffers, uploads and downloads.

use super::Context;
use crate::{Error, Range, Result, Scratch};
use ash::vk;
use bytemuck::Pod;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

/// Buffers of this size or more get a dedicated allocation: random access is several times as fast on some devices.
const DEDICATED_FROM: u64 = 1 << 20;

/// A buffer for inputs, outputs and scratch of every primitive.
pub struct Buffer {
    context: Context,
    handle: vk::Buffer,
    allocation: Option<Allocation>,
    address: vk::DeviceAddress,
    size: u64,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("address", &self.address).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Buffer {
    fn new(context: &Context, size: u64, location: MemoryLocation) -> Result<Self> {
        let vk = context.vk();
        let info = vk::BufferCreateInfo::default().size(size.max(4)).usage(
            vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
                | vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::INDIRECT_BUFFER
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST,
        );
        // SAFETY: the device is alive.
        let (handle, requirements) = unsafe {
            let handle = vk.create_buffer(&info, None)?;
            (handle, vk.get_buffer_memory_requirements(handle))
        };
        let mut buffer = Self { context: context.clone(), handle, allocation: None, address: 0, size };
        let dedicated = size >= DEDICATED_FROM;
        let desc = AllocationCreateDesc {
            name: "trommel",
            requirements,
            location,
            linear: true,
            allocation_scheme: if dedicated {
                AllocationScheme::DedicatedBuffer(handle)
            } else {
                AllocationScheme::GpuAllocatorManaged
            },
        };
        let allocation = context.allocator().allocate(&desc).map_err(|error| Error::Allocation(error.to_string()))?;
        // SAFETY: the buffer and the allocation are new, and the allocation meets the buffer's requirements.
        unsafe {
            let bound = vk.bind_buffer_memory(handle, allocation.memory(), allocation.offset());
            buffer.allocation = Some(allocation);
            bound?;
            buffer.address = vk.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(handle));
        }
        Ok(buffer)
    }

    /// The Vulkan buffer.
    pub fn handle(&self) -> vk::Buffer {
        self.handle
    }

    /// The device address.
    pub fn address(&self) -> vk::DeviceAddress {
        self.address
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The whole buffer, as an input or output.
    pub fn range(&self) -> Range {
        Range::new(self.address, self.size)
    }

    /// The whole buffer, as scratch.
    pub fn scratch(&self) -> Scratch {
        Scratch { buffer: self.handle, offset: 0, size: self.size }
    }

    fn mapped(&mut self) -> Result<&mut [u8]> {
        let mapped = self.allocation.as_mut().and_then(Allocation::mapped_slice_mut);
        mapped.ok_or_else(|| Error::Allocation("staging memory is not mapped".into()))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // The buffer is destroyed before its memory is freed. Otherwise another thread's new buffer can have the same
        // addresses while both exist, which GPU-assisted validation reports as out-of-bounds accesses.
        // SAFETY: `Context::run` waits for its submission, so no pending command uses the buffer.
        unsafe { self.context.vk().destroy_buffer(self.handle, None) };
        if let Some(allocation) = self.allocation.take() {
            // drop() cannot return an error; on failure the allocation leaks.
            let _ = self.context.allocator().free(allocation);
        }
    }
}

impl Context {
    /// Creates a buffer of `size` bytes of device memory with undefined contents.
    ///
    /// # Errors
    /// [`Error::Allocation`] if there is not enough memory.
    pub fn buffer(&self, size: u64) -> Result<Buffer> {
        Buffer::new(self, size, MemoryLocation::GpuOnly)
    }

    /// Creates a buffer with the contents of `data`.
    ///
    /// # Errors
    /// As [`Context::buffer`], and errors of Vulkan.
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer> {
        let buffer = self.buffer(size_of_val(data) as u64)?;
        self.write(&buffer, data)?;
        Ok(buffer)
    }

    /// Overwrites the beginning of `buffer` with `data`.
    ///
    /// # Errors
    /// As [`Context::upload`]; [`Error::TooSmall`] if `data` does not fit.
    pub fn write<T: Pod>(&self, buffer: &Buffer, data: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let size = bytes.len() as u64;
        check_fits(buffer, size, data.len())?;
        if size == 0 {
            return Ok(());
        }
        let mut staging = Buffer::new(self, size, MemoryLocation::CpuToGpu)?;
        staging.mapped()?[..bytes.len()].copy_from_slice(bytes);
        self.copy(&staging, buffer, size)
    }

    /// Reads the first `len` items of `buffer`.
    ///
    /// # Errors
    /// As [`Context::write`].
    pub fn download<T: Pod>(&self, buffer: &Buffer, len: usize) -> Result<Vec<T>> {
        let bytes = len * size_of::<T>();
        check_fits(buffer, bytes as u64, len)?;
        let mut data = vec![T::zeroed(); len];
        if bytes == 0 {
            return Ok(data);
        }
        let mut staging = Buffer::new(self, bytes as u64, MemoryLocation::GpuToCpu)?;
        self.copy(buffer, &staging, bytes as u64)?;
        bytemuck::cast_slice_mut(&mut data).copy_from_slice(&staging.mapped()?[..bytes]);
        Ok(data)
    }

    fn copy(&self, from: &Buffer, to: &Buffer, size: u64) -> Result<()> {
        self.run(|commands| {
            let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
            // SAFETY: both buffers live until run() has waited, and both are large enough.
            unsafe { self.vk().cmd_copy_buffer(commands, from.handle, to.handle, &region) };
            Ok(())
        })
    }
}

fn check_fits(buffer: &Buffer, required: u64, len: usize) -> Result<()> {
    if required > buffer.size {
        return Err(Error::TooSmall {
            argument: "buffer.size",
            value: buffer.size,
            required,
            max_count: Some(len as u64),
        });
    }
    Ok(())
}
