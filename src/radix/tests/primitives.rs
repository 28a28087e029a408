//! A common interface of sorts and splits, so that tests run on both.

use crate::core::memory::{Argument, Arguments, BoundingRanges};
use crate::core::pipelines::Variant;
use crate::core::plan::{Plan, Rows, Table};
use crate::core::primitive::{Jobs, PlanSource};
use crate::core::scratch::Layout;
use crate::merge::Merging;
use crate::radix::{self, Config, Format, ItemRole, Items, Method, variants};
use crate::sort::{self, SortTable, Sorting};
use crate::split::{self, SplitBy, SplitTable};
pub(super) use crate::split::{Buckets, Job, Role};
use crate::tuning::TileShape;
use crate::{Result, Strategy};

/// The primitive of some requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primitive {
    Sort,
    Split(SplitBy),
}

/// The algorithm of some requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Sort(sort::Algorithm),
    Split(split::Algorithm),
}

impl Algorithm {
    pub(super) fn merging(self) -> Option<Merging> {
        if let Self::Sort(sort::Algorithm::Merged(merging)) = self { Some(merging) } else { None }
    }

    pub(super) fn goes_by_prefixes(self) -> bool {
        matches!(self, Self::Sort(sort::Algorithm::Tiled(.., sort::Finish::Prefixes(_))))
    }

    /// The tiles of radix passes, if there are any.
    pub(super) fn tile(self) -> Option<TileShape> {
        match self {
            Self::Sort(sort::Algorithm::Tiled(tile, ..)) | Self::Split(split::Algorithm::Tiled(tile, _)) => Some(tile),
            Self::Sort(sort::Algorithm::Segments { tiles, .. })
            | Self::Split(split::Algorithm::Segments { tiles, .. }) => tiles,
            _ => None,
        }
    }

    pub(super) fn is_tiled(self) -> bool {
        matches!(self, Self::Sort(sort::Algorithm::Tiled(..)) | Self::Split(split::Algorithm::Tiled(..)))
    }

    pub(super) fn is_single_dispatch(self) -> bool {
        matches!(self, Self::Split(split::Algorithm::SingleDispatch(_)))
    }
}

/// Selections of the primitive of a configuration. Only the formats of splits name a number of bins.
pub(super) trait Selection {
    fn algorithm(&self, max_count: u32) -> Algorithm;
    fn range_ends(&self) -> Vec<u32>;
}

impl Selection for Config<'_> {
    fn algorithm(&self, max_count: u32) -> Algorithm {
        match self.format.binning.bins {
            None => Algorithm::Sort(radix::Algorithm::of(self, max_count)),
            Some(_) => Algorithm::Split(radix::Algorithm::of(self, max_count)),
        }
    }

    fn range_ends(&self) -> Vec<u32> {
        match self.format.binning.bins {
            None => <sort::Algorithm as radix::Algorithm>::range_ends(*self).collect(),
            Some(_) => <split::Algorithm as radix::Algorithm>::range_ends(*self).collect(),
        }
    }
}

/// Requests of either primitive. Sorts use only their items.
pub(super) trait Requests: Jobs<(Job, Role)> + Jobs<(Items, ItemRole)> {
    fn primitive(&self) -> Primitive;
}

impl Primitive {
    /// The arguments of a job, without scratch.
    pub(super) fn arguments(self, format: &Format, job: &Job) -> Arguments<Role> {
        let of_items =
            |Argument { role, range, access }: Argument<ItemRole>| Argument { role: role.into(), range, access };
        match self {
            Self::Sort => job.items.arguments(format).into_iter().map(of_items).collect(),
            Self::Split(by) => by.arguments(format, job),
        }
    }

    pub(super) fn bounding_ranges(self, jobs: impl Iterator<Item = Job>, format: &Format) -> BoundingRanges<Role> {
        jobs.fold(BoundingRanges::default(), |mut bounds, job| {
            bounds.grow(&self.arguments(format, &job));
            bounds
        })
    }

    pub(super) fn variants(self, config: Config<'_>, of_few: Option<Strategy>, batches: bool) -> Result<Vec<Variant>> {
        match self {
            Self::Sort => variants(&Sorting, config, of_few, batches),
            Self::Split(by) => variants(&by, config, of_few, batches),
        }
    }
}

pub(super) fn bounding_ranges_of_items(jobs: impl Iterator<Item = Job>, format: &Format) -> BoundingRanges<ItemRole> {
    jobs.fold(BoundingRanges::default(), |mut bounds, job| {
        bounds.grow(&job.items.arguments(format));
        bounds
    })
}

/// Requests laid out in scratch.
pub(super) enum AnyTable<'a> {
    Sort(SortTable<'a>),
    Split(SplitTable<'a>),
}

impl<'a> AnyTable<'a> {
    pub(super) fn new(
        config: Config<'a>,
        algorithm: Algorithm,
        requests: &'a impl Requests,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        Ok(match (requests.primitive(), algorithm) {
            (Primitive::Sort, Algorithm::Sort(algorithm)) => {
                Self::Sort(Sorting.lay_out(config, algorithm, requests, scratch, layout)?)
            }
            (Primitive::Split(by), Algorithm::Split(algorithm)) => {
                Self::Split(by.lay_out(config, algorithm, requests, scratch, layout)?)
            }
            (primitive, algorithm) => panic!("{algorithm:?} is none of {primitive:?}"),
        })
    }
}

impl Table for AnyTable<'_> {
    fn for_each_row(&self, rows: Rows, row: &mut dyn FnMut(&[u8])) {
        match self {
            Self::Sort(table) => table.for_each_row(rows, row),
            Self::Split(table) => table.for_each_row(rows, row),
        }
    }
}

impl PlanSource for AnyTable<'_> {
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        match self {
            Self::Sort(table) => table.add_to(plan),
            Self::Split(table) => table.add_to(plan),
        }
    }
}
