//! The plan of an operation on a table.

use super::HashOperation;
use super::composition::Composition;
use super::export::Export;
use super::format::Format;
use super::hasher::HashInfo;
use super::mixed::Mixed;
use super::planner::{Group, HashPlanner};
use super::steps::{Steps, WORD};
use super::values::ValuesOfKeys;
use crate::core::plan::Plan;
use crate::core::primitive::{PlanSource, Planner as _};
use crate::core::scratch::Layout;
use crate::radix::MOST_GROUPS_Y;
use crate::shared::SLICE_SLOTS;
use crate::tuning::Profile;
use crate::{Error, Result};

/// An operation on a table, laid out in scratch.
// No table lies on the heap.
#[allow(clippy::large_enum_variant, reason = "plans are built on the stack")]
pub(crate) enum HashTable<'a> {
    /// A search, statistics, or clearing: no batch changes the table.
    Constant(Steps<'a>),
    Export(Export<'a>),
    Change(Composition<'a>),
    Mixed(Mixed<'a>),
    Values(ValuesOfKeys<'a>),
}

impl<'a> HashTable<'a> {
    /// Lays out an operation in parts of scratch that `layout` allocates. A change replaces the arguments that name its
    /// keys, if these come from elsewhere.
    pub(crate) fn new(
        planner: &'a HashPlanner,
        info: &mut HashInfo,
        group: Group,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let format = planner.format();
        check_groups(planner.handle().device().profile(), format, info)?;
        let steps = |info: &HashInfo| Steps::new(planner, *format, info, scratch);
        Ok(match format.operation {
            HashOperation::Count | HashOperation::Retrieve => {
                Self::Values(ValuesOfKeys::new(steps(info), info, layout)?)
            }
            HashOperation::Clear => Self::Constant(steps(info).cleared(format.first_slices(info))),
            HashOperation::Mixed => Self::Mixed(Mixed::new(planner, info, group, scratch, layout)?),
            operation if operation.exports() => Self::Export(Export::new(steps(info), info, layout)?),
            operation if operation.changes() => Self::Change(Composition::new(planner, info, group, scratch, layout)?),
            _ => Self::Constant(steps(info)),
        })
    }
}

/// Checks that the largest dispatch has no more workgroups than a device takes.
fn check_groups(profile: &Profile, format: &Format, info: &HashInfo) -> Result<()> {
    let most = (u64::from(profile.max_groups_x) * MOST_GROUPS_Y).min(u64::from(u32::MAX) - MOST_GROUPS_Y);
    // Clearing has the most: a thread for each 16 bytes or more.
    let least_threads = u64::from(profile.plain_threads.min(SLICE_SLOTS));
    let source_capacity = if format.operation == HashOperation::Rehash { info.source_capacity } else { 0 };
    for (argument, capacity) in [("capacity", info.capacity), ("sourceCapacity", source_capacity)] {
        let blocks = format.table_bytes(capacity) / 16;
        if blocks / least_threads > most {
            let slot_bytes = u64::from(format.slot_words()) * WORD;
            let (value, limit) = (capacity.into(), most * least_threads * 16 / slot_bytes);
            return Err(Error::TooLarge { argument, value, limit, why: "the workgroups of one dispatch" });
        }
    }
    let groups = u64::from(info.count.max.div_ceil(profile.plain_threads));
    if groups > most {
        let (value, limit) = (info.count.max.into(), most * u64::from(profile.plain_threads));
        return Err(Error::TooLarge { argument: "count.max", value, limit, why: "the workgroups of one dispatch" });
    }
    Ok(())
}

impl PlanSource for HashTable<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self {
            Self::Constant(steps) => steps.add_to(plan),
            Self::Export(export) => export.add_to(plan),
            Self::Change(composition) => composition.add_to(plan),
            Self::Mixed(mixed) => mixed.add_to(plan),
            Self::Values(values) => values.add_to(plan),
        }
        plan.name = "hash";
    }
}
