//! Traits that each primitive implements. All modules outside `primitives` know primitives by these traits alone.

use crate::arrays::{ArrayInfo, Contents, Memory, Table};
use crate::handles::Handles;
use crate::inputs::{Keys, Source};
use crate::shapes::Role;
use ash::vk;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use trommel::tuning::{ItemKind, Shape};
use trommel::{Device, Request, Scratch, Timestamps};

/// A primitive: its cases, and its part in the other modes of the program.
pub(crate) trait Primitive: Sync {
    /// The cases, by name and sizes.
    fn families(&self) -> Vec<Family>;

    /// The handles that `--creation` creates and times.
    fn creations(&self) -> Vec<Creation> {
        Vec::new()
    }

    /// Work that raises the clock of an idle GPU.
    fn heating(&self) -> Option<Case> {
        None
    }

    /// The handle that `--recording` records and times.
    fn recorder(&self, _library: &Device) -> trommel::Result<Option<Box<dyn Recorder>>> {
        Ok(None)
    }

    /// The workloads that `--tune` times to choose a shape.
    fn tuned(&self, _kind: ItemKind, _role: Role) -> Vec<Arc<dyn Workload>> {
        Vec::new()
    }

    /// The operations with two algorithms of which `--tune` searches the shapes, and the count between them.
    fn crossovers(&self) -> Vec<Crossover> {
        Vec::new()
    }
}

/// An operation with an algorithm for small counts and one for large counts. Each has a shape in the profile.
#[derive(Debug)]
pub(crate) struct Crossover {
    /// The kind of items, as comments and the record name it.
    pub(crate) kind: &'static str,
    pub(crate) work: Arc<dyn Workload>,
    /// Name of the line with the shape for small counts.
    pub(crate) small: String,
    /// Name of the line with the shape for large counts.
    pub(crate) large: String,
    /// Name of the line with the largest of the small counts.
    pub(crate) up_to: String,
    /// Counts at which both algorithms are timed, in rising order.
    pub(crate) sizes: &'static [u32],
    /// Shapes that the search times for both.
    pub(crate) shapes: Vec<Shape>,
}

/// An operation as data: its handles, its traffic, and the check of its output.
pub(crate) trait Workload: Debug + Send + Sync {
    /// Bytes an item that the operation moves at least.
    fn bytes_per_item(&self) -> u32;

    /// Items of a case of size `n`. More than `n` where the size is that of the larger of two inputs.
    fn item_count(&self, n: u32) -> u32 {
        n
    }

    /// Items that are prepared before the timed work, beside those of a case of size `n`.
    fn prepared_items(&self, _n: u32) -> u32 {
        0
    }

    /// Takes the handles for `n` items, and creates those that do not exist.
    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>>;

    /// Compares the output of `n` items with the CPU's. The error says where they differ.
    fn check(&self, n: u32, contents: &Contents) -> Result<(), String>;

    /// Facts about the output of `n` items that the record is to have beside the times.
    fn remark(&self, _n: u32, _contents: &Contents) -> Option<String> {
        None
    }

    /// The same work on keys of another distribution.
    fn with_keys(&self, keys: Keys) -> Arc<dyn Workload>;

    /// The same work on a batch. Each group is a number of problems and the items of each.
    fn batch(&self, _groups: &'static [(u32, u32)]) -> Option<Arc<dyn Workload>> {
        None
    }
}

/// A workload of a certain size with its handles.
pub(crate) trait Operation {
    /// The arrays, by their numbers.
    fn arrays(&self) -> Vec<ArrayInfo>;

    /// The tables, by their numbers. `inputs`: the input of each array.
    fn tables(&self, _inputs: &[Option<Arc<Source>>]) -> Vec<Table> {
        Vec::new()
    }

    /// Bytes of scratch that serve every step.
    fn scratch_size(&self) -> trommel::Result<u64>;

    /// The steps that complete the input, after that of each array has been restored. They are not timed.
    fn preparation<'a>(&'a self, _memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        Vec::new()
    }

    /// The steps that write what `check` reads, after the last run. They are not timed.
    fn inspection<'a>(&'a self, _memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        Vec::new()
    }

    /// The timed steps in their order. A barrier separates them.
    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>>;

    /// The buffer that holds the output of each array that `check` reads.
    fn output_sides(&self) -> Vec<usize>;
}

/// A call of one handle with all arguments.
pub(crate) trait Step {
    /// # Safety
    /// The command buffer is recording, and the memory of the arguments lasts until it has executed.
    unsafe fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()>;

    /// Timestamps that the step writes: one more than it has passes, or none.
    fn timestamp_count(&self) -> trommel::Result<u32>;

    /// One line a pass, as the library describes plans. Empty if the step writes no timestamps.
    fn describe(&self) -> trommel::Result<String>;
}

/// Cases that differ in size alone.
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) work: Arc<dyn Workload>,
    pub(crate) sizes: Sizes,
}

impl Family {
    pub(crate) fn new(name: impl Into<String>, work: impl Workload + 'static, sizes: &'static [u32]) -> Self {
        Self { name: name.into(), work: Arc::new(work), sizes: Sizes::Default(sizes) }
    }
}

/// Items of the cases of a family.
#[derive(Clone, Copy)]
pub(crate) enum Sizes {
    /// These unless the command line names others.
    Default(&'static [u32]),
    /// This size alone.
    Fixed(u32),
}

/// One measurement.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) work: Arc<dyn Workload>,
    /// The size. Items in all, unless [`Workload::item_count`] differs.
    pub(crate) n: u32,
}

/// The creation of a handle, to be timed.
pub(crate) struct Creation {
    pub(crate) name: &'static str,
    pub(crate) create: Box<CreateFn>,
}

type CreateFn = dyn Fn(&Device) -> trommel::Result<Box<dyn Any>>;

/// Records requests of a handle. They are never executed.
pub(crate) trait Recorder {
    /// The handle in the output.
    fn label(&self) -> &'static str;

    /// A request of a batch: `count` keys at this address.
    fn request(&self, address: u64, count: u32) -> Request<'_>;

    /// Bytes of scratch for [`Recorder::record`].
    fn scratch_size(&self, count: u32) -> trommel::Result<u64>;

    /// Records a request by itself, as an engine does with one array.
    ///
    /// # Safety
    /// The command buffer is in the recording state and is never submitted.
    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        address: u64,
        count: u32,
        scratch: Scratch,
    ) -> trommel::Result<()>;
}
