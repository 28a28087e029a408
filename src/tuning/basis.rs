//! What built-in settings are computed from.

use super::{MIN_LANES_FOR_OWN_HISTOGRAM, MIN_THREADS, SHARED_MEMORY_OVERHEAD, Shape, VENDOR_NVIDIA, histogram_rows};
use crate::device::DeviceFacts;

/// Shared memory of a workgroup on every device, in bytes.
const PORTABLE_SHARED_MEMORY: u32 = 16 * 1024;

/// A device with measured settings.
///
/// They were measured on an H200, driver 580: see docs/sort.md. There are two tables: on the compute-only queue family
/// a workgroup may use twice the shared memory of an SM as on the graphics family. With 384 threads a kernel may use 80
/// registers, with 256 threads 128. Segments were measured with `u32` keys only; the shapes for pairs and longer keys
/// are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measured {
    /// An NVIDIA device, on a compute-only queue family.
    NvidiaCompute,
    /// An NVIDIA device, on a queue family with graphics.
    NvidiaGraphics,
}

/// A device, and shapes that it can run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    pub(crate) facts: &'a DeviceFacts,
    /// Lanes of a subgroup; 0: the device chooses.
    pub(crate) lanes: u32,
    /// A tile for any device that meets the requirements: 16 KiB of shared memory, at most 256 threads.
    pub(crate) shape: Shape,
    /// The table that replaces what follows from `shape`.
    pub(crate) measured: Option<Measured>,
}

impl<'a> Basis<'a> {
    pub(crate) fn new(facts: &'a DeviceFacts) -> Self {
        let lanes = if facts.can_require(32) {
            32
        } else if facts.can_require(facts.min_lanes) || facts.min_lanes == facts.max_lanes {
            facts.min_lanes
        } else {
            0
        };
        let is_nvidia = facts.vendor_id == VENDOR_NVIDIA && lanes == 32 && facts.shared_memory >= 48 * 1024;
        let measured = (is_nvidia && facts.max_invocations >= 1024).then_some(if facts.compute_only {
            Measured::NvidiaCompute
        } else {
            Measured::NvidiaGraphics
        });
        Self { facts, lanes, shape: portable_shape(facts, lanes), measured }
    }
}

fn portable_shape(facts: &DeviceFacts, lanes: u32) -> Shape {
    let narrowest = if lanes == 0 { facts.min_lanes } else { lanes };
    let widest = if lanes == 0 { facts.max_lanes } else { lanes };
    let most = facts.max_invocations.min(facts.max_subgroups.saturating_mul(narrowest)).min(256);
    // Half the number of threads leaves each subgroup its own counters in 16 KiB.
    let threads = if (MIN_LANES_FOR_OWN_HISTOGRAM..64).contains(&narrowest) { most.min(128) } else { most };
    let threads = (threads / widest * widest).max(MIN_THREADS);
    let available = PORTABLE_SHARED_MEMORY - SHARED_MEMORY_OVERHEAD;
    let counters = histogram_rows(threads, narrowest, PORTABLE_SHARED_MEMORY) * 1024;
    // Limits of shared memory: a key has 4 bytes, besides the counters. Later the counters' memory holds one byte an
    // item. With labels, three items share a word.
    let items = ((available - counters) / (4 * threads))
        .min(available / (5 * threads) / 4 * 4)
        .min(available / (16 * threads) * 3);
    Shape { threads, items: items.min(if facts.is_cpu { 8 } else { 16 }) }
}
