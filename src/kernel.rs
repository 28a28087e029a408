//! Kernels: compiled modules and their specialisations, and the pipelines made of them.

use crate::device::DeviceHandles;
use crate::shared::Constant;
use crate::specialize::{Unroll, specialize};
use crate::{Error, Result};
use arrayvec::ArrayVec;
use ash::vk;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

/// Bytes of push constants that every Vulkan device takes.
pub(crate) const MAX_PUSH_BYTES: u32 = 128;
pub(crate) const MAX_CONSTANTS: usize = 24;

/// SPIR-V lies in memory as 32-bit words.
#[repr(C, align(4))]
struct Words<Bytes: ?Sized>(Bytes);

macro_rules! kernels {
    (
        native { $($(#[$doc:meta])* $kernel:ident = $name:literal, [$($constant:ident),* $(,)?];)* }
        emulated { $($emulated:ident = $emulated_name:literal, of $native:ident;)* }
    ) => {
        /// A compiled module. The text of each lies in `glsl/`, what it is made of in `glsl/VARIANTS`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel {
            $($(#[$doc])* $kernel,)*
            $(#[doc = concat!("[`Kernel::", stringify!($native), "`] with subgroups out of shared memory.")] $emulated,)*
        }

        impl Kernel {
            /// Every kernel.
            pub const ALL: &[Self] = &[$(Self::$kernel,)* $(Self::$emulated,)*];

            /// The module's file name in `spirv/`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kernel => $name,)* $(Self::$emulated => $emulated_name,)* }
            }

            /// The name that debuggers and profilers show.
            pub(crate) const fn label(self) -> &'static CStr {
                let label = match self {
                    $(Self::$kernel => concat!("trommel ", $name, "\0"),)*
                    $(Self::$emulated => concat!("trommel ", $emulated_name, "\0"),)*
                };
                match CStr::from_bytes_with_nul(label.as_bytes()) {
                    Ok(label) => label,
                    Err(_) => c"trommel",
                }
            }

            /// The specialisation constants that the module declares.
            pub const fn constants(self) -> &'static [Constant] {
                match self {
                    $(Self::$kernel => {
                        const CONSTANTS: &[Constant] = &[$(Constant::$constant),*];
                        const { assert!(CONSTANTS.len() <= MAX_CONSTANTS, "a variant has no room for so many") };
                        CONSTANTS
                    })*
                    $(Self::$emulated => Self::$native.constants(),)*
                }
            }

            /// The same kernel with emulated subgroups, where it uses subgroups at all.
            pub(crate) fn emulated(self, emulated: bool) -> Self {
                match self {
                    $(Self::$native if emulated => Self::$emulated,)*
                    other => other,
                }
            }

            /// The module as SPIR-V 1.6.
            pub fn spirv(self) -> &'static [u32] {
                let bytes: &'static Words<[u8]> = match self {
                    $(Self::$kernel => module!($name),)*
                    $(Self::$emulated => module!($emulated_name),)*
                };
                bytemuck::cast_slice(&bytes.0)
            }
        }
    };
}

macro_rules! module {
    ($name:literal) => {{
        const MODULE: &Words<[u8]> = &Words(*include_bytes!(concat!("../spirv/", $name, ".spv")));
        MODULE
    }};
}

