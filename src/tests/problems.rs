//! Devices and problems that exist in numbers only.

use crate::sort::{Class, SortKind, SortSource, SortTable};
use crate::tuning::Profile;
use crate::{Count, DeviceFacts, Range, SortInfo, Strategy};

/// Where made-up scratch lies.
pub(super) const SCRATCH: u64 = 0x10_0000_0000;

pub(super) const NVIDIA: DeviceFacts = DeviceFacts {
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
pub(super) fn devices() -> Vec<(&'static str, DeviceFacts)> {
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

/// Sorts that one sorter serves.
#[derive(Clone, Debug)]
pub(super) struct Sorts {
    pub(super) strategy: Strategy,
    pub(super) value_words: u32,
    pub(super) infos: Vec<SortInfo>,
}

impl SortSource for Sorts {
    fn for_each(&self, visit: &mut dyn FnMut(&SortInfo)) {
        self.infos.iter().for_each(visit);
    }
}

impl Sorts {
    pub(super) fn kind<'a>(&self, facts: &'a DeviceFacts, profile: &'a Profile) -> SortKind<'a> {
        SortKind { facts, profile, strategy: self.strategy, value_words: self.value_words }
    }

    /// The classes of the problems, in order of first appearance.
    fn classes(&self, kind: SortKind<'_>) -> Vec<Class> {
        let mut classes = Vec::new();
        for info in &self.infos {
            let class = kind.class(info.count.max);
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    }
}

/// A problem yet without addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem {
    pub(super) size: u32,
    pub(super) count_on_device: bool,
    pub(super) status: bool,
}

/// Hands out addresses, each array apart from the one before.
#[derive(Debug)]
pub(super) struct Addresses(u64);

impl Addresses {
    pub(super) fn new() -> Self {
        Self(0x1_0000_0000)
    }

    fn array(&mut self, bytes: u64) -> Range {
        let range = Range::new(self.0, bytes);
        self.0 += bytes + 4;
        range
    }

    pub(super) fn info(&mut self, problem: Problem, value_words: u32) -> SortInfo {
        let bytes = u64::from(problem.size) * 4;
        let mut word = |wanted: bool| if wanted { self.array(4).address } else { 0 };
        let count = Count { max: problem.size, address: word(problem.count_on_device) };
        let status = word(problem.status);
        let keys = self.array(bytes);
        let values = if value_words == 0 { Range::NONE } else { self.array(bytes * u64::from(value_words)) };
        SortInfo { count, keys, values, status, ..SortInfo::default() }
    }
}

/// Tables of all classes of all sorters, in one scratch, as a batch has them; with the sorters they come from.
pub(super) fn tables<'a>(
    sorts: &'a [Sorts],
    facts: &'a DeviceFacts,
    profile: &'a Profile,
    layout: &mut crate::scratch::Layout,
) -> Vec<(&'a Sorts, Class, SortTable<'a>)> {
    let mut tables = Vec::new();
    for sorts in sorts {
        let kind = sorts.kind(facts, profile);
        for class in sorts.classes(kind) {
            tables.push((sorts, class, SortTable::new(kind, class, sorts, SCRATCH, layout).unwrap()));
        }
    }
    tables
}
