//! Vulkan functions that record nothing, or list their commands. The driver's own functions then record the list.
//! With it, the time of a recording divides into the library's part and the driver's.

use ash::vk;
use ash::vk::Handle as _;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::slice;
use std::sync::OnceLock;

/// A call of the library to the driver, with its arguments.
#[derive(Clone, Copy, Debug)]
enum Command {
    BufferAddress(vk::Buffer),
    Bind(vk::Pipeline),
    Push { layout: vk::PipelineLayout, offset: u32, size: usize, bytes: [u8; MAX_PUSH_BYTES] },
    Dispatch([u32; 3]),
    DispatchIndirect(vk::Buffer, vk::DeviceSize),
    Barrier(vk::MemoryBarrier2<'static>),
}

/// Bytes of push constants that every Vulkan device takes.
const MAX_PUSH_BYTES: usize = 128;

/// Address of every buffer.
const BUFFER_ADDRESS: vk::DeviceAddress = 1 << 46;

/// The driver's functions, by its own loader.
static LOADER: OnceLock<vk::PFN_vkGetInstanceProcAddr> = OnceLock::new();
static DEVICE_LOADER: OnceLock<vk::PFN_vkGetDeviceProcAddr> = OnceLock::new();

thread_local! {
    /// The commands of this thread, where something lists them.
    static LIST: RefCell<Option<Vec<Command>>> = const { RefCell::new(None) };
}

/// Commands that the library has recorded.
pub(crate) struct Commands(Vec<Command>);

impl Commands {
    /// The commands that the library records in `record`, on a device opened with [`loader`].
    pub(crate) fn of(record: impl FnOnce() -> trommel::Result<()>) -> trommel::Result<Self> {
        LIST.set(Some(Vec::new()));
        let result = record();
        let list = LIST.take().unwrap_or_default();
        result.map(|()| Self(list))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Records the commands by the driver's functions.
    ///
    /// # Safety
    /// The command buffer is recording, and the objects of the commands are alive.
    pub(crate) unsafe fn replay(&self, vk: &ash::Device, to: vk::CommandBuffer) {
        for command in &self.0 {
            // SAFETY: the caller's promise.
            unsafe {
                match command {
                    Command::BufferAddress(buffer) => {
                        let info = vk::BufferDeviceAddressInfo::default().buffer(*buffer);
                        std::hint::black_box(vk.get_buffer_device_address(&info));
                    }
                    Command::Bind(pipeline) => vk.cmd_bind_pipeline(to, vk::PipelineBindPoint::COMPUTE, *pipeline),
                    Command::Push { layout, offset, size, bytes } => {
                        let (stage, bytes) = (vk::ShaderStageFlags::COMPUTE, &bytes[..*size]);
                        vk.cmd_push_constants(to, *layout, stage, *offset, bytes);
                    }
                    Command::Dispatch([x, y, z]) => vk.cmd_dispatch(to, *x, *y, *z),
                    Command::DispatchIndirect(buffer, offset) => vk.cmd_dispatch_indirect(to, *buffer, *offset),
                    Command::Barrier(barrier) => {
                        let info = vk::DependencyInfo::default().memory_barriers(slice::from_ref(barrier));
                        vk.cmd_pipeline_barrier2(to, &info);
                    }
                }
            }
        }
    }
}

/// A loader of devices that record no command. All other functions are those of `entry`. The first call fixes them.
pub(crate) fn loader(entry: &ash::StaticFn) -> vk::PFN_vkGetInstanceProcAddr {
    LOADER.get_or_init(|| entry.get_instance_proc_addr);
    get_instance_proc_addr
}

unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are strings, and the loader's arguments are the caller's.
    let (name_text, function) = unsafe { (CStr::from_ptr(name), LOADER.get()?(instance, name)?) };
    if instance.is_null() || name_text != c"vkGetDeviceProcAddr" {
        return Some(function);
    }
    // SAFETY: a function of that name has that type, as has the one that takes its place.
    unsafe {
        DEVICE_LOADER.get_or_init(|| transmute::<unsafe extern "system" fn(), vk::PFN_vkGetDeviceProcAddr>(function));
        Some(transmute::<vk::PFN_vkGetDeviceProcAddr, unsafe extern "system" fn()>(get_device_proc_addr))
    }
}

unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    macro_rules! table {
        ($($name:literal = $function:ident: $type:ident,)*) => {
            // SAFETY: names are strings.
            match unsafe { CStr::from_ptr(name) }.to_bytes() {
                // SAFETY: a function of the type that the caller of that name casts it back to.
                $($name => Some(unsafe { transmute::<vk::$type, unsafe extern "system" fn()>($function) }),)*
                // SAFETY: the arguments are the caller's.
                _ => unsafe { DEVICE_LOADER.get()?(device, name) },
            }
        };
    }
    table! {
        b"vkGetBufferDeviceAddress" = buffer_address: PFN_vkGetBufferDeviceAddress,
        b"vkCmdBindPipeline" = bind: PFN_vkCmdBindPipeline,
        b"vkCmdPushConstants" = push: PFN_vkCmdPushConstants,
        b"vkCmdDispatch" = dispatch: PFN_vkCmdDispatch,
        b"vkCmdDispatchIndirect" = dispatch_indirect: PFN_vkCmdDispatchIndirect,
        b"vkCmdPipelineBarrier2" = barrier: PFN_vkCmdPipelineBarrier2,
    }
}

fn list(command: impl FnOnce() -> Command) {
    LIST.with_borrow_mut(|list| {
        if let Some(list) = list {
            list.push(command());
        }
    });
}

unsafe extern "system" fn buffer_address(
    _: vk::Device,
    info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    // SAFETY: the library's info is valid.
    list(|| Command::BufferAddress(unsafe { (*info).buffer }));
    BUFFER_ADDRESS
}

unsafe extern "system" fn bind(_: vk::CommandBuffer, _: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
    list(|| Command::Bind(pipeline));
}

unsafe extern "system" fn push(
    _: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    _: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    values: *const c_void,
) {
    list(|| {
        let (size, mut bytes) = (size as usize, [0; MAX_PUSH_BYTES]);
        // SAFETY: the library pushes as many bytes as it says.
        bytes[..size].copy_from_slice(unsafe { slice::from_raw_parts(values.cast(), size) });
        Command::Push { layout, offset, size, bytes }
    });
}

unsafe extern "system" fn dispatch(_: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    list(|| Command::Dispatch([x, y, z]));
}

unsafe extern "system" fn dispatch_indirect(_: vk::CommandBuffer, buffer: vk::Buffer, offset: vk::DeviceSize) {
    list(|| Command::DispatchIndirect(buffer, offset));
}

unsafe extern "system" fn barrier(_: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
    list(|| {
        // SAFETY: the library's barriers have one memory barrier each, without a chain.
        let barrier = unsafe { *(*info).p_memory_barriers };
        let stages =
            vk::MemoryBarrier2::default().src_stage_mask(barrier.src_stage_mask).dst_stage_mask(barrier.dst_stage_mask);
        Command::Barrier(stages.src_access_mask(barrier.src_access_mask).dst_access_mask(barrier.dst_access_mask))
    });
}
