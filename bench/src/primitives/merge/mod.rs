//! Merges of two sorted sequences.

mod families;
mod handle;
mod tuned;
mod workload;

use crate::workload::{Creation, Crossover, Family, Primitive, Recorder};
use ash::vk;
use trommel::{Count, Device, KeyType, MergeInfo, Merger, MergerInfo, Range, Request, Scratch};

pub(crate) struct MergePrimitive;

pub(crate) static PRIMITIVE: MergePrimitive = MergePrimitive;

impl Primitive for MergePrimitive {
    fn families(&self) -> Vec<Family> {
        families::families()
    }

    fn creations(&self) -> Vec<Creation> {
        let (keys, pairs) = (MergerInfo::keys(), MergerInfo::pairs());
        let infos = [
            ("create_merger_keys_u32", keys),
            ("create_merger_pairs_u32_u32", pairs),
            ("create_merger_pairs_u32_u32_2^16", MergerInfo { max_count: 1 << 16, ..pairs }),
            ("create_merger_pairs_u32_u32_batches", pairs.batches()),
            ("create_merger_keys_f64", MergerInfo { key: KeyType::F64, ..keys }),
        ];
        let creation = |(name, info): (&'static str, MergerInfo)| Creation {
            name,
            create: Box::new(move |library| Ok(Box::new(Merger::new(library, &info)?))),
        };
        infos.map(creation).into()
    }

    fn recorder(&self, library: &Device) -> trommel::Result<Option<Box<dyn Recorder>>> {
        Ok(Some(Box::new(MergeRecorder(Merger::new(library, &MergerInfo::keys().batches())?))))
    }

    fn crossovers(&self) -> Vec<Crossover> {
        tuned::crossovers()
    }
}

/// Bytes from the sequences of a recorded merge to its output. The keys of all requests take less.
const TO_OUTPUT: u64 = 1 << 38;

struct MergeRecorder(Merger);

impl Recorder for MergeRecorder {
    fn label(&self) -> &'static str {
        "merge_keys_u32"
    }

    fn request(&self, address: u64, count: u32) -> Request<'_> {
        Request::Merge(&self.0, MergeRecorder::info(address, count))
    }

    fn scratch_size(&self, count: u32) -> trommel::Result<u64> {
        self.0.scratch_size(count)
    }

    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        address: u64,
        count: u32,
        scratch: Scratch,
    ) -> trommel::Result<()> {
        // SAFETY: nothing is executed.
        unsafe { self.0.cmd_merge(commands, &MergeInfo { scratch, ..MergeRecorder::info(address, count) }) }
    }
}

impl MergeRecorder {
    /// The first half of the keys is A, the second B.
    fn info(address: u64, count: u32) -> MergeInfo<'static> {
        let (count_a, keys) = (count / 2, |address, count: u32| Range::new(address, u64::from(count) * 4));
        MergeInfo {
            count_a: Count::host(count_a),
            count_b: Count::host(count - count_a),
            keys_a: keys(address, count_a),
            keys_b: keys(address + u64::from(count_a) * 4, count - count_a),
            keys_out: keys(address + TO_OUTPUT, count),
            ..MergeInfo::default()
        }
    }
}
