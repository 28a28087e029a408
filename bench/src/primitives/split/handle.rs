//! Splitters as handles and as steps.

use crate::handles::{HandleInfo, describe_value, differing, join};
use crate::workload::Step;
use ash::vk;
use trommel::host::Context;
use trommel::{
    BucketFunction, Device, Layout, SplitInfo, SplitMethod, SplitOutput, Splitter, SplitterInfo, Strategy, Timestamps,
};

impl HandleInfo for SplitterInfo {
    type Handle = Splitter;

    fn create(&self, _context: &Context, library: &Device, strategy: Strategy) -> trommel::Result<Splitter> {
        // Counting alone and ranking by subgroups have one strategy each.
        let any = self.output != SplitOutput::Counts && self.method == SplitMethod::Workgroup;
        Splitter::new(library, &self.strategy(if any { strategy } else { Strategy::Auto }))
    }

    fn strategy_name(splitter: &Splitter) -> Option<&'static str> {
        Some(splitter.strategy().name())
    }

    fn for_batches(self) -> Self {
        self.batches()
    }

    fn describe(&self) -> String {
        format!("splitter of {}", describe(self))
    }
}

fn describe(info: &SplitterInfo) -> String {
    let function = match info.function {
        BucketFunction::Bits { begin_bit } => format!("bits from {begin_bit}"),
        other => format!("{other:?}"),
    };
    join([
        Some(format!("{:?} keys", info.key)),
        describe_value(info.value),
        differing(info.drop_keys, "keys dropped".into()),
        Some(format!("{} buckets by {function}", info.buckets)),
        differing(info.output != SplitOutput::Buckets, format!("{:?}", info.output)),
        differing(info.method != SplitMethod::Workgroup, format!("by {:?}", info.method)),
        differing(info.segmented, "in segments".into()),
        differing(info.layout != Layout::Separate, format!("{:?}", info.layout)),
        differing(info.max_count != SplitterInfo::default().max_count, format!("up to {}", info.max_count)),
    ])
}

/// A split of all items, or of all segments.
pub(super) struct SplitStep<'a> {
    pub(super) splitter: &'a Splitter,
    pub(super) info: SplitInfo,
    /// The most items that the count may be.
    pub(super) capacity: u32,
}

impl Step for SplitStep<'_> {
    unsafe fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { self.splitter.cmd_split(commands, &SplitInfo { timestamps, ..self.info }) }
    }

    fn timestamp_count(&self) -> trommel::Result<u32> {
        self.splitter.timestamp_count(self.capacity)
    }

    fn describe(&self) -> trommel::Result<String> {
        self.splitter.describe(&self.info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_differences_from_defaults() {
        let by_bits = SplitterInfo::pairs(32, BucketFunction::Bits { begin_bit: 27 });
        assert_eq!(HandleInfo::describe(&by_bits), "splitter of U32 keys, U32 values, 32 buckets by bits from 27");
        let by_range = SplitterInfo::keys(3, BucketFunction::Range);
        assert_eq!(describe(&by_range), "U32 keys, 3 buckets by Range");
        assert_eq!(describe(&by_range.output(SplitOutput::Bucket(1))), "U32 keys, 3 buckets by Range, Bucket(1)");
    }
}
