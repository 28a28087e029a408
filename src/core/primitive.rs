//! The traits of a primitive. Recording, batches, scratch and pipelines are written against them alone.

use super::handle::Handle;
use super::memory::{Argument, Arguments, BoundingRanges, IndexedRole, Scratch, Timestamps};
use super::plan::Plan;
use super::scratch::Layout;
use crate::Result;

/// A handle of the library: what the caller's structs mean.
pub(crate) trait Primitive {
    /// The handle in messages: one word.
    const NAME: &'static str;
    /// The struct that describes one request.
    type Info<'i>: RequestInfo;
    type Planner: Planner;

    fn planner(&self) -> &Self::Planner;

    /// Checks the counts of a request against the largest count of the handle.
    fn check_count(&self, info: &Self::Info<'_>) -> Result<()> {
        self.planner().check_count(info.max_count())
    }

    /// The maximum count that decides the group of a request: its passes, and with which requests it shares dispatches.
    fn group_count(&self, info: &Self::Info<'_>) -> u32 {
        info.max_count()
    }

    /// Checks the members of `info` that the planner does not know.
    fn check(&self, info: &Self::Info<'_>) -> Result<()>;

    fn job<'i>(&self, info: &Self::Info<'i>) -> JobOf<'i, Self>;

    /// Calls `visit` with the job. A primitive of which the info is the job copies nothing.
    fn with_job<T>(&self, info: &Self::Info<'_>, visit: impl FnOnce(&JobOf<'_, Self>) -> T) -> T {
        visit(&self.job(info))
    }
}

/// The job that a primitive's planner takes.
pub(crate) type JobOf<'j, P> = Job<'j, <P as Primitive>::Planner>;

/// The jobs of a primitive.
pub(crate) type KindOf<P> = <<P as Primitive>::Planner as Planner>::Kind;

/// The roles of a primitive's arguments.
pub(crate) type RoleOf<P> = Roles<<P as Primitive>::Planner>;

/// The groups of a primitive's planner.
pub(crate) type GroupOf<P> = <<P as Primitive>::Planner as Planner>::Group;

/// Members that all requests have.
pub(crate) trait RequestInfo: Copy {
    /// The largest number of items. [`Primitive::check_count`] refuses counts whose sum does not fit.
    fn max_count(&self) -> u32;
    fn scratch(&self) -> Scratch;
    fn queries(&self) -> Option<Timestamps>;
}

/// A type of jobs, and the roles of their memory.
pub(crate) trait JobKind: 'static {
    /// One request. It may borrow from the caller's memory.
    type Job<'j>: Copy;
    type Role: IndexedRole;
}

/// Jobs that borrow nothing.
impl<J: Copy + 'static, R: IndexedRole> JobKind for (J, R) {
    type Job<'j> = J;
    type Role = R;
}

/// A job of a planner.
pub(crate) type Job<'j, P> = <<P as Planner>::Kind as JobKind>::Job<'j>;

/// The roles of the memory of a planner's jobs.
pub(crate) type Roles<P> = <<P as Planner>::Kind as JobKind>::Role;

/// Turns requests into plans. All of it is arithmetic on the host.
pub(crate) trait Planner {
    /// Its jobs.
    type Kind: JobKind;
    /// Requests of equal groups can share their dispatches.
    type Group: Copy + Ord;
    type Table<'a>: PlanSource
    where
        Self: 'a;

    fn handle(&self) -> &Handle;

    /// Whether requests may be recorded together with others.
    fn allows_batches(&self) -> bool;

    /// Checks a maximum count against the one that the handle was created with.
    fn check_count(&self, max_count: u32) -> Result<()>;

    /// The memory that a job names, without scratch and without that of [`Planner::for_each_more`].
    fn arguments(&self, job: &Job<'_, Self>) -> Arguments<Roles<Self>>;

    /// Calls `visit` with the memory that a job only reads and that [`Planner::arguments`] has no room for.
    fn for_each_more(&self, _job: &Job<'_, Self>, _visit: &mut dyn FnMut(Argument<Roles<Self>>)) {}

    /// Checks everything about a job but its count, its scratch and that its arguments do not overlap.
    fn check(&self, job: &Job<'_, Self>, arguments: &Arguments<Roles<Self>>) -> Result<()>;

    /// The group of requests with this maximum count. `alone`: nothing else is recorded with the request.
    fn group(&self, max_count: u32, alone: bool) -> Self::Group;

    /// Whether several requests of the group can share dispatches.
    fn shares(group: &Self::Group) -> bool;

    /// Lays out the jobs of a group in scratch, which begins at the address `scratch`.
    fn lay_out<'a>(
        &'a self,
        group: Self::Group,
        jobs: &'a dyn Jobs<Self::Kind>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self::Table<'a>>;

    /// A job with as many passes and as much scratch as any with this maximum count.
    fn largest(&self, max_count: u32) -> Job<'static, Self>;

    /// Maximum counts at which the group of a request that is recorded alone, or with others, changes: the last of each
    /// range.
    fn range_ends(&self, alone: bool) -> impl Iterator<Item = u32>;
}

/// The jobs of one group.
pub(crate) trait Jobs<K: JobKind> {
    /// Calls `visit` for each job, in the same order each time.
    fn for_each(&self, visit: &mut dyn FnMut(&K::Job<'_>));

    /// The smallest ranges around the arguments of all jobs.
    fn bounding_ranges(&self) -> BoundingRanges<K::Role>;
}

/// Jobs with their offsets in scratch.
pub(crate) trait PlanSource {
    /// Adds its resources, tables and passes to `plan`.
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>);
}
