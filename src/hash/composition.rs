//! Changes of tables, and the operations that are composed of a change and others.

use super::compaction::Compaction;
use super::export::Export;
use super::format::Format;
use super::hasher::HashInfo;
use super::linear::LinearChange;
use super::planner::{Group, HashPlanner};
use super::resize::Decision;
use super::slices::{BucketedChange, Slices};
use super::steps::{Steps, WORD};
use super::{HashOperation, HashScheme};
use crate::core::memory::Range;
use crate::core::plan::Plan;
use crate::core::primitive::PlanSource;
use crate::core::scratch::Layout;
use crate::shared::HashHeader;
use crate::{Count, Result};
use std::mem::offset_of;

/// A change with the source of its keys, and the search that follows if the operation finds as well.
pub(crate) struct Composition<'a> {
    source: Source,
    change: Change<'a>,
    search: Option<Search>,
}

/// A batch of keys that changes a table.
#[allow(clippy::large_enum_variant, reason = "plans are built on the stack")]
pub(crate) enum Change<'a> {
    Bucketed(BucketedChange<'a>),
    Linear(LinearChange<'a>),
}

/// A change by items in the order of their hashes: it needs no sort.
pub(super) enum OrderedChange<'a> {
    Bucketed(Slices<'a>),
    Linear(LinearChange<'a>),
}

/// The source of the keys of a change, in addresses: the steps of its passes follow from those of the change.
enum Source {
    Batch,
    /// The keys of the batch that a stencil selects.
    Stencil(Compaction),
    /// The keys of the table with values in a range.
    Selection {
        cursor: u64,
        values: [u64; 2],
    },
    /// Another table. Then the table is cleared.
    Table {
        cursor: u64,
        address: u64,
        slices: u32,
        first_slices: u32,
    },
    /// The table itself, if it is decided to move: then it is exported, and cleared with the new number of slots.
    Resize {
        decision: Decision,
        cursor: u64,
    },
}

/// The addresses of the results of a search for all keys of a batch.
pub(super) struct Search {
    pub(super) values: u64,
    pub(super) found: u64,
}

impl<'a> Composition<'a> {
    pub(super) fn new(
        planner: &'a HashPlanner,
        info: &mut HashInfo,
        group: Group,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let format = planner.format();
        let words = [format.key_words, format.value_words];
        let finds = format.operation == HashOperation::FindOrInsert;
        let search = finds.then(|| Search::new(format, info));
        let mut requested = info.count.address;
        let source = match format.operation {
            HashOperation::Rehash => {
                let cursor = layout.range(scratch, WORD)?.address;
                requested = entries(info.source);
                in_scratch(info, words, requested, scratch, layout)?;
                let slices = format.slices_of(info.source_capacity);
                let first_slices = format.first_slices(info);
                Source::Table { cursor, address: info.source.address, slices, first_slices }
            }
            HashOperation::Resize => {
                let decision = Decision::new(format, info, scratch, layout)?;
                in_scratch(info, words, decision.key_count(), scratch, layout)?;
                // All keys of the table, if they are too many to move.
                requested = entries(info.table);
                Source::Resize { decision, cursor: layout.range(scratch, WORD)?.address }
            }
            HashOperation::EraseIf => {
                let cursor = layout.range(scratch, WORD)?.address;
                in_scratch(info, [format.key_words, 0], cursor, scratch, layout)?;
                requested = cursor;
                Source::Selection { cursor, values: [info.min_value, info.max_value] }
            }
            _ if format.stencil => Source::Stencil(Compaction::new(planner, info, scratch, layout)?),
            _ => Source::Batch,
        };
        let mut change = Steps::new(planner, format.of_change(), info, scratch);
        change.problem.requested = requested.into();
        let change = Change::new(change, info, group, layout)?;
        Ok(Self { source, change, search })
    }
}

impl Search {
    pub(super) fn new(format: &Format, info: &HashInfo) -> Self {
        let address = |range: Range| if range == Range::NONE { 0 } else { range.address };
        Self { values: if format.value_words == 0 { 0 } else { address(info.values_out) }, found: address(info.found) }
    }

    /// `batch`: the steps of a change of all keys.
    pub(super) fn add_to(&self, batch: &Steps<'_>, plan: &mut Plan<'_>) {
        let mut search = batch.as_operation(HashOperation::Find);
        search.problem.values = self.values.into();
        search.found = self.found;
        search.add_find(plan);
    }
}

/// The address of the number of keys of a table.
fn entries(table: Range) -> u64 {
    table.address.wrapping_add(offset_of!(HashHeader, entries) as u64)
}

/// Lets a change take its items from scratch. `count`: the address of their number.
pub(super) fn in_scratch(
    items: &mut HashInfo,
    [key_words, value_words]: [u32; 2],
    count: u64,
    scratch: u64,
    layout: &mut Layout,
) -> Result<()> {
    let max_count = items.count.max;
    let words = |words: u32| u64::from(max_count) * u64::from(words) * WORD;
    items.keys = layout.range(scratch, words(key_words))?;
    items.values = layout.range(scratch, words(value_words))?;
    items.count = Count::device(count, max_count);
    Ok(())
}

impl<'a> Change<'a> {
    fn new(steps: Steps<'a>, info: &HashInfo, group: Group, layout: &mut Layout) -> Result<Self> {
        Ok(match steps.format().scheme {
            HashScheme::Bucketed => Self::Bucketed(BucketedChange::new(steps, info, group, layout)?),
            HashScheme::Linear => Self::Linear(LinearChange::new(steps, layout)?),
        })
    }

    fn steps(&self) -> &Steps<'a> {
        match self {
            Self::Bucketed(change) => change.steps(),
            Self::Linear(change) => change.steps(),
        }
    }
}

impl<'a> OrderedChange<'a> {
    pub(super) fn new(steps: Steps<'a>, info: &HashInfo, layout: &mut Layout) -> Result<Self> {
        Ok(match steps.format().scheme {
            HashScheme::Bucketed => Self::Bucketed(Slices::ordered(steps, info, layout)?),
            HashScheme::Linear => Self::Linear(LinearChange::new(steps, layout)?),
        })
    }

    pub(super) fn steps(&self) -> &Steps<'a> {
        match self {
            Self::Bucketed(change) => change.steps(),
            Self::Linear(change) => change.steps(),
        }
    }

    /// Another change of as many items in the same parts of scratch. It has no status and no leftover items.
    pub(super) fn with_operation(&self, operation: HashOperation) -> Self {
        let steps = self.steps().as_operation(operation);
        match self {
            Self::Bucketed(change) => Self::Bucketed(change.with_steps(steps)),
            Self::Linear(change) => Self::Linear(change.with_steps(steps)),
        }
    }

    pub(super) fn add_passes(&self, plan: &mut Plan<'_>) {
        match self {
            Self::Bucketed(change) => change.add_passes(plan),
            Self::Linear(change) => change.add_passes(plan),
        }
    }
}

