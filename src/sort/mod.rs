//! Stable radix sort: of integers and floats of 8 to 128 bits, with or without values, in either order, by any of their bits.
//!
//! A [`Sorter`] is made once; [`Sorter::cmd_sort`] appends a sort to a command buffer. Counts may lie on the device. Small
//! problems (up to some thousands of keys) take one dispatch of one workgroup, or, where nothing is recorded with them, one or two of
//! several; larger ones one or a few dispatches for each digit of eight bits, whatever their size. On large problems, digits that all
//! keys share are passed over.

#[doc(hidden)]
pub mod cpu;
mod format;
mod kind;
mod merging;
mod plan;
mod table;

pub(crate) use format::Format;
pub use format::{KeyType, Layout, Order, Placement, SorterInfo, ValueType};
pub(crate) use kind::{Class, SortKind};
#[cfg(test)]
pub(crate) use merging::Merging;
pub(crate) use table::{SortSource, SortTable};

use crate::kernel::Variant;
use crate::memory::{Argument, Arguments, RangeNames, check_alignment, check_multiple};
use crate::record::{Commands as _, Recorder, record};
use crate::scratch::Layout as ScratchLayout;
use crate::shared::{FLAG_EVEN, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_STRIDED};
use crate::{Count, Device, Error, Range, Result, Scratch, Strategy, Timestamps};
use ash::vk;
use ash::vk::Handle as _;
use std::sync::Arc;

/// Where the arrays of a segmented sort are cut. All of it lies on the device and nothing is read back.
///
/// Segment `s` holds the items from `offsets[s]` up to `offsets[s + 1]`. Offsets never fall; segments may be empty. Items before the
/// first offset and from the last one on are in no segment, and left alone. (The row offsets of a CSR matrix, and whatever an exclusive
/// sum of counts leaves.)
///
/// ```no_run
/// # use trommel::{Count, Range, Scratch, Segments, SortInfo, Sorter};
/// # type Commands = ash::vk::CommandBuffer;
/// # unsafe fn record(sorter: &Sorter, commands: Commands, [depths, splats, firsts]: [Range; 3], scratch: Scratch) -> trommel::Result<()> {
/// // Up to a million splats, binned to 80 x 45 tiles of the screen: sorted by depth in each.
/// let segments = Segments { offsets: firsts, count: Count::host(80 * 45) };
/// let info = SortInfo { count: Count::host(1 << 20), keys: depths, values: splats, segments, scratch, ..SortInfo::default() };
/// // SAFETY: the command buffer is recording, and the ranges are valid until it has executed.
/// unsafe { sorter.cmd_sort(commands, &info) }
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// `count.max + 1` words: one more than there are segments.
    pub offsets: Range,
    /// How many segments, at most 2^30.
    pub count: Count,
}

/// Most segments: kernels look for them in steps of a workgroup, which must not go beyond 2^32.
const MAX_SEGMENTS: u32 = 1 << 30;

/// One sort to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortInfo {
    /// How many keys, at most [`SorterInfo::max_count`]. Of segments, how many the arrays hold, as the host knows: offsets beyond are cut
    /// off there and flagged in the status.
    pub count: Count,
    /// `count.max` keys, or, interleaved, keys with their values. Written, unless the input is preserved; nothing past the count is.
    pub keys: Range,
    /// `count.max` values, moved with their keys; indices are not read, only written. Left alone where there are no values.
    pub values: Range,
    /// Where sorted keys go, as long as `keys`: for [`Placement::Preserve`]; the second array for [`Placement::DoubleBuffer`]. Left
    /// alone where keys are dropped and the input preserved.
    pub keys_out: Range,
    /// The same for values.
    pub values_out: Range,
    /// Bytes from one key to the next, for [`Layout::Strided`]; a multiple of the alignment, less than 2^16 words (bytes, where
    /// keys are narrower than a word). 0: keys are dense.
    pub key_stride: u32,
    /// The same for values.
    pub value_stride: u32,
    /// Of a [`SorterInfo::segmented`] sorter, which items are sorted together.
    pub segments: Segments,
    /// [`Sorter::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Address of a `u32` that is set to 0, or to [`crate::STATUS_COUNT_CLAMPED`]; 0: not wanted.
    pub status: vk::DeviceAddress,
    /// Where the passes' times go; [`Sorter::timestamp_count`] queries. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

