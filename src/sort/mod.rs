//! Stable radix sort of `u32` keys, with or without `u32` values, ascending, in place.
//!
//! A [`Sorter`] is made once; [`Sorter::cmd_sort`] appends a sort to a command buffer. Counts may lie on the device. Small
//! problems (up to some thousands of keys) take one dispatch of one workgroup; larger ones take 6 dispatches by
//! [`Strategy::Lookback`], and 12 or 13 by [`Strategy::ReduceThenScan`], whatever their size.

pub mod cpu;
mod plan;

pub(crate) use plan::{Class, SortKind, SortSource, SortTable};

use crate::kernel::Variant;
use crate::memory::{RangeNames, check_alignment};
use crate::record::{Commands as _, Recorder, record};
use crate::scratch::Layout;
use crate::{Count, Device, Error, Range, Result, Scratch, Strategy, Timestamps};
use ash::vk;
use ash::vk::Handle as _;
use plan::MAX_COUNT;
use std::sync::Arc;

/// What the keys are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyType {
    /// `u32`, in ascending order.
    #[default]
    U32,
}

/// What moves with each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Nothing.
    #[default]
    None,
    /// 4 bytes, in an array of their own.
    U32,
}

impl ValueType {
    const fn words(self) -> u32 {
        match self {
            Self::None => 0,
            Self::U32 => 1,
        }
    }
}

/// What [`Sorter::new`] makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SorterInfo {
    /// The keys.
    pub key: KeyType,
    /// The values.
    pub value: ValueType,
    /// How. All give the same bytes.
    pub strategy: Strategy,
}

impl SorterInfo {
    /// Keys alone.
    pub const fn keys() -> Self {
        Self { key: KeyType::U32, value: ValueType::None, strategy: Strategy::Auto }
    }

    /// Keys with 4-byte values.
    pub const fn pairs() -> Self {
        Self { value: ValueType::U32, ..Self::keys() }
    }

    /// The same by a given strategy.
    pub const fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }
}

/// One sort to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortInfo {
    /// How many keys, at most 2^30.
    pub count: Count,
    /// `count.max` keys, read and written in place; nothing past the count is written.
    pub keys: Range,
    /// `count.max` values, moved with their keys; left alone by a sorter of keys alone.
    pub values: Range,
    /// [`Sorter::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Address of a `u32` that is set to 0, or to [`crate::STATUS_COUNT_CLAMPED`]; 0: not wanted.
    pub status: vk::DeviceAddress,
    /// Where the passes' times go; [`Sorter::timestamp_count`] queries. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

/// Sorts of one kind on one device. Immutable: record from many threads.
#[derive(Clone, Debug)]
pub struct Sorter {
    device: Device,
    info: SorterInfo,
    strategy: Strategy,
    /// Looked up once: the registry has a lock, and recording takes none.
    pipelines: Arc<[(Variant, vk::Pipeline)]>,
}

const KEYS: RangeNames = RangeNames { address: "keys.address", size: "keys.size" };
const VALUES: RangeNames = RangeNames { address: "values.address", size: "values.size" };

impl Sorter {
    /// Creates every pipeline that the sorts may need.
    ///
    /// # Errors
    /// [`Error::Vulkan`] where a pipeline cannot be created.
    pub fn new(device: &Device, info: &SorterInfo) -> Result<Self> {
        let strategy = match info.strategy {
            Strategy::Auto => device.profile().strategy,
            other => other,
        };
        let mut sorter = Self { device: device.clone(), info: *info, strategy, pipelines: Arc::default() };
        let variants = sorter.kind().variants();
        sorter.pipelines = variants.map(|variant| Ok((variant, device.pipeline(variant)?))).collect::<Result<_>>()?;
        Ok(sorter)
    }

    /// The pipeline of a variant, where the sorter uses it.
    pub(crate) fn pipeline(&self, variant: Variant) -> Option<vk::Pipeline> {
        self.pipelines.iter().find(|(known, _)| *known == variant).map(|(_, pipeline)| *pipeline)
    }

