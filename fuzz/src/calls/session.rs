//! Handles that many calls share: two devices, and handles of every primitive on them.

use crate::calls::fake::{ALL_FEATURES, BUFFERS, Fake, Recording, get_proc_addr, set_features};
use crate::calls::good;
use crate::calls::guard::Block;
use crate::calls::info::{HEADER, Image, Info};
use crate::calls::model::SUCCESS;
use crate::calls::primitive::{Model, primitive, primitives};
use crate::calls::random::Random;
use ash::vk;
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use trommel::capi::*;

/// Most infos of a batch.
pub(crate) const MOST_ITEMS: usize = 48;

/// Memory of a thread before guard pages.
pub(crate) struct Blocks {
    pub(crate) info: Block,
    pub(crate) list: Block,
    pub(crate) text: Block,
    pub(crate) output: Block,
    pub(crate) items: Vec<Block>,
}

impl Blocks {
    pub(crate) fn new() -> std::io::Result<Self> {
        let items = (0..MOST_ITEMS).map(|_| Block::new()).collect::<Result<_, _>>()?;
        Ok(Self { info: Block::new()?, list: Block::new()?, text: Block::new()?, output: Block::new()?, items })
    }
}

/// Places an info before a guard page. `pointers`: offset and value of each pointer member; null members stay null.
pub(crate) fn place<T: Info>(block: &Block, image: &Image, pointers: &[(usize, u64)]) -> *const T {
    if image.null {
        return null();
    }
    let mut bytes = image.physical::<T>();
    for (offset, pointer) in pointers {
        if let Some(member) = bytes.get_mut(*offset..offset + 8)
            && member.iter().any(|byte| *byte != 0)
        {
            member.copy_from_slice(&pointer.to_ne_bytes());
        }
    }
    let start = block.place(&bytes, align_of::<T>());
    if image.misaligned { start.wrapping_sub(4).cast_const().cast() } else { start.cast_const().cast() }
}

/// Allocation callbacks that are never called, since the fake allocates nothing.
fn callbacks() -> vk::AllocationCallbacks<'static> {
    unsafe extern "system" fn allocate(
        _: *mut c_void,
        _: usize,
        _: usize,
        _: vk::SystemAllocationScope,
    ) -> *mut c_void {
        null_mut()
    }
    unsafe extern "system" fn reallocate(
        _: *mut c_void,
        _: *mut c_void,
        _: usize,
        _: usize,
        _: vk::SystemAllocationScope,
    ) -> *mut c_void {
        null_mut()
    }
    unsafe extern "system" fn free(_: *mut c_void, _: *mut c_void) {}
    vk::AllocationCallbacks {
        pfn_allocation: Some(allocate),
        pfn_reallocation: Some(reallocate),
        pfn_free: Some(free),
        ..Default::default()
    }
}

/// Arguments of trmCreateDevice() beside an image. Nonzero pointer members of the image point to them.
pub(crate) struct DeviceArguments {
    pub(crate) enabled: u32,
    pub(crate) profile: Option<CString>,
}

impl DeviceArguments {
    pub(crate) fn good() -> Self {
        Self { enabled: ALL_FEATURES, profile: None }
    }

    /// Calls trmCreateDevice().
    pub(crate) fn create(&self, blocks: &Blocks, fake: &Fake, image: &Image, device: *mut TrmDevice) -> i32 {
        let (mut v12, mut v13) = Default::default();
        set_features(&mut v12, &mut v13, self.enabled);
        let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
        let callbacks = callbacks();
        let address = |pointer: *const c_void| pointer.expose_provenance() as u64;
        let profile = self.profile.as_ref().map_or(0, |text| {
            let bytes = text.as_bytes_with_nul();
            // Longer texts than a block are only read.
            let start = if bytes.len() < 8000 { blocks.text.place(bytes, 1).cast_const() } else { bytes.as_ptr() };
            address(start.cast())
        });
        type Create = TrmDeviceCreateInfo;
        let entry: vk::PFN_vkGetInstanceProcAddr = get_proc_addr;
        let pointers = [
            (std::mem::offset_of!(Create, get_instance_proc_addr), entry as usize as u64),
            (std::mem::offset_of!(Create, instance), fake.raw()),
            (std::mem::offset_of!(Create, physical_device), fake.raw()),
            (std::mem::offset_of!(Create, device), fake.raw()),
            (std::mem::offset_of!(Create, enabled_features), address((&raw const features).cast())),
            (std::mem::offset_of!(Create, allocation_callbacks), address((&raw const callbacks).cast())),
            (std::mem::offset_of!(Create, profile), profile),
        ];
        // SAFETY: each pointer of the image is null, valid by the header, or breaks a rule that the library has to
        // detect.
        unsafe { trmCreateDevice(place::<Create>(&blocks.info, image, &pointers), device) }
    }
}