impl SortInfo {
    /// The count that the device may tell: of keys, or of segments.
    pub(crate) fn counted(&self, format: &Format) -> Count {
        if format.segmented { self.segments.count } else { self.count }
    }

    /// The bytes that a sort touches, by name, scratch aside.
    pub(crate) fn arguments(&self, format: &Format) -> Arguments {
        let count = u64::from(self.count.max);
        // From the first byte of the first item to the last byte of the last.
        let extent = |address, size: u32, stride: u32| {
            let stride = if stride == 0 || !format.has(LAYOUT_STRIDED) { size } else { stride };
            Range::new(address, if count == 0 { 0 } else { (count - 1) * u64::from(stride) + u64::from(size) })
        };
        let word = |address| Range::new(address, if address == 0 { 0 } else { 4 });
        let wanted = |wanted: bool, range: Range| if wanted { range } else { Range::NONE };
        let preserved = format.placement == Placement::Preserve;
        let second = format.placement != Placement::InPlace;
        let values = format.values_separate();
        let indices = format.has(LAYOUT_INDICES) && !format.has(crate::shared::LAYOUT_VALUES_APART);
        let (key_size, value_size) = (format.key_step(), format.value_size);
        let keys_out = second && !(preserved && format.has(LAYOUT_DROP_KEYS));
        let offsets = Range::new(self.segments.offsets.address, (u64::from(self.segments.count.max) + 1) * 4);
        let argument = |name, range, written| Argument { name, range, written };
        Arguments::from([
            argument("keys", extent(self.keys.address, key_size, self.key_stride), !preserved),
            argument(
                "values",
                wanted(values && !(indices && preserved), extent(self.values.address, value_size, self.value_stride)),
                !preserved,
            ),
            argument("keysOut", wanted(keys_out, extent(self.keys_out.address, key_size, 0)), true),
            argument("valuesOut", wanted(values && second, extent(self.values_out.address, value_size, 0)), true),
            argument("count", word(self.counted(format).address), false),
            argument("status", word(self.status), true),
            argument("segments.offsets", wanted(format.segmented, offsets), false),
        ])
    }
}

/// Sorts of one kind on one device. Immutable: record from many threads.
#[derive(Clone, Debug)]
pub struct Sorter {
    device: Device,
    info: SorterInfo,
    format: Format,
    strategy: Strategy,
    /// Looked up once: the registry has a lock, and recording takes none.
    pipelines: Arc<[(Variant, vk::Pipeline)]>,
}

const fn range_names(name: &str) -> RangeNames {
    match name.as_bytes() {
        b"keys" => RangeNames { address: "keys.address", size: "keys.size" },
        b"values" => RangeNames { address: "values.address", size: "values.size" },
        b"segments.offsets" => RangeNames { address: "segments.offsets.address", size: "segments.offsets.size" },
        b"keysOut" => RangeNames { address: "keysOut.address", size: "keysOut.size" },
        _ => RangeNames { address: "valuesOut.address", size: "valuesOut.size" },
    }
}

