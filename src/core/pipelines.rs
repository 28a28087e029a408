//! Variants of kernels and their pipelines, which handles share.

use super::specialize::{self, Unroll};
use crate::device::DeviceHandles;
use crate::kernels::Kernel;
use crate::shared::Constant;
use crate::{Error, Result};
use arrayvec::ArrayVec;
use ash::vk;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of push constants that every Vulkan device takes.
pub(crate) const MAX_PUSH_BYTES: u32 = 128;
pub(crate) const MAX_CONSTANTS: usize = 24;

/// A kernel with values for its specialization constants. A variant has one pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The module.
    pub kernel: Kernel,
    /// Number of the module of the caller that replaces the kernel's; 0: none.
    module: u64,
    /// Whether the driver gets the whole module and specializes it.
    by_driver: bool,
    /// Values in the order of [`Kernel::constants`]; the rest is zero.
    constants: [u32; MAX_CONSTANTS],
}

impl Variant {
    /// `value` returns the value of each constant that the kernel declares.
    pub(crate) fn new(kernel: Kernel, value: impl Fn(Constant) -> u32) -> Self {
        let mut constants = [0; MAX_CONSTANTS];
        for (slot, constant) in constants.iter_mut().zip(kernel.constants()) {
            *slot = value(*constant);
        }
        Self { kernel, module: 0, by_driver: false, constants }
    }

    /// The same with a module of the caller.
    pub(crate) fn of_module(self, module: u64) -> Self {
        Self { module, ..self }
    }

    /// The same, specialized by the driver.
    pub(crate) fn specialized_by_driver(self) -> Self {
        Self { by_driver: true, ..self }
    }

    /// Each constant with its value.
    pub fn constants(&self) -> impl Iterator<Item = (Constant, u32)> + '_ {
        self.kernel.constants().iter().copied().zip(self.constants)
    }

    fn constant(&self, wanted: Constant) -> Option<u32> {
        self.constants().find(|(constant, _)| *constant == wanted).map(|(_, value)| value)
    }
}

/// A pipeline. Dropped, and destroyed, with the last handle that uses it.
pub(crate) struct Pipeline {
    handle: vk::Pipeline,
    /// Specialization included.
    creation_time: Duration,
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
        // SAFETY: callers of functions that record promise that no command buffer in flight outlives the handle.
        unsafe { self.device.vk.destroy_pipeline(self.handle, self.device.callbacks()) };
    }
}

/// SPIR-V, parsed once for all its variants.
#[derive(Debug)]
pub(crate) struct Shader {
    code: Arc<[u32]>,
    /// `None` if the driver has to specialize the module.
    parsed: OnceLock<Option<specialize::Module>>,
}

impl Shader {
    fn new(code: Arc<[u32]>) -> Self {
        Self { code, parsed: OnceLock::new() }
    }

    fn specialize<'b>(
        &self,
        variant: &Variant,
        unroll: Unroll,
        buffers: &'b mut specialize::Buffers,
    ) -> Option<&'b [u32]> {
        let module = self.parsed.get_or_init(|| specialize::Module::parse(self.code.clone())).as_ref()?;
        module.specialize(unroll, buffers, |id| {
            variant.constants().find(|(constant, _)| *constant as u32 == id).map(|(_, value)| value)
        })
    }
}

/// SPIR-V of the caller.
#[derive(Debug)]
pub(crate) struct Module {
    /// Not 0. No two modules of a device have had the same number.
    number: u64,
    shader: Arc<Shader>,
}

impl Module {
    #[allow(dead_code, reason = "some builds have no primitive that takes modules of the caller")]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

/// Modules in use. Entries of modules that are no longer in use are removed with the next addition.
#[derive(Default)]
struct Modules {
    last_number: u64,
    modules: Vec<Weak<Module>>,
}

impl Modules {
    /// The module with this code: a new one, or the one in use.
    fn add(&mut self, code: &Arc<[u32]>) -> Arc<Module> {
        if let Some(known) = self.modules.iter().filter_map(Weak::upgrade).find(|module| module.shader.code == *code) {
            return known;
        }
        self.last_number += 1;
        let module = Arc::new(Module { number: self.last_number, shader: Arc::new(Shader::new(code.clone())) });
        self.modules.retain(|module| module.strong_count() != 0);
        self.modules.push(Arc::downgrade(&module));
        module
    }

    fn find(&self, number: u64) -> Option<Arc<Module>> {
        self.modules.iter().filter_map(Weak::upgrade).find(|module| module.number == number)
    }
}

/// State of a thread that is reused from one pipeline to the next.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// Keeps the kernel that was used last.
    shader: Option<Arc<Shader>>,
    buffers: specialize::Buffers,
}

/// Decompressed kernels in use, by kernel.
struct Shaders(Box<[Mutex<Weak<Shader>>]>);

impl Default for Shaders {
    fn default() -> Self {
        Self(Kernel::ALL.iter().map(|_| Mutex::default()).collect())
    }
}

impl Shaders {
    /// The kernel's shader. A thread waits while another one decompresses the kernel.
    fn load(&self, kernel: Kernel) -> Result<Arc<Shader>> {
        let mut shader = lock(&self.0[kernel as usize]);
        if let Some(shader) = shader.upgrade() {
            return Ok(shader);
        }
        let loaded = Arc::new(Shader::new(kernel.spirv()?.into()));
        *shader = Arc::downgrade(&loaded);
        Ok(loaded)
    }
}