/// A TrmDeviceCreateInfo for a fake. [`DeviceArguments::create`] replaces nonzero pointers.
pub(crate) fn device_info(random: &mut Random, fake: &Fake, profile: bool) -> TrmDeviceCreateInfo {
    let families = u32::try_from(fake.families.len()).unwrap_or(1);
    let mut image = Image::of(&crate::calls::info::empty::<TrmDeviceCreateInfo>());
    for offset in [HEADER, HEADER + 8, HEADER + 16, HEADER + 24, HEADER + 32] {
        image.set(offset, 8, 1);
    }
    let callbacks = if fake.callbacks { std::ptr::without_provenance(8) } else { null() };
    TrmDeviceCreateInfo {
        queue_family_index: if random.once_in(3) { vk::QUEUE_FAMILY_IGNORED } else { random.below32(families) },
        debug_utils: fake.debug_utils.into(),
        allocation_callbacks: callbacks,
        profile: if profile { std::ptr::without_provenance(1) } else { null() },
        ..image.effective()
    }
}

/// A device, its handles and its command buffer.
pub(crate) struct Side {
    pub(crate) fake: Box<Fake>,
    pub(crate) device: TrmDevice,
    pub(crate) models: Vec<Model>,
    pub(crate) recording: Box<Recording>,
}

/// Handles that are created once and used by many calls. `problems` lists the failures of their creation.
pub(crate) struct Session {
    pub(crate) sides: [Side; 2],
    pub(crate) problems: Vec<String>,
}

/// Handles of each primitive on the first device.
const MODELS: usize = 5;

pub(crate) fn last_error() -> String {
    // SAFETY: a C string that stays until this thread's next failure.
    unsafe { CStr::from_ptr(trmGetLastError()) }.to_string_lossy().into_owned()
}

impl Session {
    pub(crate) fn new(random: &mut Random, blocks: &Blocks) -> Self {
        let mut problems = Vec::new();
        let sides = [MODELS, 1].map(|models| Side::new(random, blocks, models, &mut problems));
        Self { sides, problems }
    }

    /// The handle with a number, modulo the number of handles.
    pub(crate) fn model(&self, side: usize, index: usize) -> Option<Model> {
        let models = &self.sides[side].models;
        if models.is_empty() { None } else { Some(models[index % models.len()].clone()) }
    }

    /// Destroys all handles. Returns all problems since the creation of the session.
    pub(crate) fn end(self) -> Vec<String> {
        let mut problems = self.problems;
        for Side { fake, device, models, .. } in self.sides {
            // SAFETY: no call uses the handles any more. A device may be destroyed before its sorters and splitters.
            unsafe {
                trmDestroyDevice(device);
                models.iter().for_each(|model| primitive(model.primitive).destroy(model.handle.address()));
            }
            problems.extend(fake.take_faults());
            if fake.live() != 0 {
                problems.push(format!("{} objects are left when all handles are destroyed", fake.live()));
            }
        }
        problems
    }
}

impl Side {
    fn new(random: &mut Random, blocks: &Blocks, models: usize, problems: &mut Vec<String>) -> Self {
        let facts = good::facts(random);
        let mut fake = Box::new(Fake::new(facts));
        (fake.debug_utils, fake.callbacks) = (random.once_in(3), random.once_in(3));
        let profile = random.once_in(4);
        let text = profile.then(|| trommel::Profile::for_device(&fake.facts).to_string());
        let arguments =
            DeviceArguments { profile: text.and_then(|text| CString::new(text).ok()), ..DeviceArguments::good() };
        let info = device_info(random, &fake, profile);
        let mut device = null_mut();
        if arguments.create(blocks, &fake, &Image::of(&info), &raw mut device) != SUCCESS {
            problems.push(format!("trmCreateDevice with {:?}: {}", fake.facts, last_error()));
        }
        let recording = Box::new(Recording::new(&fake));
        let mut side = Self { fake, device, models: Vec::new(), recording };
        if !device.is_null() {
            for index in 0..models {
                for (number, primitive) in primitives().enumerate() {
                    match primitive.make(random, index, device) {
                        Ok(handle) => side.models.push(Model { primitive: number, handle }),
                        Err(error) => problems.push(format!("{error}, on {:?}: {}", side.fake.facts, last_error())),
                    }
                }
            }
        }
        side
    }
}

/// The base address of a buffer.
pub(crate) fn base_of(buffer: u64) -> Option<u64> {
    usize::try_from(buffer).ok().and_then(|index| BUFFERS.get(index.checked_sub(1)?)).copied()
}
