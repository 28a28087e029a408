//! A worker's own device: memory that is copied to it and back, and submissions with a time limit.

use anyhow::Context as _;
use ash::vk;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trommel::host::{Context, ContextInfo, Validation};
use trommel::kernels::Variant;
use trommel::{Device, DeviceInfo, Profile, Requirements};

/// Parameters for opening a device.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Index of the device, or part of its name.
    pub device: Option<String>,
    /// Whether the validation layer is loaded.
    pub validate: bool,
    /// How long a submission may take.
    pub patience: Option<Duration>,
}

/// How a submission ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The submission was executed.
    Done,
    /// The submission was not executed in time.
    Hung,
    /// The device was lost, or Vulkan failed otherwise.
    Lost(vk::Result),
}

/// A device, with a buffer there and one to copy from and to.
pub struct Machine {
    vk: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    arena: Memory,
    staging: Memory,
    patience: Duration,
    /// How long submissions have run since it was last asked for.
    device_time: Duration,
    /// Whether a submission is waited for.
    is_waiting: Arc<AtomicBool>,
    /// Nothing is destroyed once the device hangs.
    broken: bool,
    /// The library with the profiles used last; the first one stays.
    libraries: RefCell<Vec<(Profile, Device)>>,
    /// Variants of libraries that have been destroyed.
    variants: RefCell<HashSet<Variant>>,
    entry: ash::Entry,
    context: Context,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("context", &self.context).finish_non_exhaustive()
    }
}

/// A buffer with memory of its own.
#[derive(Clone, Copy, Default)]
struct Memory {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    size: u64,
    address: u64,
    mapped: Option<std::ptr::NonNull<u8>>,
}

/// Number of pipelines after which a library is created anew.
const MOST_PIPELINES: usize = 1500;

/// The first size of both buffers.
const LEAST_MEMORY: u64 = 1 << 20;