impl PlanSource for Composition<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        let change = self.change.steps();
        match &self.source {
            Source::Batch => {}
            Source::Stencil(compaction) => compaction.add_to(change, plan),
            Source::Selection { cursor, values } => {
                let mut export = change.as_operation(HashOperation::ExportIf);
                if let Change::Linear(change) = &self.change {
                    export.problem.values = change.slots.address.into();
                }
                Export::of(export, *cursor).selecting(*values).add_passes(plan, export.all_slices());
            }
            Source::Table { cursor, address, slices, first_slices } => {
                let mut export = change.as_operation(HashOperation::Export);
                (export.problem.table, export.problem.slices) = ((*address).into(), *slices);
                Export::of(export, *cursor).add_passes(plan, export.all_slices());
                change.cleared(*first_slices).add_clear(plan);
            }
            Source::Resize { decision, cursor } => {
                let export = change.as_operation(HashOperation::Export);
                decision.add_to(change, &Export::of(export, *cursor), plan);
            }
        }
        plan.append_behind(&self.change);
        if let Some(search) = &self.search {
            match &self.source {
                Source::Stencil(compaction) => search.add_to(&compaction.batch(change), plan),
                _ => search.add_to(change, plan),
            }
        }
    }
}

impl PlanSource for Change<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self {
            Self::Bucketed(change) => change.add_to(plan),
            Self::Linear(change) => change.add_to(plan),
        }
    }
}