impl Sorter {
    /// Creates every pipeline that the sorts may need.
    ///
    /// # Errors
    /// Names the member of `info` that cannot be, and why; [`Error::Vulkan`] where a pipeline cannot be created.
    pub fn new(device: &Device, info: &SorterInfo) -> Result<Self> {
        let format = Format::new(info)?;
        let strategy = match info.strategy {
            Strategy::Auto => device.profile().strategy,
            other => other,
        };
        let mut sorter = Self { device: device.clone(), info: *info, format, strategy, pipelines: Arc::default() };
        let mut variants: Vec<Variant> = Vec::new();
        for variant in sorter.kind(true).variants() {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
        sorter.pipelines = device.create_pipelines(&variants)?.into();
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

    /// Which of the two arrays of a [`Placement::DoubleBuffer`] sort holds the result: 0 for `keys` and `values`, 1 for `keys_out` and
    /// `values_out`. Of the others, [`Placement::Preserve`] has its result in the second, [`Placement::InPlace`] in the first.
    pub fn result_side(&self) -> u32 {
        let first = match self.format.placement {
            Placement::InPlace => true,
            Placement::Preserve => false,
            Placement::DoubleBuffer => self.format.rule() == FLAG_EVEN,
        };
        if first { 0 } else { 1 }
    }

    /// Bytes of scratch that serve every sort of at most `max_count` keys, the alternate arrays included. Never shrinks as
    /// `max_count` grows.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        self.check_count(max_count)?;
        let kind = self.kind(true);
        let size = |count: u32| -> Result<u64> {
            let info = self.largest(count);
            let mut layout = ScratchLayout::default();
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
    /// [`Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        self.check_count(max_count)?;
        let info = self.largest(max_count);
        let kind = self.kind(true);
        let table = SortTable::new(kind, kind.class(max_count), &info, 0, &mut ScratchLayout::default())?;
        // Fewer than 2^32: a plan has a fixed most.
        Ok(u32::try_from(table.plan().passes.len() + 1).unwrap_or(u32::MAX))
    }

    /// A sort that needs as much scratch and as many passes as any of that size.
    fn largest(&self, max_count: u32) -> SortInfo {
        let segments = Segments { count: Count::device(4, 0), offsets: Range::NONE };
        SortInfo { count: Count::device(4, max_count), segments, status: 4, ..SortInfo::default() }
    }

    /// The passes that a sort would record, as text.
    ///
    /// # Errors
    /// What [`Sorter::cmd_sort`] would refuse about the count.
    pub fn describe(&self, info: &SortInfo) -> Result<String> {
        self.check_count(info.count.max)?;
        let kind = self.kind(true);
        let table = SortTable::new(kind, kind.class(info.count.max), info, 0, &mut ScratchLayout::default())?;
        Ok(table.plan().to_string())
    }

    /// Appends a sort to `command_buffer`: compute dispatches with the barriers between them.
    ///
    /// First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on every array that the placement writes and on
    /// scratch, `SHADER_STORAGE_READ` on a preserved input and the count, `SHADER_STORAGE_WRITE` on the status. Last access:
    /// `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`. The caller owes a barrier from what wrote the inputs, and one to what reads the
    /// outputs; scratch used before needs one like any output. Disturbed: the compute pipeline and the push constants. Stable and
    /// deterministic. With every strategy but [`Strategy::ReduceThenScan`] tiles wait for earlier ones, within bounds.
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
        check_apart(&self.arguments(info), scratch)?;
        let mut layout = ScratchLayout::default();
        let kind = self.kind(true);
        let table = SortTable::new(kind, kind.class(info.count.max), info, scratch.address, &mut layout)?;
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

    /// What plans depend on, of a sort that is recorded alone or together with others.
    pub(crate) fn kind(&self, alone: bool) -> SortKind<'_> {
        SortKind { facts: self.device.facts(), profile: self.device.profile(), strategy: self.strategy, format: self.format, alone }
    }

    /// Whether two sorters record the same commands, so that their problems can share them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.device.is_same(&other.device) && (self.format, self.strategy) == (other.format, other.strategy)
    }

