//! Sorters as handles and as steps.

use crate::handles::{HandleInfo, describe_value, differing, join};
use crate::workload::Step;
use ash::vk;
use trommel::host::Context;
use trommel::{
    Device, Layout, Order, Placement, SortComparatorKernel, SortInfo, Sorter, SorterInfo, Strategy, Timestamps,
};

impl HandleInfo for SorterInfo {
    type Handle = Sorter;

    fn create(&self, _context: &Context, library: &Device, strategy: Strategy) -> trommel::Result<Sorter> {
        Sorter::new(library, &self.strategy(strategy))
    }

    fn strategy_name(sorter: &Sorter) -> Option<&'static str> {
        Some(sorter.strategy().name())
    }

    fn for_batches(self) -> Self {
        self.batches()
    }

    fn describe(&self) -> String {
        format!("sorter of {}", describe(self))
    }
}

/// A sorter of `u32` keys with a comparator: by the bits of keys that are set in [`MASK`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparing(pub(super) SorterInfo);

/// The input of the comparator: all bits, so that the order is that of other sorters.
pub(super) const MASK: [u32; 4] = [0, 0, 0, u32::MAX];

impl HandleInfo for Comparing {
    type Handle = Sorter;

    fn create(&self, _context: &Context, library: &Device, _strategy: Strategy) -> trommel::Result<Sorter> {
        let bytes = include_bytes!("../../../../tests/kernels/sort_masked_u32.spv");
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let kernel = SortComparatorKernel::from_spirv(&words)?;
        // SAFETY: the compiler has created the module from a valid function.
        unsafe { Sorter::with_comparator(library, &self.0, &kernel) }
    }

    fn strategy_name(_sorter: &Sorter) -> Option<&'static str> {
        Some("merge_sort")
    }

    fn for_batches(self) -> Self {
        Self(self.0.batches())
    }

    fn describe(&self) -> String {
        format!("{}, with a comparator", HandleInfo::describe(&self.0))
    }
}

fn describe(info: &SorterInfo) -> String {
    let end_bit = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
    join([
        Some(format!("{:?} keys", info.key)),
        describe_value(info.value),
        differing(info.drop_keys, "keys dropped".into()),
        differing(info.order != Order::Ascending, "descending".into()),
        differing(info.begin_bit != 0 || end_bit != info.key.bits(), format!("bits {}..{end_bit}", info.begin_bit)),
        differing(info.placement != Placement::InPlace, format!("{:?}", info.placement)),
        differing(info.layout != Layout::Separate, format!("{:?}", info.layout)),
        differing(info.segmented, "in segments".into()),
        differing(info.max_count != SorterInfo::default().max_count, format!("up to {}", info.max_count)),
    ])
}

/// A sort of all items, or of all segments.
pub(crate) struct SortStep<'a> {
    pub(crate) sorter: &'a Sorter,
    pub(crate) info: SortInfo,
    /// The most items that the count may be.
    pub(crate) capacity: u32,
}

impl Step for SortStep<'_> {
    unsafe fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { self.sorter.cmd_sort(commands, &SortInfo { timestamps, ..self.info }) }
    }

    fn timestamp_count(&self) -> trommel::Result<u32> {
        self.sorter.timestamp_count(self.capacity)
    }

    fn describe(&self) -> trommel::Result<String> {
        self.sorter.describe(&self.info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::{KeyType, ValueType};

    #[test]
    fn descriptions_name_differences_from_defaults() {
        assert_eq!(describe(&SorterInfo::keys()), "U32 keys");
        assert_eq!(describe(&SorterInfo::argsort(KeyType::F32)), "F32 keys, Index values, keys dropped, Preserve");
        let info = SorterInfo { end_bit: 16, value: ValueType::Bytes(64), max_count: u32::MAX, ..SorterInfo::keys() };
        assert_eq!(describe(&info), "U32 keys, values of 64 bytes, bits 0..16, up to 4294967295");
    }
}