    /// The device it was made on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What it was made as.
    pub fn info(&self) -> &SorterInfo {
        &self.info
    }

    /// The strategy in use, never [`Strategy::Auto`].
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Bytes of scratch that serve every sort of at most `max_count` keys, the alternate arrays included. Never shrinks as
    /// `max_count` grows.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 2^30 keys.
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        check_count(max_count)?;
        let kind = self.kind();
        let size = |count: u32| -> Result<u64> {
            let info = SortInfo { count: Count::device(4, count), status: 4, ..SortInfo::default() };
            let mut layout = Layout::default();
            SortTable::new(kind, kind.class(count), &info, 0, &mut layout)?;
            Ok(layout.size())
        };
        // Shapes change with the size: the largest problem of each earlier shape may need more than this one.
        kind.shape_ends().filter(|end| *end < max_count).try_fold(size(max_count)?, |most, end| Ok(most.max(size(end)?)))
    }

    /// Queries that [`SortInfo::timestamps`] needs for a sort of exactly `max_count`: one before the first pass and one after
    /// each. All are written; those of passes that the sort does without get the time of its end.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above 2^30 keys.
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        check_count(max_count)?;
        Ok(match (self.kind().class(max_count), self.strategy) {
            (Class::Small(_), _) => 2,
            (Class::Tiled(_), Strategy::ReduceThenScan) => 14,
            (Class::Tiled(_), _) => 7,
        })
    }

    /// The passes that a sort would record, as text.
    ///
    /// # Errors
    /// What [`Sorter::cmd_sort`] would refuse about the count.
    pub fn describe(&self, info: &SortInfo) -> Result<String> {
        check_count(info.count.max)?;
        let table = SortTable::new(self.kind(), self.kind().class(info.count.max), info, 0, &mut Layout::default())?;
        Ok(table.plan().to_string())
    }

    /// Appends a sort to `command_buffer`: compute dispatches with the barriers between them.
    ///
    /// First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on keys, values and scratch,
    /// `SHADER_STORAGE_READ` on the count, `SHADER_STORAGE_WRITE` on the status. Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`. The caller owes a barrier
    /// from what wrote the inputs, and one to what reads the outputs; scratch used before needs one like any output.
    /// Disturbed: the compute pipeline and the push constants. Stable and deterministic. With [`Strategy::Lookback`] tiles
    /// wait for earlier ones, within bounds.
    ///
    /// # Errors
    /// Names the argument and the limit it breaks; nothing has been recorded then.
    ///
    /// # Safety
    /// `command_buffer` is recording, outside a render pass, on a queue family with compute, of the sorter's device, and
    /// used by this thread alone. Ranges and scratch stay valid until the commands have executed, in buffers with the usages
    /// that [`Range`] and [`Scratch`] name.
    pub unsafe fn cmd_sort(&self, command_buffer: vk::CommandBuffer, info: &SortInfo) -> Result<()> {
        if command_buffer.is_null() {
            return Err(Error::Null { argument: "commandBuffer" });
        }
        self.check(info)?;
        // SAFETY: the caller promises a valid buffer with that usage.
        let scratch =
            unsafe { scratch_range(&self.device, info.scratch, self.scratch_size(info.count.max)?, Some(info.count.max)) }?;
        check_apart(&self.parts(info), scratch)?;
        let mut layout = Layout::default();
        let table = SortTable::new(self.kind(), self.kind().class(info.count.max), info, scratch.address, &mut layout)?;
        let plans = [table.plan()];
        let pipelines = |variant| self.pipeline(variant).map_or_else(|| self.device.pipeline(variant), Ok);
        let mut recorder = Recorder::new(&self.device, command_buffer, info.scratch, info.timestamps, &plans, pipelines)?;
        let written = record(&plans, &mut recorder);
        // A sort may have a pass less than the largest of its kind; whoever waits for all the queries shall not wait forever.
        for unused in written..self.timestamp_count(info.count.max)? {
            recorder.mark(unused);
        }
        Ok(())
    }

    pub(crate) fn kind(&self) -> SortKind<'_> {
        SortKind {
            facts: self.device.facts(),
            profile: self.device.profile(),
            strategy: self.strategy,
            value_words: self.info.value.words(),
        }
    }

    /// Whether two sorters record the same commands, so that their problems can share them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let moved = |sorter: &Self| (sorter.info.key, sorter.info.value, sorter.strategy);
        self.device.is_same(&other.device) && moved(self) == moved(other)
    }

    /// Everything about one sort that needs no scratch.
    pub(crate) fn check(&self, info: &SortInfo) -> Result<()> {
        check_count(info.count.max)?;
        check_alignment("count.address", info.count.address)?;
        check_alignment("status", info.status)?;
        let bytes = u64::from(info.count.max) * 4;
        info.keys.check(KEYS, bytes, info.count.max.into())?;
        info.values.check(VALUES, bytes * u64::from(self.info.value.words()), info.count.max.into())?;
        let parts = self.parts(info);
        for (index, part) in parts.iter().enumerate() {
            check_apart(&parts[..index], part.1).map_err(|error| match error {
                Error::Overlap { first, .. } => Error::Overlap { first, second: part.0 },
                other => other,
            })?;
        }
        Ok(())
    }

    /// The bytes that a sort touches, by name, scratch aside.
    pub(crate) fn parts(&self, info: &SortInfo) -> [(&'static str, Range); 4] {
        let bytes = u64::from(info.count.max) * 4;
        let word = |address| Range::new(address, if address == 0 { 0 } else { 4 });
        [
            ("keys", Range::new(info.keys.address, bytes)),
            ("values", Range::new(info.values.address, bytes * u64::from(self.info.value.words()))),
            ("count", word(info.count.address)),
            ("status", word(info.status)),
        ]
    }
}