kernels! {
    native {
        /// Resolves counts, lays out tiles, writes indirect arguments, clears.
        SortPrepare = "sort_prepare", [Threads, Lanes, Mode, Bins, Tile];
        /// Histograms of all digits.
        SortHistogram = "sort_histogram", [
            Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit, Scan, RingEntries,
        ];
        /// Whether to sort by prefixes.
        SortChoose = "sort_choose", [Threads, Lanes, Mode, Bins];
        /// One digit, by look-back.
        SortOnesweep = "sort_onesweep", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// The same by workgroups that take one tile after the other.
        SortOnesweepPersistent = "sort_onesweep_persistent", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// One digit's counts a tile.
        SortCount = "sort_count", [Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// One digit's sums over the tiles.
        SortSpine = "sort_spine", [Threads, Lanes, Mode, Bins, SegmentTile, Tile];
        /// One digit, to the places that the sums tell.
        SortReorder = "sort_reorder", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Output,
        ];
        /// A whole problem by all workgroups, each of which compares its items with all of them.
        SortRank = "sort_rank", [
            Threads, Lanes, Mode, Items, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// A whole problem in one workgroup, digit by digit.
        SortSmall = "sort_small", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// The same by buckets, where keys are spread well enough.
        SortBuckets = "sort_buckets", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// A whole problem in one workgroup, by merging; or a run of one.
        SortMerge = "sort_merge", [
            Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Where windows of runs begin once they are merged.
        SortPartition = "sort_partition", [
            Threads, Lanes, Mode, Tile, Fan, Step, KeyWords, ValueWords, KeyBits, Layout, BeginBit, EndBit,
        ];
        /// Runs merged, a window in one workgroup.
        SortJoin = "sort_join", [
            Threads, Lanes, Mode, Items, Fan, Step, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Every segment that fits a workgroup, and where the others lie.
        SortSegments = "sort_segments", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
            EndBit,
        ];
        /// The same by merging.
        SortSegmentsMerge = "sort_segments_merge", [
            Threads, Lanes, Mode, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Items to where they are wanted.
        SortCopy = "sort_copy", [Threads, Lanes, Mode, Bins, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide];
        /// Keys of the same prefix.
        SortFinish = "sort_finish", [
            Threads, Lanes, Mode, Bins, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Sorted keys to the bytes or halves that they are.
        SortPack = "sort_pack", [Threads, Lanes, Mode, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// Values to the places of their keys.
        SortPermute = "sort_permute", [Threads, Lanes, Mode, KeyWords, KeyBits, ValueWords, Layout];
        /// Which bucket each item goes to.
        SplitLabel = "split_label", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit,
        ];
        /// What tiles of a split meet in, cleared, where nobody counts keys before.
        SplitBegin = "split_begin", [Threads, Lanes, Mode, Bins, SegmentTile, Tile, Scan, RingEntries, Output];
        /// Few items to their buckets, by tiles each of which counts all.
        SplitSmall = "split_small", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, FullDigits, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, Output,
        ];
        /// What is known of the buckets of a split.
        SplitResults = "split_results", [Threads, Lanes, Mode, Bins, Buckets, Output];
        /// The same of few items, which are counted for it.
        SplitSmallResults = "split_small_results", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout,
        ];
        /// The same of more buckets than a digit has values.
        SplitBounds = "split_bounds", [Threads, Lanes, Mode, Buckets];
    }
    emulated {
        SortOnesweepEmulated = "sort_onesweep_emulated", of SortOnesweep;
        SortOnesweepPersistentEmulated = "sort_onesweep_persistent_emulated", of SortOnesweepPersistent;
        SortSpineEmulated = "sort_spine_emulated", of SortSpine;
        SortReorderEmulated = "sort_reorder_emulated", of SortReorder;
        SortSmallEmulated = "sort_small_emulated", of SortSmall;
        SortBucketsEmulated = "sort_buckets_emulated", of SortBuckets;
        SortSegmentsEmulated = "sort_segments_emulated", of SortSegments;
        SortSegmentsMergeEmulated = "sort_segments_merge_emulated", of SortSegmentsMerge;
        SplitSmallEmulated = "split_small_emulated", of SplitSmall;
        SplitResultsEmulated = "split_results_emulated", of SplitResults;
        SplitSmallResultsEmulated = "split_small_results_emulated", of SplitSmallResults;
    }
}

/// A kernel with its specialisation: what a pipeline is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The module.
    pub kernel: Kernel,
    /// Number of the caller's own module that is used in its place; 0: none.
    module: u64,
    /// Values in the order of [`Kernel::constants`]; the rest is zero.
    constants: [u32; MAX_CONSTANTS],
}

impl Variant {
    /// `value` tells the value of each constant that the kernel declares.
    pub(crate) fn new(kernel: Kernel, value: impl Fn(Constant) -> u32) -> Self {
        let mut constants = [0; MAX_CONSTANTS];
        for (slot, constant) in constants.iter_mut().zip(kernel.constants()) {
            *slot = value(*constant);
        }
        Self { kernel, module: 0, constants }
    }

    /// The same of a module of the caller.
    pub(crate) fn of_module(self, module: u64) -> Self {
        Self { module, ..self }
    }

    /// Each constant with its value.
    pub fn constants(&self) -> impl Iterator<Item = (Constant, u32)> + '_ {
        self.kernel.constants().iter().copied().zip(self.constants)
    }

    /// `code` with these constants.
    fn specialize(&self, code: &[u32], unroll: Unroll) -> Option<Vec<u32>> {
        specialize(code, unroll, |id| self.constants().find(|(constant, _)| *constant as u32 == id).map(|(_, value)| value))
    }

    fn constant(&self, wanted: Constant) -> Option<u32> {
        self.constants().find(|(constant, _)| *constant == wanted).map(|(_, value)| value)
    }
}

