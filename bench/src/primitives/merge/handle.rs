//! Mergers as handles and as steps.

use crate::handles::{HandleInfo, describe_value, differing, join};
use crate::workload::Step;
use ash::vk;
use trommel::host::Context;
use trommel::{
    ComparatorKernel, Device, Layout, MergeInfo, MergeMethod, MergeOperation, MergeSequence, Merger, MergerInfo, Order,
    Strategy, Timestamps,
};

impl HandleInfo for MergerInfo {
    type Handle = Merger;

    fn create(&self, _context: &Context, library: &Device, _strategy: Strategy) -> trommel::Result<Merger> {
        Merger::new(library, self)
    }

    fn strategy_name(merger: &Merger) -> Option<&'static str> {
        Some(match merger.info().method {
            _ if merger.info().operation.is_search() => "binary_search",
            _ if merger.info().operation.is_set_operation() => "balanced_path",
            _ if merger.info().operation.is_update() => "marked_merge_path",
            MergeMethod::Path => "merge_path",
            MergeMethod::Basic => "basic",
            MergeMethod::Tiled => "tiled",
            MergeMethod::CircularBuffer => "circular_buffer",
        })
    }

    fn for_batches(self) -> Self {
        self.batches()
    }

    fn describe(&self) -> String {
        format!("merger of {}", describe(self))
    }
}

/// A merger of `u32` keys with a comparator: by the bits of keys that are set in [`MASK`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparing(pub(super) MergerInfo);

/// The input of the comparator: all bits, so that the order is that of other mergers.
pub(super) const MASK: [u32; 4] = [0, 0, 0, u32::MAX];

impl HandleInfo for Comparing {
    type Handle = Merger;

    fn create(&self, _context: &Context, library: &Device, _strategy: Strategy) -> trommel::Result<Merger> {
        let bytes = include_bytes!("../../../../tests/kernels/masked_u32.spv");
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let kernel = ComparatorKernel::from_spirv(&words)?;
        // SAFETY: the compiler has created the module from a valid function.
        unsafe { Merger::with_comparator(library, &self.0, &kernel) }
    }

    fn strategy_name(_merger: &Merger) -> Option<&'static str> {
        Some("merge_path")
    }

    fn for_batches(self) -> Self {
        Self(self.0.batches())
    }

    fn describe(&self) -> String {
        format!("{}, with a comparator", HandleInfo::describe(&self.0))
    }
}

fn describe(info: &MergerInfo) -> String {
    join([
        Some(format!("{:?} keys", info.key)),
        differing(info.operation != MergeOperation::Merge, format!("{:?}", info.operation)),
        describe_value(info.value),
        differing(info.drop_keys, "keys dropped".into()),
        differing(info.segmented, "in segments".into()),
        differing(info.sequences > 2, format!("up to {} sequences", info.sequences)),
        differing(info.order != Order::Ascending, "descending".into()),
        differing(info.layout != Layout::Separate, format!("{:?}", info.layout)),
        differing(info.max_count != MergerInfo::default().max_count, format!("up to {}", info.max_count)),
    ])
}

/// One merge.
pub(super) struct MergeStep<'a> {
    pub(super) merger: &'a Merger,
    /// Without the sequences after A and B.
    pub(super) info: MergeInfo<'a>,
    pub(super) more: Vec<MergeSequence>,
}

impl Step for MergeStep<'_> {
    unsafe fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { self.merger.cmd_merge(commands, &MergeInfo { timestamps, more: &self.more, ..self.info }) }
    }

    fn timestamp_count(&self) -> trommel::Result<u32> {
        let more = self.more.iter().map(|sequence| sequence.count.max);
        let counts = [self.info.count_a.max, self.info.count_b.max].into_iter().chain(more);
        self.merger.timestamp_count(counts.fold(0, u32::saturating_add))
    }

    fn describe(&self) -> trommel::Result<String> {
        self.merger.describe(&MergeInfo { more: &self.more, ..self.info })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::{KeyType, ValueType};

    #[test]
    fn descriptions_name_differences_from_defaults() {
        assert_eq!(HandleInfo::describe(&MergerInfo::keys()), "merger of U32 keys");
        let info = MergerInfo { value: ValueType::Index, drop_keys: true, max_count: 9, ..MergerInfo::keys() };
        assert_eq!(describe(&info), "U32 keys, Index values, keys dropped, up to 9");
        let info = MergerInfo { key: KeyType::F64, order: Order::Descending, ..MergerInfo::pairs() };
        assert_eq!(describe(&info), "F64 keys, U32 values, descending");
    }
}
