//! The state of a sorter or splitter: format, strategy, and the pipelines of all plans that it can record.

use super::config::Config;
use super::format::Format;
use super::items::{ItemRole, Items, Segments};
use super::outline::Outline;
use super::pipelines::variants;
use crate::core::handle::{Handle, Options};
use crate::core::memory::{Arguments, IndexedRole, Role as _, check_alignment, check_multiple};
use crate::core::primitive::{Jobs, PlanSource, Planner};
use crate::core::scratch::Layout;
use crate::shared::{LAYOUT_INDICES, LAYOUT_STRIDED};
use crate::{Count, Device, Error, Range, Result, Strategy};
use std::fmt::Debug;

/// Maximum number of segments: kernels index the offsets by bytes in a `uint`.
const MAX_SEGMENTS: u32 = (1 << 30) - 1;

/// Checks the number of segments of a request.
pub(crate) fn check_segment_count(count: Count) -> Result<()> {
    let (value, limit) = (count.max.into(), MAX_SEGMENTS.into());
    let why = "the most segments of one request";
    if value > limit { Err(Error::TooLarge { argument: "segments.count.max", value, limit, why }) } else { Ok(()) }
}

/// The algorithms of a primitive: each serves a range of maximum counts.
pub(crate) trait Algorithm: Copy + Debug + Ord {
    /// Selects the algorithm for a maximum count.
    fn of(config: &Config<'_>, max_count: u32) -> Self;

    fn outline(self, config: &Config<'_>) -> Outline;

    /// Whether several problems may share its dispatches.
    fn shares(self) -> bool;

    /// Maximum counts at which shape or algorithm change: the largest count of each. Scratch may be smaller beyond one.
    fn range_ends<'a>(config: Config<'a>) -> impl Iterator<Item = u32> + use<'a, Self>;
}

/// An argument as the caller has given it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) range: Range,
    pub(crate) alignment: u64,
    /// Whether its size depends on the count of items.
    pub(crate) is_per_item: bool,
}

/// What makes a primitive of radix passes: its algorithms and its plans.
pub(crate) trait Method: Copy + Debug + Ord {
    /// The handle in messages, and its maximum count.
    const HANDLE: [&'static str; 2];
    /// One problem: its items, and what else the primitive needs.
    type Job: Copy + 'static;
    type Role: IndexedRole + From<ItemRole>;
    type Algorithm: Algorithm;
    type Table<'a>: PlanSource;

    fn items(job: &Self::Job) -> &Items;

    /// The strategy of [`Strategy::Auto`], from that of the device; and the strategy of requests that are recorded
    /// alone and have no prepare pass, if it differs.
    fn strategies(&self, format: &Format, of_device: Strategy) -> (Strategy, Option<Strategy>);

    /// The ranges that a job reads or writes, by role, without scratch.
    fn arguments(&self, format: &Format, job: &Self::Job) -> Arguments<Self::Role>;

    /// The caller's range of a role. None for single words and the offsets of segments.
    fn given(&self, format: &Format, job: &Self::Job, role: Self::Role) -> Option<Given>;

    /// A job with these items that has the most passes and scratch.
    fn largest(&self, items: Items) -> Self::Job;

    fn lay_out<'a>(
        &self,
        config: Config<'a>,
        algorithm: Self::Algorithm,
        jobs: &'a dyn Jobs<(Self::Job, Self::Role)>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self::Table<'a>>;
}

/// The configuration with the strategy `of_few`, if there is one and the problem then has no prepare pass.
pub(super) fn with_few<'a, A: Algorithm>(config: Config<'a>, of_few: Option<Strategy>, max_count: u32) -> Config<'a> {
    let few = of_few.map(|strategy| Config { strategy, ..config });
    few.filter(|few| A::of(few, max_count).outline(few).is_direct()).unwrap_or(config)
}

/// Sorts or splits of one format on one device. Immutable: record from many threads.
#[derive(Clone, Debug)]
pub(crate) struct Operation<M> {
    handle: Handle,
    pub(crate) format: Format,
    method: M,
    strategy: Strategy,
    batches: bool,
    /// See [`Method::strategies`].
    of_few: Option<Strategy>,
}

/// The key of a group: requests with equal keys share dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group<M, A> {
    format: Format,
    method: M,
    strategy: Strategy,
    alone: bool,
    algorithm: A,
}

impl<M: Method> Operation<M> {
    /// Creates every pipeline that the requests may need, or names them for [`Handle::compile`].
    pub(crate) fn new(
        device: &Device,
        format: Format,
        method: M,
        strategy: Strategy,
        options: Options,
    ) -> Result<Self> {
        let Options { batches, deferred } = options;
        let (strategy, of_few) = match strategy {
            Strategy::Auto => method.strategies(&format, device.profile().strategy),
            other => (other, None),
        };
        let mut operation = Self { handle: Handle::new(device), format, method, strategy, batches, of_few };
        let variants = variants(&method, operation.config(true), of_few, batches)?;
        operation.handle = Handle::complete(&operation, variants, deferred)?;
        Ok(operation)
    }

    /// Creates an operation without pipelines: a part of another primitive's requests. Their plans name the variants.
    #[cfg_attr(not(feature = "default"), allow(dead_code, reason = "primitives that are made of others call it"))]
    pub(crate) fn part(device: &Device, format: Format, method: M) -> Self {
        let (strategy, of_few) = method.strategies(&format, device.profile().strategy);
        Self { handle: Handle::new(device), format, method, strategy, batches: true, of_few }
    }