/// A pipeline, destroyed when the last sorter or splitter that uses it goes.
pub(crate) struct Pipeline {
    handle: vk::Pipeline,
    device: Arc<DeviceHandles>,
}

impl Pipeline {
    pub(crate) fn handle(&self) -> vk::Pipeline {
        self.handle
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pipeline").field(&self.handle).finish()
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: callers of cmd_sort() and cmd_split() promise that no command buffer in flight outlives the sorter or splitter.
        unsafe { self.device.vk.destroy_pipeline(self.handle, self.device.callbacks()) };
    }
}

/// SPIR-V of the caller.
#[derive(Debug)]
#[cfg_attr(not(feature = "split"), allow(dead_code, reason = "only splits have modules of the caller"))]
pub(crate) struct Module {
    /// Not 0, and not the number of any other module that the device has had.
    number: u64,
    code: Arc<[u32]>,
}

impl Module {
    #[cfg(feature = "split")]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

/// Modules that some splitter uses, and perhaps some that none uses any more.
#[derive(Default)]
struct Modules {
    #[cfg_attr(not(feature = "split"), allow(dead_code, reason = "only splits have modules of the caller"))]
    last_number: u64,
    modules: Vec<Weak<Module>>,
}

impl Modules {
    /// The module that is made of `code`, the same for the same code.
    #[cfg(feature = "split")]
    fn add(&mut self, code: &Arc<[u32]>) -> Arc<Module> {
        if let Some(known) = self.modules.iter().filter_map(Weak::upgrade).find(|module| module.code == *code) {
            return known;
        }
        self.last_number += 1;
        let module = Arc::new(Module { number: self.last_number, code: code.clone() });
        self.modules.retain(|module| module.strong_count() != 0);
        self.modules.push(Arc::downgrade(&module));
        module
    }

    fn find(&self, number: u64) -> Option<Arc<Module>> {
        self.modules.iter().filter_map(Weak::upgrade).find(|module| module.number == number)
    }
}

/// The pipelines of a device, one for each variant that some sorter or splitter uses.
pub(crate) struct Registry {
    layout: vk::PipelineLayout,
    pipelines: Mutex<HashMap<Variant, Weak<Pipeline>>>,
    /// Pipelines that a recording found missing: the device keeps these, since no sorter or splitter does.
    kept: Mutex<HashMap<Variant, Arc<Pipeline>>>,
    modules: Mutex<Modules>,
    /// Whether pipelines are made when they are first recorded, and not before.
    late: AtomicBool,
    /// Whether the driver gets whole modules, and specializes them itself.
    whole_modules: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    pub(crate) fn new(device: &DeviceHandles) -> Result<Self> {
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: MAX_PUSH_BYTES }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        // SAFETY: the device is alive and the info is complete.
        let layout = unsafe { device.vk.create_pipeline_layout(&info, device.callbacks()) }?;
        let (pipelines, kept, modules) = Default::default();
        Ok(Self { layout, pipelines, kept, modules, late: AtomicBool::new(false), whole_modules: AtomicBool::new(false) })
    }

