//! The state of a sorter or splitter: format, strategy, and the pipelines of all plans that it can record.

use super::config::{Algorithm, Config};
use super::format::{BucketSource, Format};
use super::items::{Items, Segments};
use super::job::{Buckets, Job, Role};
use super::pipelines::variants;
use super::problems::ProblemTable;
use crate::core::handle::{Handle, Options};
use crate::core::memory::{Arguments, Role as _, check_alignment, check_multiple};
use crate::core::primitive::{Jobs, Planner};
use crate::core::scratch::Layout;
use crate::shared::{LAYOUT_INDICES, LAYOUT_STRIDED};
use crate::{Count, Device, Error, Range, Result, Strategy};

/// Maximum number of segments: kernels index the offsets by bytes in a `uint`.
const MAX_SEGMENTS: u32 = (1 << 30) - 1;

/// Sorts or splits of one format on one device. Immutable: record from many threads.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    handle: Handle,
    pub(crate) format: Format,
    strategy: Strategy,
    batches: bool,
    /// The strategy of requests that are recorded alone and have no prepare pass, if it differs: see
    /// [`Operation::config_of`].
    of_few: Option<Strategy>,
}

/// The key of a group: requests with equal keys share dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    format: Format,
    strategy: Strategy,
    alone: bool,
    algorithm: Algorithm,
}

impl Operation {
    /// Creates every pipeline that the requests may need, or names them for [`Handle::compile`].
    pub(crate) fn new(device: &Device, format: Format, strategy: Strategy, options: Options) -> Result<Self> {
        let Options { batches, deferred } = options;
        let of_device = device.profile().strategy;
        let (strategy, of_few) = match strategy {
            Strategy::Auto if format.is_counted_first() => {
                (Strategy::ReduceThenScan, Some(of_device).filter(|_| format.goes_once_to_all_buckets()))
            }
            Strategy::Auto => (of_device, None),
            other => (other, None),
        };
        let mut operation = Self { handle: Handle::new(device), format, strategy, batches, of_few };
        operation.handle = Handle::complete(&operation, variants(operation.config(true), of_few, batches)?, deferred)?;
        Ok(operation)
    }

    /// Never [`Strategy::Auto`].
    pub(crate) fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// The configuration of a request that is recorded alone or together with others.
    fn config(&self, alone: bool) -> Config<'_> {
        let device = self.handle.device();
        Config { facts: device.facts(), profile: device.profile(), strategy: self.strategy, format: self.format, alone }
    }

    /// The configuration of a request that is recorded alone, by its maximum count. A split without a prepare pass
    /// takes one pass less by the device's own strategy than by reduce-then-scan.
    fn config_of(&self, max_count: u32) -> Config<'_> {
        self.config(true).with_few(self.of_few, max_count)
    }

    fn check_segments(&self, items: &Items) -> Result<()> {
        let Segments { offsets, count } = items.segments;
        if !self.format.segmented {
            if items.segments != Segments::default() {
                let what = if self.format.split.is_some() { "splitter" } else { "sorter" };
                return Err(Error::Malformed { argument: "segments", why: format!("the {what} is not segmented") });
            }
            return Ok(());
        }
        if items.count.is_on_device() {
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
        offsets.check(*Role::SegmentOffsets.names(), 4, (u64::from(count.max) + 1) * 4, None)
    }

    fn check_strides(&self, items: &Items) -> Result<()> {
        let (narrow, key_size) = (self.format.narrow(), self.format.key_size);
        let units = [if narrow { 1 } else { 4 }, 4];
        let alignments = [key_size.min(4), 4];
        let sizes = [key_size, if self.format.has(LAYOUT_INDICES) { 0 } else { self.format.value_size }];
        let strides = [("keyStride", items.key_stride), ("valueStride", items.value_stride)];
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
}

impl Planner for Operation {
    type Job = Job;
    type Role = Role;
    type Group = Group;
    type Table<'a> = ProblemTable<'a>;

    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn allows_batches(&self) -> bool {
        self.batches
    }

    fn check_count(&self, max_count: u32) -> Result<()> {
        if max_count > self.format.max_count {
            let (value, limit) = (max_count.into(), self.format.max_count.into());
            let why = if self.format.split.is_some() { "the splitter's maxCount" } else { "the sorter's maxCount" };
            return Err(Error::TooLarge { argument: "count.max", value, limit, why });
        }
        Ok(())
    }

    fn arguments(&self, job: &Job) -> Arguments<Role> {
        job.arguments(&self.format)
    }

    fn check(&self, job: &Job, arguments: &Arguments<Role>) -> Result<()> {
        let Job { items, buckets } = job;
        check_alignment("count.address", items.count.address)?;
        check_alignment("status", items.status)?;
        self.check_strides(items)?;
        self.check_segments(items)?;
        let key_alignment = u64::from(self.format.key_size.min(4));
        let id_alignment = match self.format.labels().and_then(|labels| labels.given) {
            Some(BucketSource::Ids(size)) => size.into(),
            _ => 4,
        };
        let max_count = Some(u64::from(items.count.max));
        for argument in arguments {
            let (range, alignment, max_count) = match argument.role {
                Role::Keys => (items.keys, key_alignment, max_count),
                Role::Values => (items.values, 4, max_count),
                Role::KeysOut => (items.keys_out, key_alignment, max_count),
                Role::ValuesOut => (items.values_out, 4, max_count),
                Role::BucketIds => (buckets.given, id_alignment, max_count),
                Role::Splitters => (buckets.given, 4, None),
                Role::Starts => (buckets.starts, 4, None),
                Role::Offsets => (buckets.offsets, 4, None),
                Role::Counts => (buckets.counts, 4, None),
                Role::Commands => (buckets.commands, 4, None),
                // Single words were checked above, offsets by check_segments().
                Role::Count | Role::Status | Role::SegmentOffsets => continue,
            };
            range.check(*argument.role.names(), alignment, argument.range.size, max_count)?;
        }
        Ok(())
    }

    fn group(&self, max_count: u32, alone: bool) -> Group {
        let config = if alone { self.config_of(max_count) } else { self.config(false) };
        Group { format: config.format, strategy: config.strategy, alone, algorithm: config.algorithm(max_count) }
    }

    fn shares(group: &Group) -> bool {
        group.algorithm.shares()
    }

    fn lay_out<'a>(
        &'a self,
        group: Group,
        jobs: &'a dyn Jobs<Job, Role>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<ProblemTable<'a>> {
        let config = Config { strategy: group.strategy, ..self.config(group.alone) };
        ProblemTable::new(config, group.algorithm, jobs, scratch, layout)
    }

    fn largest(&self, max_count: u32) -> Job {
        Job::largest(&self.format, max_count)
    }

    fn range_ends(&self, alone: bool) -> impl Iterator<Item = u32> {
        let config = self.config(alone);
        let of_few = self.of_few.filter(|_| alone).map(|strategy| Config { strategy, ..config });
        config.range_ends().chain(of_few.into_iter().flat_map(|config| config.range_ends()))
    }
}

impl Job {
    /// A job with the most passes and scratch of all jobs with this format and maximum count.
    pub(super) fn largest(format: &Format, max_count: u32) -> Self {
        let segments = Segments { count: Count::device(4, 0), offsets: Range::NONE };
        let items = Items { count: Count::device(4, max_count), segments, status: 4, ..Items::default() };
        let buckets = Buckets { offsets: Range::new(4, 4), ..Buckets::default() };
        Self { items, buckets: if format.split.is_some() { buckets } else { Buckets::default() } }
    }
}
