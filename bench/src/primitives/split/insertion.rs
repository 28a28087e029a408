//! Randomized insertion: each item goes to a random free slot in the area of its bucket, and a compaction drops empty
//! slots. Areas have more slots than items. Not stable.

use super::check::check_unordered;
use super::handle::SplitStep;
use super::info::items;
use super::kernels::{Args, EMPTY, Kernel, KernelInfo, KernelStep, Task, check_words};
use super::workload::arguments;
use crate::arrays::{ArrayInfo, Contents, Memory};
use crate::handles::Handles;
use crate::inputs::Keys;
use crate::problems::max_count;
use crate::workload::{Operation, Step, Workload};
use std::sync::Arc;
use trommel::{BucketFunction, Count, SplitInfo, SplitOutput, Splitter, SplitterInfo, ValueType};

// Numbers of arrays, after keys and values: the areas of all buckets.
const AREA_KEYS: usize = 2;
const AREA_VALUES: usize = 3;

/// Slots that areas have for each item. Fewer take more draws an item, more take longer to compact.
const SLOTS_PER_ITEM: u32 = 2;
/// An area is made for at least this many items: smaller buckets often have twice the expected items.
const MIN_EXPECTED: u32 = 32;

/// Slots of each bucket's area. Bucket sizes are taken as known to be nearly equal: finding them would be a pass of its
/// own.
fn area(info: &SplitterInfo, n: u32) -> u32 {
    n.div_ceil(info.buckets).max(MIN_EXPECTED).saturating_mul(SLOTS_PER_ITEM)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Insertion {
    /// The split by bits of the key.
    pub(super) info: SplitterInfo,
    pub(super) keys: Keys,
}

impl Insertion {
    /// Slots of all areas.
    fn slots(&self, n: u32) -> u32 {
        area(&self.info, n).saturating_mul(self.info.buckets)
    }

    /// The split that drops empty slots, by their key.
    fn compaction(&self, n: u32) -> SplitterInfo {
        let (function, output) = (BucketFunction::Range, SplitOutput::Bucket(0));
        SplitterInfo { buckets: 2, function, output, max_count: max_count(self.slots(n)), ..self.info }
    }
}

impl Workload for Insertion {
    fn bytes_per_item(&self) -> u32 {
        let (key, value) = (self.info.key.size(), self.info.value.size());
        // A kernel clears the slots, and the compaction reads them.
        let slots = SLOTS_PER_ITEM * (key + key + value);
        let inserted = 2 * (key + value);
        slots + inserted + key + value
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        let kernel = |task| KernelInfo { task, pairs: self.info.value != ValueType::None };
        let clear = handles.get(kernel(Task::Clear))?;
        let insert = handles.get(kernel(Task::Insert))?;
        let compaction = handles.get(self.compaction(n))?;
        let (key, value) = (self.info.key.size(), self.info.value.size());
        check_words(&[key, value].map(|size| u64::from(size) * u64::from(self.slots(n))))?;
        Ok(Box::new(Steps { split: *self, n, clear, insert, compaction }))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        check_unordered(&self.info, n, contents)
    }

    fn with_keys(&self, keys: Keys) -> Arc<dyn Workload> {
        Arc::new(Self { keys, ..*self })
    }
}

struct Steps {
    split: Insertion,
    n: u32,
    clear: Kernel,
    insert: Kernel,
    compaction: Splitter,
}

impl Operation for Steps {
    fn arrays(&self) -> Vec<ArrayInfo> {
        let (info, slots) = (&self.split.info, self.split.slots(self.n));
        let areas = [info.key.size(), info.value.size()].map(|stride| ArrayInfo::intermediate(stride, slots));
        items(info).arrays(self.split.keys, slots).into_iter().chain(areas).collect()
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        self.compaction.scratch_size(self.split.slots(self.n))
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        let Insertion { info, .. } = &self.split;
        let slots = self.split.slots(self.n);
        let args = Args {
            areas: memory.whole(AREA_KEYS, 0).address,
            area_values: memory.whole(AREA_VALUES, 0).address,
            area: area(info, self.n),
            slots,
            ..Args::of(info, self.n, memory)
        };
        // Keys below that of an empty slot are items.
        let info = SplitInfo {
            count: Count::host(slots),
            keys: memory.whole(AREA_KEYS, 0),
            values: memory.whole(AREA_VALUES, 0),
            width: EMPTY.into(),
            ..arguments(memory, 0)
        };
        vec![
            Box::new(KernelStep { kernel: &self.clear, args }),
            Box::new(KernelStep { kernel: &self.insert, args }),
            Box::new(SplitStep { splitter: &self.compaction, info, capacity: slots }),
        ]
    }

    fn output_sides(&self) -> Vec<usize> {
        vec![1; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(info: SplitterInfo) -> Insertion {
        Insertion { info, keys: Keys::Random }
    }

    #[test]
    fn areas_have_equal_sizes() {
        let by_bits = BucketFunction::Bits { begin_bit: 29 };
        let keys = of(SplitterInfo::keys(8, by_bits));
        assert_eq!(keys.slots(8000), 2 * 8000);
        assert_eq!(keys.slots(8001), 2 * 8008);
        assert_eq!(of(SplitterInfo::pairs(256, by_bits)).slots(256), 256 * 2 * 32);
    }

    #[test]
    fn the_first_of_two_ranges_is_compacted() {
        let pairs = of(SplitterInfo::pairs(8, BucketFunction::Bits { begin_bit: 29 }));
        let compaction = SplitterInfo::pairs(2, BucketFunction::Range).output(SplitOutput::Bucket(0));
        assert_eq!(pairs.compaction(1 << 20), compaction);
    }
}