    /// One layout for all kernels: push constants and nothing else.
    pub(crate) fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// The module of the caller that is made of `code`, the same for the same code.
    #[cfg(feature = "split")]
    pub(crate) fn add_module(&self, code: &Arc<[u32]>) -> Arc<Module> {
        lock(&self.modules).add(code)
    }

    /// The pipeline of a variant, created unless there is one.
    fn pipeline(&self, device: &Arc<DeviceHandles>, variant: Variant) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = self.known(variant) {
            return Ok(pipeline);
        }
        let own = lock(&self.modules).find(variant.module);
        let code = own.as_ref().map_or_else(|| variant.kernel.spirv(), |module| &module.code);
        let unroll = if device.facts.is_cpu { Unroll::Never } else { Unroll::AsMarked };
        let specialized = if self.whole_modules.load(Ordering::Relaxed) { None } else { variant.specialize(code, unroll) };
        let handle = create_pipeline(device, self.layout, variant, specialized.as_deref().unwrap_or(code))?;
        Ok(self.register(variant, Pipeline { handle, device: device.clone() }))
    }

    /// The pipeline of a variant that a recording finds missing. The device keeps it.
    pub(crate) fn late_pipeline(&self, device: &Arc<DeviceHandles>, variant: Variant) -> Result<vk::Pipeline> {
        let pipeline = self.pipeline(device, variant)?;
        Ok(lock(&self.kept).entry(variant).or_insert(pipeline).handle)
    }

    /// From now on, [`Registry::pipelines`] makes none.
    pub(crate) fn make_late(&self) {
        self.late.store(true, Ordering::Relaxed);
    }

    /// From now on, the driver gets whole modules.
    pub(crate) fn pass_whole_modules(&self) {
        self.whole_modules.store(true, Ordering::Relaxed);
    }

    /// The pipelines of many variants, created by several threads: drivers take a tenth of a second for one.
    pub(crate) fn pipelines(&self, device: &Arc<DeviceHandles>, variants: &[Variant]) -> Result<Vec<(Variant, Arc<Pipeline>)>> {
        if self.late.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let next = AtomicUsize::new(0);
        on_threads(device.creation_threads().min(variants.len()), || {
            let variants = std::iter::from_fn(|| variants.get(next.fetch_add(1, Ordering::Relaxed)));
            variants.map(|variant| Ok((*variant, self.pipeline(device, *variant)?))).collect()
        })
    }

    fn known(&self, variant: Variant) -> Option<Arc<Pipeline>> {
        lock(&self.pipelines).get(&variant).and_then(Weak::upgrade)
    }

    /// Registers a new pipeline, unless another thread has made the same meanwhile.
    fn register(&self, variant: Variant, pipeline: Pipeline) -> Arc<Pipeline> {
        let mut pipelines = lock(&self.pipelines);
        if let Some(first) = pipelines.get(&variant).and_then(Weak::upgrade) {
            return first;
        }
        let pipeline = Arc::new(pipeline);
        pipelines.retain(|_, pipeline| pipeline.strong_count() != 0);
        pipelines.insert(variant, Arc::downgrade(&pipeline));
        pipeline
    }

    /// Every pipeline in use.
    pub(crate) fn all(&self) -> Vec<(Variant, vk::Pipeline)> {
        let pipelines = lock(&self.pipelines);
        pipelines.iter().filter_map(|(variant, pipeline)| Some((*variant, pipeline.upgrade()?.handle))).collect()
    }

    /// Called once, when the device goes.
    pub(crate) fn destroy(&mut self, device: &DeviceHandles) {
        lock(&self.kept).clear();
        // SAFETY: the caller of Device::new promises that no command buffer in flight outlives the device.
        unsafe { device.vk.destroy_pipeline_layout(self.layout, device.callbacks()) };
    }
}