    /// Everything about one sort that needs no scratch.
    pub(crate) fn check(&self, info: &SortInfo) -> Result<()> {
        self.check_count(info.count.max)?;
        check_alignment("count.address", info.count.address)?;
        check_alignment("status", info.status)?;
        self.check_strides(info)?;
        self.check_segments(info)?;
        let arguments = self.arguments(info);
        let key_alignment = u64::from(self.format.key_size.min(4));
        for ((argument, range), alignment) in
            arguments.iter().zip([info.keys, info.values, info.keys_out, info.values_out]).zip([key_alignment, 4, key_alignment, 4])
        {
            range.check(range_names(argument.name), alignment, argument.range.size, Some(info.count.max.into()))?;
        }
        for (index, argument) in arguments.iter().enumerate() {
            if let Some(other) = arguments[..index].iter().find(|other| argument.conflicts(other)) {
                return Err(Error::Overlap { first: other.name, second: argument.name });
            }
        }
        Ok(())
    }

    fn check_segments(&self, info: &SortInfo) -> Result<()> {
        let Segments { offsets, count } = info.segments;
        if !self.format.segmented {
            if info.segments != Segments::default() {
                return Err(Error::Malformed { argument: "segments", why: "the sorter is not segmented".into() });
            }
            return Ok(());
        }
        if info.count.is_on_device() {
            return Err(Error::Malformed {
                argument: "count.address",
                why: "the last offset tells how many keys there are".into(),
            });
        }
        check_alignment("segments.count.address", count.address)?;
        if count.max > MAX_SEGMENTS {
            let (value, limit) = (count.max.into(), MAX_SEGMENTS.into());
            return Err(Error::TooLarge { argument: "segments.count.max", value, limit, why: "the most segments of one sort" });
        }
        offsets.check(range_names("segments.offsets"), 4, (u64::from(count.max) + 1) * 4, None)
    }

    fn check_strides(&self, info: &SortInfo) -> Result<()> {
        let (narrow, key_size) = (self.format.narrow(), self.format.key_size);
        let units = [if narrow { 1 } else { 4 }, 4];
        let alignments = [key_size.min(4), 4];
        let sizes = [key_size, if self.format.has(LAYOUT_INDICES) { 0 } else { self.format.value_size }];
        let strides = [("keyStride", info.key_stride), ("valueStride", info.value_stride)];
        for (((argument, stride), unit), (alignment, size)) in strides.into_iter().zip(units).zip(alignments.into_iter().zip(sizes))
        {
            if stride == 0 {
                continue;
            }
            if !self.format.has(LAYOUT_STRIDED) {
                return Err(Error::Malformed {
                    argument,
                    why: format!("{stride} is not 0, and the sorter's layout is not strided"),
                });
            }
            check_multiple(argument, stride.into(), alignment.into())?;
            if stride < size {
                let (value, required) = (stride.into(), size.into());
                return Err(Error::TooSmall { argument, value, required, max_count: None });
            }
            if stride / unit > u32::from(u16::MAX) {
                let limit = u64::from(u16::MAX) * u64::from(unit);
                return Err(Error::TooLarge { argument, value: stride.into(), limit, why: "what 16 bits of a kernel's word hold" });
            }
        }
        Ok(())
    }

    pub(crate) fn arguments(&self, info: &SortInfo) -> Arguments {
        info.arguments(&self.format)
    }

    pub(crate) fn check_count(&self, max_count: u32) -> Result<()> {
        if max_count > self.format.max_count {
            let (value, limit) = (max_count.into(), self.format.max_count.into());
            return Err(Error::TooLarge { argument: "count.max", value, limit, why: "the sorter's maxCount" });
        }
        Ok(())
    }
}

/// That none of `arguments` shares bytes with scratch.
pub(crate) fn check_apart(arguments: &Arguments, scratch: Range) -> Result<()> {
    match arguments.iter().find(|argument| argument.range.overlaps(scratch)) {
        Some(argument) => Err(Error::Overlap { first: argument.name, second: "scratch" }),
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