/// The pipelines of a device, one for each variant that some handle uses.
pub(crate) struct Registry {
    layout: vk::PipelineLayout,
    pipelines: Mutex<HashMap<Variant, Weak<Pipeline>>>,
    /// Pipelines that a recording found missing. The device keeps them, because no handle does.
    kept: Mutex<HashMap<Variant, Arc<Pipeline>>>,
    modules: Mutex<Modules>,
    shaders: Shaders,
    /// Whether pipelines are created by the first recording that uses them, not with their handle.
    late: AtomicBool,
    /// Whether the driver gets whole modules, and specializes them itself.
    whole_modules: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    pub(crate) fn new(device: &DeviceHandles) -> Result<Self> {
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: MAX_PUSH_BYTES }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        // SAFETY: the device is alive and the info is complete.
        let layout = unsafe { device.vk.create_pipeline_layout(&info, device.callbacks()) }?;
        let (pipelines, kept, modules, shaders, late, whole_modules) = Default::default();
        Ok(Self { layout, pipelines, kept, modules, shaders, late, whole_modules })
    }

    /// One layout for all kernels: push constants and nothing else.
    pub(crate) fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// The module of the caller that is made of `code`, the same for the same code.
    pub(crate) fn add_module(&self, code: &Arc<[u32]>) -> Arc<Module> {
        lock(&self.modules).add(code)
    }

    /// The pipeline of a variant, created unless there is one.
    pub(crate) fn pipeline(
        &self,
        device: &Arc<DeviceHandles>,
        variant: Variant,
        workspace: &mut Workspace,
    ) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = self.known(variant) {
            return Ok(pipeline);
        }
        let start = Instant::now();
        let own = lock(&self.modules).find(variant.module);
        let shader = match own {
            Some(module) => module.shader.clone(),
            None => self.shaders.load(variant.kernel)?,
        };
        let unroll = if device.facts.is_cpu { Unroll::Never } else { Unroll::AsMarked };
        let is_whole = variant.by_driver || self.whole_modules.load(Ordering::Relaxed);
        let specialized = if is_whole { None } else { shader.specialize(&variant, unroll, &mut workspace.buffers) };
        let handle = create_pipeline(device, self.layout, variant, specialized.unwrap_or(&shader.code))?;
        workspace.shader = Some(shader);
        Ok(self.register(variant, Pipeline { handle, creation_time: start.elapsed(), device: device.clone() }))
    }

    /// The pipeline of a variant that a recording finds missing. The device keeps it.
    pub(crate) fn late_pipeline(&self, device: &Arc<DeviceHandles>, variant: Variant) -> Result<vk::Pipeline> {
        let pipeline = self.pipeline(device, variant, &mut Workspace::default())?;
        Ok(lock(&self.kept).entry(variant).or_insert(pipeline).handle)
    }

    /// From now on, handles create no pipelines.
    pub(crate) fn make_late(&self) {
        self.late.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// From now on, the driver gets whole modules.
    pub(crate) fn pass_whole_modules(&self) {
        self.whole_modules.store(true, Ordering::Relaxed);
    }

    fn known(&self, variant: Variant) -> Option<Arc<Pipeline>> {
        lock(&self.pipelines).get(&variant).and_then(Weak::upgrade)
    }

    /// Registers a new pipeline, unless another thread has registered the same variant meanwhile.
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

    /// Creation time of each pipeline in use.
    pub(crate) fn creation_times(&self) -> Vec<(Variant, Duration)> {
        let pipelines = lock(&self.pipelines);
        pipelines.iter().filter_map(|(variant, pipeline)| Some((*variant, pipeline.upgrade()?.creation_time))).collect()
    }

    /// Every pipeline in use.
    pub(crate) fn all(&self) -> Vec<(Variant, vk::Pipeline)> {
        let pipelines = lock(&self.pipelines);
        pipelines.iter().filter_map(|(variant, pipeline)| Some((*variant, pipeline.upgrade()?.handle))).collect()
    }

    /// Called once, before the device is destroyed.
    pub(crate) fn destroy(&mut self, device: &DeviceHandles) {
        lock(&self.kept).clear();
        // SAFETY: the caller of Device::new promises that no command buffer in flight outlives the device.
        unsafe { device.vk.destroy_pipeline_layout(self.layout, device.callbacks()) };
    }
}

/// Runs `work` on `threads` threads, the calling one among them. If the system makes no more threads, those that there
/// are do all of the work.
pub(crate) fn on_threads(threads: usize, work: impl Fn() -> Result<()> + Sync) -> Result<()> {
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().name("trommel".into()).spawn_scoped(scope, &work).ok();
        let helpers: Vec<_> = (1..threads).map_while(spawn).collect();
        let own = work();
        let others =
            helpers.into_iter().map(|helper| helper.join().unwrap_or(Err(Error::Vulkan(vk::Result::ERROR_UNKNOWN))));
        others.fold(own, Result::and)
    })
}

fn create_pipeline(
    device: &DeviceHandles,
    layout: vk::PipelineLayout,
    variant: Variant,
    code: &[u32],
) -> Result<vk::Pipeline> {
    let module_info = vk::ShaderModuleCreateInfo::default().code(code);
    // SAFETY: the code is a valid module: spirv-val has passed it, or the caller promises it.
    let module = unsafe { device.vk.create_shader_module(&module_info, device.callbacks()) }?;

    let entries: ArrayVec<vk::SpecializationMapEntry, MAX_CONSTANTS> = variant
        .constants()
        .zip(0u32..)
        .map(|((constant, _), slot)| vk::SpecializationMapEntry {
            constant_id: constant as u32,
            offset: slot * 4,
            size: 4,
        })
        .collect();
    let specialization =
        vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&variant.constants));

    let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
        .module(module)
        .name(c"main")
        // A specialized module has none of these constants: Vulkan then ignores the entries.
        .specialization_info(&specialization);
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
}
