//! Host work of recording one request: arguments are collected once, scratch is laid out once, and pipelines are looked
//! up in the handle alone.

use crate::core::compose::record_composed;
use crate::core::handle::{Handle, One, record_one, scratch_size};
use crate::core::memory::Arguments;
use crate::core::primitive::{GroupOf, JobOf, Jobs, KindOf, Planner, Primitive, RoleOf};
use crate::core::scratch::Layout;
use crate::host::Context;
use crate::radix::Items;
use crate::sort::SortTable;
use crate::{Count, Error, Result, SortInfo, Sorter, SorterInfo, Timestamps};
use ash::vk;
use std::cell::Cell;

/// Calls of a planner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Calls {
    arguments: u32,
    layouts: u32,
}

/// A sorter that counts the calls of its planner.
struct Counted {
    sorter: Sorter,
    calls: Cell<Calls>,
}

impl Counted {
    fn inner(&self) -> &<Sorter as Primitive>::Planner {
        self.sorter.planner()
    }

    fn count(&self, add: impl FnOnce(&mut Calls)) {
        let mut calls = self.calls.get();
        add(&mut calls);
        self.calls.set(calls);
    }
}

impl Primitive for Counted {
    const NAME: &'static str = Sorter::NAME;
    type Info<'i> = SortInfo;
    type Planner = Self;

    fn planner(&self) -> &Self {
        self
    }

    fn check(&self, info: &SortInfo) -> Result<()> {
        self.sorter.check(info)
    }

    fn job<'i>(&self, info: &Self::Info<'i>) -> JobOf<'i, Self> {
        self.sorter.job(info)
    }
}

impl Planner for Counted {
    type Kind = KindOf<Sorter>;
    type Group = GroupOf<Sorter>;
    type Table<'a> = SortTable<'a>;

    fn handle(&self) -> &Handle {
        self.inner().handle()
    }

    fn allows_batches(&self) -> bool {
        self.inner().allows_batches()
    }

    fn check_count(&self, max_count: u32) -> Result<()> {
        self.inner().check_count(max_count)
    }

    fn arguments(&self, job: &Items) -> Arguments<RoleOf<Sorter>> {
        self.count(|calls| calls.arguments += 1);
        self.inner().arguments(job)
    }

    fn check(&self, job: &Items, arguments: &Arguments<RoleOf<Sorter>>) -> Result<()> {
        Planner::check(self.inner(), job, arguments)
    }

    fn group(&self, max_count: u32, alone: bool) -> Self::Group {
        self.inner().group(max_count, alone)
    }

    fn shares(group: &Self::Group) -> bool {
        <Sorter as Primitive>::Planner::shares(group)
    }

    fn lay_out<'a>(
        &'a self,
        group: Self::Group,
        jobs: &'a dyn Jobs<Self::Kind>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<SortTable<'a>> {
        self.count(|calls| calls.layouts += 1);
        self.inner().lay_out(group, jobs, scratch, layout)
    }

    fn largest(&self, max_count: u32) -> Items {
        self.inner().largest(max_count)
    }

    fn range_ends(&self, alone: bool) -> impl Iterator<Item = u32> {
        self.inner().range_ends(alone)
    }
}

/// A context for one test. Pipelines are created when they are first recorded.
fn context() -> Context {
    let context = Context::new().unwrap();
    context.device().make_pipelines_late();
    context
}

/// Records and runs a sort of so many keys. Returns the calls of its planner.
fn record(context: &Context, counted: &Counted, count: u32, timestamps: Option<Timestamps>) -> Calls {
    let keys = context.buffer(u64::from(count) * 4).unwrap();
    let scratch = context.buffer(counted.sorter.scratch_size(count).unwrap()).unwrap();
    let info = SortInfo {
        count: Count::host(count),
        keys: keys.range(),
        scratch: scratch.scratch(),
        timestamps,
        ..SortInfo::default()
    };
    counted.calls.set(Calls::default());
    context
        .run(|commands| {
            // SAFETY: the command buffer is recording, and the buffers outlive the run.
            unsafe { record_one(counted, commands, &info, counted.job(&info)) }
        })
        .unwrap();
    counted.calls.get()
}

#[test]
fn arguments_are_collected_once_and_scratch_is_laid_out_once() {
    let context = context();
    let counted =
        Counted { sorter: Sorter::new(context.device(), &SorterInfo::keys()).unwrap(), calls: Cell::default() };
    for count in [0, 1, 1000, 50_000] {
        assert_eq!(record(&context, &counted, count, None), Calls { arguments: 1, layouts: 1 }, "{count} keys");
    }
    // A query of the scratch size takes one layout. Recording takes no further layout for the size.
    counted.calls.set(Calls::default());
    scratch_size(&counted, 50_000).unwrap();
    assert_eq!(counted.calls.get(), Calls { arguments: 1, layouts: 1 });
}

/// The largest request of the same count determines the number of written queries. Its plan takes another layout.
#[test]
fn timestamps_take_one_more_layout() {
    let context = context();
    let counted =
        Counted { sorter: Sorter::new(context.device(), &SorterInfo::keys()).unwrap(), calls: Cell::default() };
    let queries = counted.sorter.timestamp_count(1000).unwrap();
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(queries);
    // SAFETY: the device is alive; the pool is destroyed after the run, which waits.
    unsafe {
        let pool = context.vk().create_query_pool(&info, None).unwrap();
        context
            .run(|commands| {
                context.vk().cmd_reset_query_pool(commands, pool, 0, queries);
                Ok(())
            })
            .unwrap();
        let calls = record(&context, &counted, 1000, Some(Timestamps { pool, first: 0 }));
        context.vk().destroy_query_pool(pool, None);
        assert_eq!(calls, Calls { arguments: 2, layouts: 2 });
    }
}

#[test]
fn a_pipeline_that_no_handle_has_is_an_error() {
    let context = context();
    let sorter = Sorter::new(context.device(), &SorterInfo::keys()).unwrap();
    let planner = sorter.planner();
    let job = One::new(planner, planner.largest(1000));
    let table = planner.lay_out(planner.group(1000, true), &job, 0, &mut Layout::default()).unwrap();
    let recorded = context.run(|commands| {
        // SAFETY: nothing is recorded.
        unsafe { record_composed(context.device(), &[], commands, crate::Scratch::default(), &table) }
    });
    assert!(matches!(recorded, Err(Error::Internal(why)) if why.starts_with("no pipeline of")));
}
