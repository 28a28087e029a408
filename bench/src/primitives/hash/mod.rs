//! Operations on hash tables.

mod action;
mod checks;
mod exports;
mod families;
mod handle;
mod layout;
mod multimaps;
mod operation;
mod workload;

use crate::workload::{Creation, Family, Primitive, Recorder};
use ash::vk;
use trommel::{Count, Device, HashInfo, HashOperation, Hasher, HasherInfo, Range, Request, Scratch};

pub(crate) struct HashPrimitive;

pub(crate) static PRIMITIVE: HashPrimitive = HashPrimitive;

impl Primitive for HashPrimitive {
    fn families(&self) -> Vec<Family> {
        families::families()
    }

    fn creations(&self) -> Vec<Creation> {
        let (bucketed, linear) = (HasherInfo::pairs(), HasherInfo::pairs().linear());
        let names = [
            ("create_hasher_clear_u32_u32", bucketed.operation(HashOperation::Clear)),
            ("create_hasher_insert_u32_u32", bucketed),
            ("create_hasher_assign_u32_u32", bucketed.operation(HashOperation::Assign)),
            ("create_hasher_erase_u32_u32", bucketed.operation(HashOperation::Erase)),
            ("create_hasher_find_u32_u32", bucketed.operation(HashOperation::Find)),
            ("create_hasher_insert_linear_u32_u32", linear),
            ("create_hasher_find_linear_u32_u32", linear.operation(HashOperation::Find)),
            ("create_hasher_find_or_insert_linear_u32_u32", linear.operation(HashOperation::FindOrInsert)),
            ("create_hasher_rehash_linear_u32_u32", linear.operation(HashOperation::Rehash)),
            ("create_hasher_resize_linear_u32_u32", linear.resizable().operation(HashOperation::Resize)),
            ("create_hasher_mixed_linear_u32_u32", linear.operation(HashOperation::Mixed)),
            ("create_hasher_insert_multimap_u32_u32", linear.multimap()),
            ("create_hasher_retrieve_multimap_u32_u32", linear.multimap().operation(HashOperation::Retrieve)),
        ];
        let creation = |(name, info): (&'static str, HasherInfo)| Creation {
            name,
            create: Box::new(move |library| Ok(Box::new(Hasher::new(library, &info)?))),
        };
        names.map(creation).into()
    }

    fn recorder(&self, library: &Device) -> trommel::Result<Option<Box<dyn Recorder>>> {
        let info = HasherInfo::pairs().operation(HashOperation::Find).batches();
        Ok(Some(Box::new(HashRecorder(Hasher::new(library, &info)?))))
    }
}

/// Records searches: they need no scratch, of which a large batch of insertions would need more than a device has.
struct HashRecorder(Hasher);

/// Bytes from the keys of a recorded search to their values. The keys of all requests take less.
const TO_VALUES: u64 = 1 << 38;
/// The table of a request lies at this multiple of the address of its keys. Tables of successive requests are as far
/// apart.
const TABLE_FACTOR: u64 = 16;

impl Recorder for HashRecorder {
    fn label(&self) -> &'static str {
        "hash_find_u32_u32"
    }

    fn request(&self, address: u64, count: u32) -> Request<'_> {
        Request::Hash(&self.0, self.info(address, count))
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
        unsafe { self.0.cmd_hash(commands, &HashInfo { scratch, ..self.info(address, count) }) }
    }
}

impl HashRecorder {
    /// A search in a table with a slot for each key.
    fn info(&self, address: u64, count: u32) -> HashInfo {
        let words = |address| Range::new(address, u64::from(count) * 4);
        let capacity = count.max(1);
        HashInfo {
            table: Range::new(address * TABLE_FACTOR, self.0.table_size(capacity)),
            capacity,
            count: Count::host(count),
            keys: words(address),
            values: words(address + TO_VALUES),
            ..HashInfo::default()
        }
    }
}
