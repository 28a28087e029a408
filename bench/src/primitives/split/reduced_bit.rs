//! A split as a reduced-bit sort: a kernel writes the bucket of each item, and a sort by that label moves keys, or
//! packed pairs.

use super::check::check;
use super::info::items;
use super::kernels::{Args, Kernel, KernelInfo, KernelStep, Task, check_words};
use crate::arrays::{ArrayInfo, Contents, Memory};
use crate::handles::Handles;
use crate::inputs::Keys;
use crate::items::{INDEX, KEYS};
use crate::primitives::sort::handle::SortStep;
use crate::primitives::sort::workload;
use crate::problems::max_count;
use crate::workload::{Operation, Step, Workload};
use std::sync::Arc;
use trommel::{Count, Placement, SortInfo, Sorter, SorterInfo, SplitterInfo, ValueType};

// Numbers of arrays, after keys and values: labels, pairs as they are packed, pairs as they are sorted.
const LABELS: usize = 2;
const PACKED: usize = 3;
const SORTED: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct ReducedBitSort {
    /// The split by bits of the key.
    pub(super) info: SplitterInfo,
    pub(super) keys: Keys,
}

impl ReducedBitSort {
    fn has_values(&self) -> bool {
        self.info.value != ValueType::None
    }

    /// Bytes of a packed pair. 0 without values.
    fn packed(&self) -> u32 {
        if self.has_values() { self.info.key.size() + self.info.value.size() } else { 0 }
    }

    /// The sort by labels, with keys or packed pairs as values.
    fn sorter_info(&self) -> SorterInfo {
        let value = if self.has_values() { ValueType::Bytes(self.packed()) } else { ValueType::U32 };
        let end_bit = self.info.buckets.ilog2();
        SorterInfo { value, drop_keys: true, end_bit, placement: Placement::Preserve, ..SorterInfo::keys() }
    }

    fn kernel(&self, task: Task) -> KernelInfo {
        KernelInfo { task, pairs: self.has_values() }
    }
}

impl Workload for ReducedBitSort {
    fn bytes_per_item(&self) -> u32 {
        // A kernel packs pairs beside the labels, and another unpacks them at the end.
        let labeled = self.info.key.size() + self.info.value.size() + INDEX + self.packed();
        labeled + workload::bytes(&self.sorter_info()) + 2 * self.packed()
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        let label = handles.get(self.kernel(Task::Label))?;
        let sorter = handles.get(SorterInfo { max_count: max_count(n), ..self.sorter_info() })?;
        let unpack = self.has_values().then(|| handles.get(self.kernel(Task::Unpack))).transpose()?;
        check_words(&[u64::from(n) * u64::from(INDEX), u64::from(n) * u64::from(self.packed())])?;
        Ok(Box::new(Steps { split: *self, n, label, sorter, unpack }))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        check(&self.info, vec![std::ops::Range { start: 0, end: n }], contents, None)
    }

    fn with_keys(&self, keys: Keys) -> Arc<dyn Workload> {
        Arc::new(Self { keys, ..*self })
    }
}

struct Steps {
    split: ReducedBitSort,
    n: u32,
    label: Kernel,
    sorter: Sorter,
    unpack: Option<Kernel>,
}

impl Operation for Steps {
    fn arrays(&self) -> Vec<ArrayInfo> {
        let intermediates =
            [INDEX, self.split.packed(), self.split.packed()].map(|stride| ArrayInfo::intermediate(stride, self.n));
        items(&self.split.info).arrays(self.split.keys, self.n).into_iter().chain(intermediates).collect()
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        self.sorter.scratch_size(self.n)
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        let args = Args {
            ids: memory.whole(LABELS, 0).address,
            pairs: memory.whole(PACKED, 0).address,
            pairs_out: memory.whole(SORTED, 0).address,
            ..Args::of(&self.split.info, self.n, memory)
        };
        let (values, values_out) = match self.unpack {
            Some(_) => (memory.whole(PACKED, 0), memory.whole(SORTED, 0)),
            None => (memory.whole(KEYS, 0), memory.whole(KEYS, 1)),
        };
        let (count, keys, scratch) = (Count::host(self.n), memory.whole(LABELS, 0), memory.scratch());
        let info = SortInfo { count, keys, values, values_out, scratch, ..SortInfo::default() };
        let mut steps: Vec<Box<dyn Step + 'a>> = vec![
            Box::new(KernelStep { kernel: &self.label, args }),
            Box::new(SortStep { sorter: &self.sorter, info, capacity: self.n }),
        ];
        if let Some(kernel) = &self.unpack {
            steps.push(Box::new(KernelStep { kernel, args }));
        }
        steps
    }

    fn output_sides(&self) -> Vec<usize> {
        vec![1; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::BucketFunction;

    #[test]
    fn labels_are_sorted_with_keys_or_packed_pairs() {
        let by_bits = BucketFunction::Bits { begin_bit: 29 };
        let of = |info| ReducedBitSort { info, keys: Keys::Random };
        let (keys, pairs) = (of(SplitterInfo::keys(8, by_bits)), of(SplitterInfo::pairs(8, by_bits)));
        let labels = SorterInfo {
            value: ValueType::U32,
            drop_keys: true,
            end_bit: 3,
            placement: Placement::Preserve,
            ..SorterInfo::keys()
        };
        assert_eq!(keys.sorter_info(), labels);
        assert_eq!(pairs.sorter_info(), SorterInfo { value: ValueType::Bytes(8), ..labels });
    }
}
