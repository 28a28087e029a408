//! Problems of one kind on one device, whichever primitive they come from: the pipelines that serve them, and what is recorded.

use super::format::{Format, Given};
use super::job::{Buckets, Job};
use super::kind::SortKind;
use super::table::SortTable;
use super::{Segments, SortInfo};
use crate::kernel::{Pipeline, Variant};
use crate::memory::{Arguments, RangeNames, check_alignment, check_multiple};
use crate::record::{Commands as _, Recorder, record};
use crate::scratch::Layout as ScratchLayout;
use crate::shared::{LAYOUT_INDICES, LAYOUT_STRIDED};
use crate::{Count, Device, Error, Range, Result, Scratch, Strategy, Timestamps};
use ash::vk;
use ash::vk::Handle as _;
use std::sync::Arc;

/// Most segments: the offset of the last one's end is the last within reach of an index.
const MAX_SEGMENTS: u32 = (1 << 30) - 1;

const fn range_names(name: &str) -> RangeNames {
    match name.as_bytes() {
        b"keys" => RangeNames { address: "keys.address", size: "keys.size" },
        b"values" => RangeNames { address: "values.address", size: "values.size" },
        b"offsets" => RangeNames { address: "offsets.address", size: "offsets.size" },
        b"counts" => RangeNames { address: "counts.address", size: "counts.size" },
        b"bucketIds" => RangeNames { address: "bucketIds.address", size: "bucketIds.size" },
        b"starts" => RangeNames { address: "starts.address", size: "starts.size" },
        b"splitters" => RangeNames { address: "splitters.address", size: "splitters.size" },
        b"commands" => RangeNames { address: "commands.address", size: "commands.size" },
        b"segments.offsets" => RangeNames { address: "segments.offsets.address", size: "segments.offsets.size" },
        b"keysOut" => RangeNames { address: "keysOut.address", size: "keysOut.size" },
        _ => RangeNames { address: "valuesOut.address", size: "valuesOut.size" },
    }
}

/// Problems of one kind on one device. Immutable: record from many threads.
#[derive(Clone, Debug)]
pub(crate) struct Passes {
    /// Looked up once: the registry has a lock, and recording takes none. Dropped before the device.
    pipelines: Arc<[(Variant, Arc<Pipeline>)]>,
    device: Device,
    pub(crate) format: Format,
    strategy: Strategy,
    /// In its place where few items are recorded alone: see [`Passes::kind_of`].
    of_few: Option<Strategy>,
}

impl Passes {
    /// Creates every pipeline that the problems may need.
    pub(crate) fn new(device: &Device, format: Format, strategy: Strategy) -> Result<Self> {
        let of_device = device.profile().strategy;
        let (strategy, of_few) = match strategy {
            Strategy::Auto if format.is_counted_first() => {
                (Strategy::ReduceThenScan, Some(of_device).filter(|_| format.goes_once_to_all_buckets()))
            }
            Strategy::Auto => (of_device, None),
            other => (other, None),
        };
        let mut passes = Self { pipelines: Arc::default(), device: device.clone(), format, strategy, of_few };
        let mut variants: Vec<Variant> = Vec::new();
        let of_few = passes.kind_of_few().into_iter().flat_map(|kind| kind.variants_direct());
        for variant in passes.kind(true).variants().chain(of_few) {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
        passes.pipelines = device.create_pipelines(&variants)?.into();
        Ok(passes)
    }

    /// The pipeline of a variant, where the problems use it.
    pub(crate) fn pipeline(&self, variant: Variant) -> Option<vk::Pipeline> {
        self.pipelines.iter().find(|(known, _)| *known == variant).map(|(_, pipeline)| pipeline.handle())
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Never [`Strategy::Auto`].
    pub(crate) fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Bytes of scratch that serve every problem of at most `max_count` items.
    pub(crate) fn scratch_size(&self, max_count: u32) -> Result<u64> {
        self.check_count(max_count)?;
        let size = |count: u32| -> Result<u64> {
            let (kind, job) = (self.kind_of(count), self.largest(count));
            let mut layout = ScratchLayout::default();
            SortTable::new(kind, kind.class(count), &job, 0, &mut layout)?;
            Ok(layout.size())
        };
        // Shapes change with the size: the largest problem of each earlier shape may need more than this one.
        let of_few = self.kind_of_few().into_iter().flat_map(|kind| kind.shape_ends());
        let ends = self.kind(true).shape_ends().chain(of_few).filter(|end| *end < max_count);
        ends.map(size).try_fold(size(max_count)?, |most, size| Ok(most.max(size?)))
    }

    /// Queries that tell the times of a problem of exactly `max_count`.
    pub(crate) fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        self.check_count(max_count)?;
        let job = self.largest(max_count);
        let kind = self.kind_of(max_count);
        let table = SortTable::new(kind, kind.class(max_count), &job, 0, &mut ScratchLayout::default())?;
        // Fewer than 2^32: a plan has a fixed most.
        Ok(u32::try_from(table.plan().passes.len() + 1).unwrap_or(u32::MAX))
    }

    /// A problem that needs as much scratch and as many passes as any of that size.
    fn largest(&self, max_count: u32) -> Job {
        let segments = Segments { count: Count::device(4, 0), offsets: Range::NONE };
        let items = SortInfo { count: Count::device(4, max_count), segments, status: 4, ..SortInfo::default() };
        let buckets = Buckets { offsets: Range::new(4, 4), ..Buckets::default() };
        Job { items, buckets: if self.format.split.is_some() { buckets } else { Buckets::default() } }
    }

    /// The passes that would be recorded, as text.
    pub(crate) fn describe(&self, job: &Job) -> Result<String> {
        self.check_count(job.items.count.max)?;
        let kind = self.kind_of(job.items.count.max);
        let table = SortTable::new(kind, kind.class(job.items.count.max), job, 0, &mut ScratchLayout::default())?;
        Ok(table.plan().to_string())
    }

    /// Appends the passes of a problem.
    ///
    /// # Safety
    /// As [`super::Sorter::cmd_sort`] says.
    pub(crate) unsafe fn record(&self, command_buffer: vk::CommandBuffer, job: &Job) -> Result<()> {
        if command_buffer.is_null() {
            return Err(Error::Null { argument: "commandBuffer" });
        }
        self.check(job)?;
        let SortInfo { count, scratch: given, timestamps, .. } = job.items;
        let queries = self.timestamp_count(count.max)?;
        check_timestamps(timestamps, queries)?;
        // SAFETY: the caller promises a valid buffer with that usage.
        let scratch = unsafe { scratch_range(&self.device, given, self.scratch_size(count.max)?, Some(count.max)) }?;
        check_apart(&job.arguments(&self.format), scratch)?;
        let mut layout = ScratchLayout::default();
        let kind = self.kind_of(count.max);
        let table = SortTable::new(kind, kind.class(count.max), job, scratch.address, &mut layout)?;
        let plans = [table.plan()];
        let pipelines = |variant| self.pipeline(variant).map_or_else(|| self.device.pipeline(variant), Ok);
        let mut recorder = Recorder::new(&self.device, command_buffer, given, timestamps, &plans, pipelines)?;
        let written = record(&plans, &mut recorder);
        // A problem may have a pass less than the largest of its kind; whoever waits for all the queries shall not wait forever.
        for unused in written..queries {
            recorder.mark(unused);
        }
        Ok(())
    }

    /// What plans depend on, of a problem that is recorded alone or together with others.
    pub(crate) fn kind(&self, alone: bool) -> SortKind<'_> {
        SortKind { facts: self.device.facts(), profile: self.device.profile(), strategy: self.strategy, format: self.format, alone }
    }