    /// The configuration and the algorithm of a group.
    #[cfg_attr(not(feature = "default"), allow(dead_code, reason = "primitives that are made of others call it"))]
    pub(crate) fn configured(&self, group: Group<M, M::Algorithm>) -> (Config<'_>, M::Algorithm) {
        (Config { strategy: group.strategy, ..self.config(group.alone) }, group.algorithm)
    }

    /// Maximum counts at which plans change: the last of each range.
    #[cfg_attr(not(feature = "default"), allow(dead_code, reason = "primitives that are made of others call it"))]
    pub(crate) fn plan_ends(&self, alone: bool) -> impl Iterator<Item = u32> {
        self.range_ends(alone).chain([self.handle.device().profile().radix.all_digits_up_to])
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

    fn check_segments(&self, items: &Items) -> Result<()> {
        let Segments { offsets, count } = items.segments;
        if !self.format.segmented {
            if items.segments != Segments::default() {
                let [handle, _] = M::HANDLE;
                return Err(Error::Malformed { argument: "segments", why: format!("the {handle} is not segmented") });
            }
            return Ok(());
        }
        if items.count.is_on_device() {
            return Err(Error::Malformed {
                argument: "count.address",
                why: "the last offset is the number of keys".into(),
            });
        }
        check_alignment("segments.count.address", count.address)?;
        check_segment_count(count)?;
        offsets.check(*ItemRole::SegmentOffsets.names(), 4, (u64::from(count.max) + 1) * 4, None)
    }

    fn check_strides(&self, items: &Items) -> Result<()> {
        let (narrow, key_size) = (self.format.narrow(), self.format.key_size);
        let units = [if narrow { 1 } else { 4 }, 4];
        let alignments = [key_size.min(4), 4];
        let sizes = [key_size, if self.format.has(LAYOUT_INDICES) { 0 } else { self.format.value_size }];
        let strides = [("keyStride", items.key_stride), ("valueStride", items.value_stride)];
        for (((argument, stride), unit), (alignment, size)) in
            strides.into_iter().zip(units).zip(alignments.into_iter().zip(sizes))
        {
            if stride == 0 {
                continue;
            }
            if !self.format.has(LAYOUT_STRIDED) {
                return Err(Error::Malformed {
                    argument,
                    why: format!("{stride} is not 0, and the layout is not strided"),
                });
            }
            check_multiple(argument, stride.into(), alignment.into())?;
            if stride < size {
                let (value, required) = (stride.into(), size.into());
                return Err(Error::TooSmall { argument, value, required, max_count: None });
            }
            if stride / unit > u32::from(u16::MAX) {
                let limit = u64::from(u16::MAX) * u64::from(unit);
                return Err(Error::TooLarge {
                    argument,
                    value: stride.into(),
                    limit,
                    why: "what 16 bits of a kernel's word hold",
                });
            }
        }
        Ok(())
    }
}

impl<M: Method> Planner for Operation<M> {
    type Kind = (M::Job, M::Role);
    type Group = Group<M, M::Algorithm>;
    type Table<'a>
        = M::Table<'a>
    where
        M: 'a;

    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn allows_batches(&self) -> bool {
        self.batches
    }

    fn check_count(&self, max_count: u32) -> Result<()> {
        if max_count > self.format.max_count {
            let (value, limit) = (max_count.into(), self.format.max_count.into());
            let [_, why] = M::HANDLE;
            return Err(Error::TooLarge { argument: "count.max", value, limit, why });
        }
        Ok(())
    }

    fn arguments(&self, job: &M::Job) -> Arguments<M::Role> {
        self.method.arguments(&self.format, job)
    }

    fn check(&self, job: &M::Job, arguments: &Arguments<M::Role>) -> Result<()> {
        let items = M::items(job);
        check_alignment("count.address", items.count.address)?;
        check_alignment("status", items.status)?;
        self.check_strides(items)?;
        self.check_segments(items)?;
        for argument in arguments {
            if let Some(Given { range, alignment, is_per_item }) = self.method.given(&self.format, job, argument.role) {
                let max_count = is_per_item.then(|| items.count.max.into());
                range.check(*argument.role.names(), alignment, argument.range.size, max_count)?;
            }
        }
        Ok(())
    }

    fn group(&self, max_count: u32, alone: bool) -> Self::Group {
        let config = self.config(alone);
        let config = if alone { with_few::<M::Algorithm>(config, self.of_few, max_count) } else { config };
        let algorithm = M::Algorithm::of(&config, max_count);
        Group { format: config.format, method: self.method, strategy: config.strategy, alone, algorithm }
    }

    fn shares(group: &Self::Group) -> bool {
        group.algorithm.shares()
    }

    fn lay_out<'a>(
        &'a self,
        group: Self::Group,
        jobs: &'a dyn Jobs<(M::Job, M::Role)>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<M::Table<'a>> {
        let (config, algorithm) = self.configured(group);
        self.method.lay_out(config, algorithm, jobs, scratch, layout)
    }

    fn largest(&self, max_count: u32) -> M::Job {
        self.method.largest(Items::largest(max_count))
    }

    fn range_ends(&self, alone: bool) -> impl Iterator<Item = u32> {
        let config = self.config(alone);
        let of_few = self.of_few.filter(|_| alone).map(|strategy| Config { strategy, ..config });
        let of_few = of_few.into_iter().flat_map(M::Algorithm::range_ends);
        M::Algorithm::range_ends(config).chain(of_few)
    }
}

impl Items {
    /// Items with the most passes and scratch of all with this maximum count.
    pub(super) fn largest(max_count: u32) -> Self {
        let segments = Segments { count: Count::device(4, 0), offsets: Range::NONE };
        Self { count: Count::device(4, max_count), segments, status: 4, ..Self::default() }
    }
}
