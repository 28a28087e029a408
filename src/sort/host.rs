//! Sorts in one call.

use crate::host::{Context, count_of, shared};
use crate::{Count, Range, Result, SortInfo, Sorter, SorterInfo};

impl Context {
    /// Sorts keys in host memory: upload, sort, download.
    ///
    /// # Errors
    /// Errors of recording and of Vulkan; `keys` are not modified then.
    pub fn sort(&self, keys: &mut [u32]) -> Result<()> {
        self.sort_on_device(&SorterInfo::keys(), keys, &mut [])
    }

    /// Sorts keys in host memory stably, and moves values with their keys.
    ///
    /// # Errors
    /// As [`Context::sort`]; [`Error::TooSmall`](crate::Error::TooSmall) or [`Error::Null`](crate::Error::Null) with
    /// fewer values than keys.
    pub fn sort_pairs(&self, keys: &mut [u32], values: &mut [u32]) -> Result<()> {
        self.sort_on_device(&SorterInfo::pairs(), keys, values)
    }

    fn sort_on_device(&self, info: &SorterInfo, keys: &mut [u32], values: &mut [u32]) -> Result<()> {
        let count = count_of(keys)?;
        let sorter = Sorter::new(self.device(), info)?;
        let (on_device_keys, on_device_values) = (self.upload(keys)?, self.upload(values)?);
        let scratch = self.buffer(sorter.scratch_size(count)?)?;
        let sort = SortInfo {
            count: Count::host(count),
            keys: on_device_keys.range(),
            values: if values.is_empty() { Range::NONE } else { on_device_values.range() },
            scratch: scratch.scratch(),
            ..SortInfo::default()
        };
        // SAFETY: the buffers outlive run(), which waits.
        self.run(|commands| unsafe { sorter.cmd_sort(commands, &sort) })?;
        let (sorted, moved) =
            (self.download(&on_device_keys, keys.len())?, self.download(&on_device_values, values.len())?);
        keys.copy_from_slice(&sorted);
        values.copy_from_slice(&moved);
        Ok(())
    }
}

/// Sorts keys in host memory, on a device that the first call opens.
///
/// # Errors
/// As [`Context::new`] and [`Context::sort`].
pub fn sort(keys: &mut [u32]) -> Result<()> {
    shared()?.sort(keys)
}

/// Sorts keys with values in host memory, on a device that the first call opens.
///
/// # Errors
/// As [`Context::new`] and [`Context::sort_pairs`].
pub fn sort_pairs(keys: &mut [u32], values: &mut [u32]) -> Result<()> {
    shared()?.sort_pairs(keys, values)
}