pub(crate) fn check_count(max_count: u32) -> Result<()> {
    if max_count > MAX_COUNT {
        let limit = u64::from(MAX_COUNT);
        return Err(Error::TooLarge { argument: "count.max", value: max_count.into(), limit, why: "the most keys of one sort" });
    }
    Ok(())
}

/// That none of `parts` shares bytes with scratch, or with whatever `other` is.
pub(crate) fn check_apart(parts: &[(&'static str, Range)], other: Range) -> Result<()> {
    match parts.iter().find(|(_, range)| range.overlaps(other)) {
        Some((first, _)) => Err(Error::Overlap { first, second: "scratch" }),
        None => Ok(()),
    }
}

/// Checks a scratch range and tells which bytes of device memory will be used; none where none are needed.
///
/// # Safety
/// The buffer, unless null, is a valid one of the device with usage `SHADER_DEVICE_ADDRESS`.
pub(crate) unsafe fn scratch_range(device: &Device, scratch: Scratch, required: u64, max_count: Option<u32>) -> Result<Range> {
    check_alignment("scratch.offset", scratch.offset)?;
    if scratch.size < required {
        let (argument, value) = ("scratch.size", scratch.size);
        return Err(Error::TooSmall { argument, value, required, max_count: max_count.map(u64::from) });
    }
    if required == 0 {
        return Ok(Range::NONE);
    }
    if scratch.buffer.is_null() {
        return Err(Error::Null { argument: "scratch.buffer" });
    }
    let info = vk::BufferDeviceAddressInfo::default().buffer(scratch.buffer);
    // SAFETY: the caller's promise.
    let base = unsafe { device.handles().vk.get_buffer_device_address(&info) };
    let room = u64::MAX - base;
    if scratch.offset > room || required > room - scratch.offset {
        let why = "the end of the address space";
        return Err(Error::TooLarge {
            argument: "scratch.offset",
            value: scratch.offset,
            limit: room.saturating_sub(required),
            why,
        });
    }
    Ok(Range::new(base + scratch.offset, required))
}
