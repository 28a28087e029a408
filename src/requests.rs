//! The primitives that batches accept. A new primitive adds a line.

use crate::core::batch::{self, Argument, GroupOrder, Listed, Members, Requests, requests};
use crate::core::handle::check_apart;
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::Plan;
use crate::core::primitive::{GroupOf, PlanSource, Planner, Primitive};
use crate::core::scratch::Layout;
use crate::{Device, Result};
#[cfg(feature = "sort")]
use crate::{SortInfo, Sorter};
#[cfg(feature = "split")]
use crate::{SplitInfo, Splitter};
use ash::vk;

requests! {
    /// A sort.
    #[cfg(feature = "sort")]
    Sort(Sorter, SortInfo),
    /// A split.
    #[cfg(feature = "split")]
    Split(Splitter, SplitInfo),
}
