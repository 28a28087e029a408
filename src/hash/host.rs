//! Hash tables in one call.

use crate::host::{Context, count_of, shared};
use crate::{Count, HashInfo, HashOperation, Hasher, HasherInfo, Result};
use std::collections::{HashMap, HashSet};

impl Context {
    /// Looks up needles among keys with values in host memory, in no particular order. Returns the value of each
    /// needle: of equal keys, the first one's. None: no key equals the needle.
    ///
    /// The keys and their values become a hash table on the device. The host looks up the keys that find no slot there.
    ///
    /// # Errors
    /// Errors of recording and of Vulkan; [`Error::TooSmall`](crate::Error::TooSmall) with fewer values than keys;
    /// [`Error::TooLarge`](crate::Error::TooLarge) above 2^30 keys or needles.
    pub fn find_in(&self, keys: &[u32], values: &[u32], needles: &[u32]) -> Result<Vec<Option<u32>>> {
        let [count, needle_count] = [count_of(keys)?, count_of(needles)?];
        // Two thirds of the slots are in use if all keys differ.
        let capacity = count.saturating_add(count / 2).max(1);
        let info = HasherInfo { max_capacity: capacity.min(1 << 31), ..HasherInfo::pairs() };
        let hasher = |operation| Hasher::new(self.device(), &info.operation(operation));
        let [clear, insert, find] = [HashOperation::Clear, HashOperation::Insert, HashOperation::Find].map(hasher);
        let [clear, insert, find] = [clear?, insert?, find?];
        let scratch = self.buffer(insert.scratch_size(count)?)?;
        let table = self.buffer(insert.table_size(capacity))?;
        let empty = HashInfo { table: table.range(), capacity, ..HashInfo::default() };
        // SAFETY: the buffers outlive run(), which waits.
        self.run(|commands| unsafe { clear.cmd_hash(commands, &empty) })?;

        let [keys_in, values_in] = [self.upload(keys)?, self.upload(values)?];
        let [leftover_keys, leftover_count] = [self.buffer(keys_in.size())?, self.buffer(4)?];
        let batch = HashInfo {
            count: Count::host(count),
            keys: keys_in.range(),
            values: values_in.range(),
            leftover_keys: leftover_keys.range(),
            leftover_count: leftover_count.address(),
            scratch: scratch.scratch(),
            ..empty
        };
        // SAFETY: as above.
        self.run(|commands| unsafe { insert.cmd_hash(commands, &batch) })?;

        let needles_in = self.upload(needles)?;
        let words = needles.len().div_ceil(32);
        let [values_out, found] = [self.buffer(needles_in.size())?, self.buffer(words as u64 * 4)?];
        let search = HashInfo {
            count: Count::host(needle_count),
            keys: needles_in.range(),
            values: values_out.range(),
            found: found.range(),
            ..empty
        };
        // SAFETY: as above.
        self.run(|commands| unsafe { find.cmd_hash(commands, &search) })?;

        let leftovers = self.download::<u32>(&leftover_count, 1)?[0] as usize;
        let leftovers: HashSet<_> = self.download::<u32>(&leftover_keys, leftovers)?.into_iter().collect();
        let mut others = HashMap::new();
        for (key, value) in keys.iter().zip(values).filter(|(key, _)| leftovers.contains(key)) {
            others.entry(key).or_insert(*value);
        }
        let found = self.download::<u32>(&found, words)?;
        let values = self.download::<u32>(&values_out, needles.len())?;
        let result = |(i, needle)| match found[i / 32] >> (i % 32) & 1 {
            0 => others.get(needle).copied(),
            _ => Some(values[i]),
        };
        Ok(needles.iter().enumerate().map(result).collect())
    }
}

/// Looks up needles among keys with values in host memory, on a device that the first call opens. Returns the value of
/// each needle, or none if no key equals the needle.
///
/// # Errors
/// As [`Context::new`] and [`Context::find_in`].
pub fn find_in(keys: &[u32], values: &[u32], needles: &[u32]) -> Result<Vec<Option<u32>>> {
    shared()?.find_in(keys, values, needles)
}
