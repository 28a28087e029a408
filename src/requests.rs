//! The requests that batches accept.

use crate::core::batch::{self, Argument, GroupOrder, Listed, Members, Requests, requests};
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::Plan;
use crate::core::primitive::{GroupOf, PlanSource, Planner, Primitive};
use crate::core::scratch::Layout;
use crate::{Device, Result};
use ash::vk;

primitives!(requests);
