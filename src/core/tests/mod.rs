//! What tests of all primitives share: devices as numbers, the check of barriers, random words, and which cases run.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

#[cfg(feature = "host")]
pub(crate) mod accesses;
#[cfg(feature = "host")]
pub(crate) mod at_exit;
pub(crate) mod hazards;
#[cfg(feature = "host")]
pub(crate) mod selection;

use crate::DeviceFacts;

/// Address of the scratch, which does not exist.
pub(crate) const SCRATCH: u64 = 0x10_0000_0000;

pub(crate) const NVIDIA: DeviceFacts = DeviceFacts {
    vendor_id: 0x10de,
    is_cpu: false,
    compute_only: true,
    min_lanes: 32,
    max_lanes: 32,
    lanes_selectable: true,
    max_invocations: 1024,
    max_subgroups: 32,
    shared_memory: 48 * 1024,
    max_groups_x: i32::MAX as u32,
};

/// Devices of different make, by name.
pub(crate) fn devices() -> Vec<(&'static str, DeviceFacts)> {
    let cpu = |lanes, max_invocations, max_subgroups| DeviceFacts {
        vendor_id: 0x10005,
        is_cpu: true,
        compute_only: false,
        min_lanes: lanes,
        max_lanes: lanes,
        max_invocations,
        max_subgroups,
        shared_memory: 32 * 1024,
        max_groups_x: 65_535,
        ..NVIDIA
    };
    let gpu = |vendor_id, min_lanes, max_lanes| DeviceFacts {
        vendor_id,
        compute_only: false,
        min_lanes,
        max_lanes,
        max_subgroups: 64,
        shared_memory: 32 * 1024,
        max_groups_x: 65_535,
        ..NVIDIA
    };
    vec![
        ("nvidia_compute_only", NVIDIA),
        ("nvidia_graphics", DeviceFacts { compute_only: false, ..NVIDIA }),
        ("amd_32_or_64_lanes", gpu(0x1002, 32, 64)),
        ("intel_8_to_32_lanes", gpu(0x8086, 8, 32)),
        ("lanes_not_selectable", DeviceFacts { lanes_selectable: false, ..gpu(0x106b, 4, 32) }),
        ("lanes_128", gpu(0x5143, 64, 128)),
        ("lavapipe_4_lanes", cpu(4, 1024, 32)),
        ("lavapipe_8_lanes", cpu(8, 1024, 32)),
        ("swiftshader", DeviceFacts { vendor_id: 0x1ae0, ..cpu(4, 256, 64) }),
    ]
}

/// Words that look random, the same for the same seed.
pub(crate) fn noise(seed: u64, words: usize) -> Vec<u32> {
    let mut state = seed | 1;
    let draw = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    (0..words).map(draw).collect()
}