    /// The same of a problem of so many items at most that is recorded alone. As long as nothing prepares it then, a split that is counted first
    /// takes a pass less by the device's own strategy.
    pub(crate) fn kind_of(&self, max_count: u32) -> SortKind<'_> {
        self.kind_of_few().filter(|kind| kind.is_direct(max_count)).unwrap_or(self.kind(true))
    }

    fn kind_of_few(&self) -> Option<SortKind<'_>> {
        self.of_few.map(|strategy| SortKind { strategy, ..self.kind(true) })
    }

    /// Whether the same commands are recorded for both, so that their problems can share them.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.device.is_same(&other.device) && self.made_as() == other.made_as()
    }

    /// What commands depend on beside the device.
    pub(crate) fn made_as(&self) -> (Format, Strategy) {
        (self.format, self.strategy)
    }

    /// Everything about one problem that needs no scratch.
    pub(crate) fn check(&self, job: &Job) -> Result<()> {
        let info = &job.items;
        self.check_count(info.count.max)?;
        check_alignment("count.address", info.count.address)?;
        check_alignment("status", info.status)?;
        self.check_strides(info)?;
        self.check_segments(info)?;
        let arguments = job.arguments(&self.format);
        let key_alignment = u64::from(self.format.key_size.min(4));
        let given_alignment = match self.format.labels().and_then(|labels| labels.given) {
            Some(Given::Ids(size)) => size.into(),
            _ => 4,
        };
        for argument in &arguments {
            let items = Some(info.count.max.into());
            let (range, alignment, max_count) = match argument.name {
                "keys" => (info.keys, key_alignment, items),
                "values" => (info.values, 4, items),
                "keysOut" => (info.keys_out, key_alignment, items),
                "valuesOut" => (info.values_out, 4, items),
                "bucketIds" => (job.buckets.given, given_alignment, items),
                "splitters" => (job.buckets.given, 4, None),
                "starts" => (job.buckets.starts, 4, None),
                "offsets" => (job.buckets.offsets, 4, None),
                "counts" => (job.buckets.counts, 4, None),
                "commands" => (job.buckets.commands, 4, None),
                // Words, or checked with what they belong to.
                _ => continue,
            };
            range.check(range_names(argument.name), alignment, argument.range.size, max_count)?;
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
                let what = if self.format.split.is_some() { "splitter" } else { "sorter" };
                return Err(Error::Malformed { argument: "segments", why: format!("the {what} is not segmented") });
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
            return Err(Error::TooLarge {
                argument: "segments.count.max",
                value,
                limit,
                why: "the most segments of one sort or split",
            });
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
                return Err(Error::Malformed { argument, why: format!("{stride} is not 0, and the layout is not strided") });
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

    pub(crate) fn check_count(&self, max_count: u32) -> Result<()> {
        if max_count > self.format.max_count {
            let (value, limit) = (max_count.into(), self.format.max_count.into());
            let why = if self.format.split.is_some() { "the splitter's maxCount" } else { "the sorter's maxCount" };
            return Err(Error::TooLarge { argument: "count.max", value, limit, why });
        }
        Ok(())
    }
}

/// Checks that the numbers of all queries fit a `u32`.
fn check_timestamps(timestamps: Option<Timestamps>, queries: u32) -> Result<()> {
    let (first, limit) = (timestamps.map_or(0, |timestamps| timestamps.first), u32::MAX - queries.saturating_sub(1));
    if first > limit {
        let why = "beyond which the last query has no number";
        return Err(Error::TooLarge { argument: "timestamps.first", value: first.into(), limit: limit.into(), why });
    }
    Ok(())
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