/// Runs `work` on `threads` threads, the calling one among them, and gathers the results. Where the system makes no more threads, those that there
/// are do all of the work.
fn on_threads<T: Send>(threads: usize, work: impl Fn() -> Result<Vec<T>> + Sync) -> Result<Vec<T>> {
    let results: Vec<Result<Vec<T>>> = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().name("trommel".into()).spawn_scoped(scope, &work).ok();
        let helpers: Vec<_> = (1..threads).map_while(spawn).collect();
        let own = work();
        let others = helpers.into_iter().map(|helper| helper.join().unwrap_or(Err(Error::Vulkan(vk::Result::ERROR_UNKNOWN))));
        std::iter::once(own).chain(others).collect()
    });
    results.into_iter().try_fold(Vec::new(), |mut all, some| {
        all.extend(some?);
        Ok(all)
    })
}

fn create_pipeline(device: &DeviceHandles, layout: vk::PipelineLayout, variant: Variant, code: &[u32]) -> Result<vk::Pipeline> {
    let module_info = vk::ShaderModuleCreateInfo::default().code(code);
    // SAFETY: the code is a valid module: spirv-val has passed it, or the caller vouches for it.
    let module = unsafe { device.vk.create_shader_module(&module_info, device.callbacks()) }?;

    let entries: ArrayVec<vk::SpecializationMapEntry, MAX_CONSTANTS> = variant
        .constants()
        .zip(0u32..)
        .map(|((constant, _), slot)| vk::SpecializationMapEntry { constant_id: constant as u32, offset: slot * 4, size: 4 })
        .collect();
    let specialisation = vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&variant.constants));

    let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
        .module(module)
        .name(c"main")
        // A specialized module has none of these constants: Vulkan then ignores the entries.
        .specialization_info(&specialisation);
    let lanes = variant.constant(Constant::Lanes).unwrap_or(0);
    if device.facts.can_require(lanes) {
        required = required.required_subgroup_size(lanes);
        stage = stage.push_next(&mut required);
    }

    let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout).flags(device.pipeline_flags);
    // SAFETY: module, layout and cache belong to the device.
    let created = unsafe { device.vk.create_compute_pipelines(device.pipeline_cache, &[info], device.callbacks()) };
    // SAFETY: pipelines do not need their module once they exist.
    unsafe { device.vk.destroy_shader_module(module, device.callbacks()) };
    let pipeline = created.map_err(|(_, result)| Error::Vulkan(result))?.into_iter().next();
    let pipeline = pipeline.ok_or(Error::Vulkan(vk::Result::ERROR_UNKNOWN))?;
    device.name(pipeline, variant.kernel.label());
    Ok(pipeline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "split")]
    #[test]
    fn modules_of_the_caller_live_as_long_as_they_are_used() {
        let mut modules = Modules::default();
        let code = |word: u32| Arc::from([word, 7]);
        let first = modules.add(&code(0));
        assert!(Arc::ptr_eq(&first, &modules.add(&code(0))), "the same code is the same module");
        for word in 1..1000u32 {
            let module = modules.add(&code(word));
            assert_eq!(module.number(), u64::from(word) + 1, "no number is used twice");
            assert!(modules.find(module.number()).is_some_and(|found| Arc::ptr_eq(&found, &module)));
            assert!(modules.modules.len() <= 2, "{} modules are remembered", modules.modules.len());
        }
        assert!(modules.find(2).is_none() && modules.find(0).is_none());
        let number = first.number();
        drop(first);
        assert!(modules.add(&code(0)).number() > number, "code that comes back is another module");
    }

    #[test]
    fn modules_are_spirv_1_6() {
        for kernel in Kernel::ALL {
            let words = kernel.spirv();
            assert_eq!(words[0], 0x0723_0203, "{} is not SPIR-V", kernel.name());
            assert_eq!(words[1], 0x0001_0600, "{} is not version 1.6: gl_SubgroupSize would lie", kernel.name());
        }
    }
}
