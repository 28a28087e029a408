//! Hashers as handles and as steps.

use crate::handles::{HandleInfo, describe_value, differing, join};
use crate::workload::Step;
use ash::vk;
use trommel::host::Context;
use trommel::{Device, HashInfo, HashOperation, HashScheme, Hasher, HasherInfo, Strategy, Timestamps};

impl HandleInfo for HasherInfo {
    type Handle = Hasher;

    fn create(&self, _context: &Context, library: &Device, _strategy: Strategy) -> trommel::Result<Hasher> {
        Hasher::new(library, self)
    }

    fn strategy_name(hasher: &Hasher) -> Option<&'static str> {
        let info = hasher.info();
        Some(match info.operation {
            HashOperation::Clear => "fill",
            HashOperation::Find | HashOperation::Count | HashOperation::Retrieve => "probe",
            HashOperation::Export | HashOperation::ExportIf | HashOperation::Statistics => "scan",
            _ if info.scheme == HashScheme::Linear => "linear_probing",
            _ => "sorted_slices",
        })
    }

    fn for_batches(self) -> Self {
        self.batches()
    }

    fn describe(&self) -> String {
        let words = join([
            Some(format!("{:?}, {:?} keys", self.operation, self.key)),
            describe_value(self.value),
            differing(self.scheme != HashScheme::default(), format!("{:?}", self.scheme)),
            differing(self.multimap, "multimap".to_owned()),
            differing(self.resizable, "resizable".to_owned()),
            differing(self.concurrent, "concurrent".to_owned()),
            differing(self.max_count != 0, format!("up to {}", self.max_count)),
            differing(self.max_capacity != 0, format!("up to {} slots", self.max_capacity)),
        ]);
        format!("hasher of {words}")
    }
}

/// One operation on a table.
pub(super) struct HashStep<'a> {
    pub(super) hasher: &'a Hasher,
    pub(super) info: HashInfo,
}

impl Step for HashStep<'_> {
    unsafe fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { self.hasher.cmd_hash(commands, &HashInfo { timestamps, ..self.info }) }
    }

    fn timestamp_count(&self) -> trommel::Result<u32> {
        self.hasher.timestamp_count(self.info.count.max)
    }

    fn describe(&self) -> trommel::Result<String> {
        self.hasher.describe(&self.info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_differences_from_defaults() {
        let pairs = HasherInfo::pairs();
        assert_eq!(HandleInfo::describe(&pairs), "hasher of Insert, U32 keys, U32 values");
        let sets = HasherInfo { max_capacity: 9, ..HasherInfo::keys().operation(HashOperation::Find) };
        assert_eq!(HandleInfo::describe(&sets), "hasher of Find, U32 keys, up to 9 slots");
        let multimaps = HasherInfo::keys().linear().multimap().resizable();
        assert_eq!(HandleInfo::describe(&multimaps), "hasher of Insert, U32 keys, Linear, multimap, resizable");
    }
}