impl Machine {
    /// Opens a device.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(opening: &Opening) -> anyhow::Result<Self> {
        let context = Context::with(&ContextInfo {
            device: opening.device.clone(),
            validation: if opening.validate { Validation::On } else { Validation::FromEnvironment },
            fault_reports: true,
            ..ContextInfo::default()
        })?;
        // SAFETY: the loader is the system's own, and already in use.
        let entry = unsafe { ash::Entry::load() }.context("no Vulkan loader")?;
        let vk = context.vk().clone();
        let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family());
        // SAFETY: the device is alive and has a queue of the family; the handles are destroyed before it.
        let (queue, pool, commands, fence) = unsafe {
            let queue = vk.get_device_queue(context.queue_family(), 0);
            let pool = vk.create_command_pool(&pool_info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = vk.allocate_command_buffers(&info)?.into_iter().next().context("no command buffer")?;
            (queue, pool, commands, vk.create_fence(&vk::FenceCreateInfo::default(), None)?)
        };
        let patience =
            opening.patience.unwrap_or(Duration::from_secs(if context.device().facts().is_cpu { 240 } else { 60 }));
        let (arena, staging, libraries, variants, is_waiting) = Default::default();
        Ok(Self {
            vk,
            queue,
            pool,
            commands,
            fence,
            arena,
            staging,
            patience,
            device_time: Duration::ZERO,
            is_waiting,
            broken: false,
            libraries,
            variants,
            entry,
            context,
        })
    }

    /// Returns how long submissions have run on the device since the last call.
    pub fn take_device_time(&mut self) -> Duration {
        std::mem::take(&mut self.device_time)
    }

    /// Where the inputs and outputs are, and what the driver says if the device is lost.
    pub fn fault(&self, ended: &End) -> String {
        let (begin, end) = (self.arena.address, self.arena.address + self.arena.size);
        // Reports of other devices than lost ones must not be asked for.
        let is_lost = *ended == End::Lost(vk::Result::ERROR_DEVICE_LOST);
        // SAFETY: the device is lost.
        let report = if is_lost { unsafe { self.context.fault_report() } } else { None };
        format!("arena {begin:#x} to {end:#x}; fault: {}", report.unwrap_or_else(|| "no report".into()))
    }

    /// Whether a submission has hung, or the device is lost.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether a submission is waited for, for other threads.
    pub fn is_waiting(&self) -> Arc<AtomicBool> {
        self.is_waiting.clone()
    }

    /// How long a submission may take.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// The context: its library has the built-in profile.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The library with a profile, making pipelines when they are first recorded. Pipelines of the first one and of the
    /// last two are kept.
    ///
    /// # Errors
    /// The library's.
    pub fn library(&self, profile: &Profile) -> trommel::Result<Device> {
        let mut libraries = self.libraries.borrow_mut();
        if let Some((_, device)) = libraries.iter().find(|(known, _)| known == profile) {
            return Ok(device.clone());
        }
        let device = self.make_library(profile)?;
        if libraries.len() > 2 {
            self.retire(&libraries.remove(1).1);
        }
        if libraries.first().is_some_and(|(_, device)| device.pipelines().len() > MOST_PIPELINES) {
            self.retire(&libraries.remove(0).1);
        }
        libraries.push((profile.clone(), device.clone()));
        Ok(device)
    }

    /// Notes the kernels that a library has recorded, since its pipelines may be destroyed with their handles.
    pub fn retire(&self, device: &Device) {
        self.variants.borrow_mut().extend(device.pipelines().into_iter().map(|(variant, _)| variant));
    }

    /// Every kernel that has been recorded, as it was specialized.
    pub fn variants(&self) -> HashSet<Variant> {
        self.libraries.borrow().iter().for_each(|(_, device)| self.retire(device));
        self.variants.borrow().clone()
    }

    fn make_library(&self, profile: &Profile) -> trommel::Result<Device> {
        let context = &self.context;
        let (mut v12, mut v13) = Default::default();
        let proc_addr = self.entry.static_fn().get_instance_proc_addr;
        let instance = context.instance().handle();
        // SAFETY: the handles are the context's, and alive.
        let device = unsafe {
            let requirements =
                Requirements::query(proc_addr, instance, vk::API_VERSION_1_3, context.physical_device())?;
            // The context has enabled the same features.
            requirements.enable(&mut v12, &mut v13);
            let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
            let handle = context.vk().handle();
            let mut info =
                DeviceInfo::new(self.entry.static_fn(), instance, context.physical_device(), handle, &features);
            info.queue_family = Some(context.queue_family());
            info.profile = Some(profile.clone());
            Device::new(&info)?
        };
        device.make_pipelines_late();
        Ok(device)
    }

    /// Messages of the validation layer so far.
    pub fn messages(&self) -> Vec<String> {
        self.context.messages()
    }

    /// Makes room for so many bytes. Returns the address and the buffer of the arena.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn reserve(&mut self, bytes: u64) -> anyhow::Result<(u64, vk::Buffer)> {
        if self.arena.size < bytes {
            let size = bytes.next_power_of_two().max(LEAST_MEMORY);
            for memory in [std::mem::take(&mut self.arena), std::mem::take(&mut self.staging)] {
                self.free(memory);
            }
            self.arena = self.allocate(size, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            let [host, cached] = [
                vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT,
                vk::MemoryPropertyFlags::HOST_CACHED,
            ];
            self.staging = self.allocate(size, host | cached).or_else(|_| self.allocate(size, host))?;
        }
        Ok((self.arena.address, self.arena.buffer))
    }

    fn allocate(&self, size: u64, properties: vk::MemoryPropertyFlags) -> anyhow::Result<Memory> {
        let mappable = properties.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let shaders = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let info = vk::BufferCreateInfo::default().size(size).usage(if mappable { usage } else { usage | shaders });
        let mut memory = Memory { size, ..Memory::default() };
        // SAFETY: the device is alive; buffer and memory are new and fit each other.
        unsafe {
            let all = self.context.instance().get_physical_device_memory_properties(self.context.physical_device());
            memory.buffer = self.vk.create_buffer(&info, None)?;
            let needed = self.vk.get_buffer_memory_requirements(memory.buffer);
            let fits = |(index, kind): &(u32, &vk::MemoryType)| {
                needed.memory_type_bits >> index & 1 != 0 && kind.property_flags.contains(properties)
            };
            let found = (0u32..).zip(all.memory_types_as_slice()).find(fits).map(|(index, _)| index);
            let Some(index) = found else {
                self.free(memory);
                anyhow::bail!("the device has no memory that is {properties:?}");
            };
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let mut allocation =
                vk::MemoryAllocateInfo::default().allocation_size(needed.size).memory_type_index(index);
            if !mappable {
                allocation = allocation.push_next(&mut flags);
            }
            memory.memory = self.vk.allocate_memory(&allocation, None)?;
            self.vk.bind_buffer_memory(memory.buffer, memory.memory, 0)?;
            if mappable {
                let mapped = self.vk.map_memory(memory.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
                memory.mapped = std::ptr::NonNull::new(mapped.cast());
            } else {
                let info = vk::BufferDeviceAddressInfo::default().buffer(memory.buffer);
                memory.address = self.vk.get_buffer_device_address(&info);
            }
        }
        Ok(memory)
    }

    fn free(&self, memory: Memory) {
        // SAFETY: nothing pending uses the buffer: every submission is waited for.
        unsafe {
            self.vk.destroy_buffer(memory.buffer, None);
            self.vk.free_memory(memory.memory, None);
        }
    }

    /// Bytes that are copied to the beginning of the arena, or that have been copied from there.
    pub fn bytes(&mut self, count: usize) -> &mut [u8] {
        let fits = u64::try_from(count).is_ok_and(|count| count <= self.staging.size);
        match self.staging.mapped {
            // SAFETY: the memory is mapped, as long, and nothing pending uses it.
            Some(mapped) if fits => unsafe { std::slice::from_raw_parts_mut(mapped.as_ptr(), count) },
            _ => &mut [],
        }
    }

    /// Copies so many bytes to the arena, executes the recorded commands, and copies the bytes back.
    ///
    /// # Errors
    /// The error of `record`; nothing is submitted then.
    pub fn execute(
        &mut self,
        bytes: u64,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer) -> anyhow::Result<()>,
    ) -> anyhow::Result<End> {
        let (vk, commands) = (&self.vk, self.commands);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: bytes }];
        // SAFETY: the device is alive and nothing that was recorded before is pending; both buffers are as long.
        let submitted = unsafe {
            vk.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())?;
            vk.begin_command_buffer(commands, &begin)?;
            vk.cmd_copy_buffer(commands, self.staging.buffer, self.arena.buffer, &region);
            everything(vk, commands);
            record(vk, commands)?;
            everything(vk, commands);
            vk.cmd_copy_buffer(commands, self.arena.buffer, self.staging.buffer, &region);
            everything(vk, commands);
            vk.end_command_buffer(commands)?;
            let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
            let submit = [vk::SubmitInfo2::default().command_buffer_infos(&buffers)];
            vk.queue_submit2(self.queue, &submit, self.fence)
        };
        let started = Instant::now();
        let nanoseconds = u64::try_from(self.patience.as_nanos()).unwrap_or(u64::MAX);
        self.is_waiting.store(true, Ordering::Relaxed);
        // SAFETY: the fence is the one submitted.
        let waited = submitted.and_then(|()| unsafe { vk.wait_for_fences(&[self.fence], true, nanoseconds) });
        self.is_waiting.store(false, Ordering::Relaxed);
        self.device_time += started.elapsed();
        let end = match waited {
            Ok(()) => End::Done,
            Err(vk::Result::TIMEOUT) => End::Hung,
            Err(_) if started.elapsed() >= self.patience => End::Hung,
            Err(error) => End::Lost(error),
        };
        if end == End::Done {
            // SAFETY: the submission has ended.
            unsafe { vk.reset_fences(&[self.fence]) }?;
        } else {
            self.broken = true;
        }
        Ok(end)
    }
}

/// Makes every write visible to all later commands.
fn everything(vk: &ash::Device, commands: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS | vk::PipelineStageFlags2::HOST)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE | vk::AccessFlags2::HOST_READ)];
    // SAFETY: the command buffer is recording, outside a render pass.
    unsafe { vk.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&barriers)) };
}

/// The barrier that a caller owes between two calls that use the same scratch.
pub fn between_calls(vk: &ash::Device, commands: vk::CommandBuffer) {
    let both = vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE;
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER | vk::PipelineStageFlags2::ALL_TRANSFER)
        .dst_access_mask(both | vk::AccessFlags2::TRANSFER_WRITE)];
    // SAFETY: the command buffer is recording, outside a render pass.
    unsafe { vk.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&barriers)) };
}

impl Drop for Machine {
    fn drop(&mut self) {
        if self.broken {
            return;
        }
        self.libraries.borrow_mut().clear();
        self.free(self.arena);
        self.free(self.staging);
        // SAFETY: every submission has been waited for.
        unsafe {
            self.vk.destroy_fence(self.fence, None);
            self.vk.destroy_command_pool(self.pool, None);
        }
    }
}
