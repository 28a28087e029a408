//! Merges in one call.

use crate::host::{Context, count_of, shared};
use crate::{Count, Error, MergeInfo, MergeOperation, Merger, MergerInfo, Range, Result};

impl Context {
    /// Merges two sorted sequences of keys in host memory: upload, merge, download.
    ///
    /// # Errors
    /// Errors of recording and of Vulkan.
    pub fn merge(&self, a: &[u32], b: &[u32]) -> Result<Vec<u32>> {
        Ok(self.merge_on_device(&MergerInfo::keys(), [a, b], [&[], &[]])?.0)
    }

    /// Merges two sorted sequences of keys in host memory stably, and moves values with their keys. Returns the merged
    /// keys and values.
    ///
    /// # Errors
    /// As [`Context::merge`]; [`Error::TooSmall`](crate::Error::TooSmall) or [`Error::Null`](crate::Error::Null) with
    /// fewer values than keys.
    pub fn merge_pairs(&self, a: (&[u32], &[u32]), b: (&[u32], &[u32])) -> Result<(Vec<u32>, Vec<u32>)> {
        self.merge_on_device(&MergerInfo::pairs(), [a.0, b.0], [a.1, b.1])
    }

    /// For each needle, the number of keys before it in a sorted sequence in host memory.
    ///
    /// # Errors
    /// As [`Context::merge`].
    pub fn lower_bound(&self, needles: &[u32], sorted: &[u32]) -> Result<Vec<u32>> {
        Ok(self.merge_on_device(&MergerInfo::lower_bound(), [needles, sorted], [&[], &[]])?.1)
    }

    /// For each needle, the number of keys that do not come after it in a sorted sequence in host memory.
    ///
    /// # Errors
    /// As [`Context::merge`].
    pub fn upper_bound(&self, needles: &[u32], sorted: &[u32]) -> Result<Vec<u32>> {
        Ok(self.merge_on_device(&MergerInfo::upper_bound(), [needles, sorted], [&[], &[]])?.1)
    }

    /// Returns the result of a set operation on two sorted sequences of keys in host memory. Sequences are multisets.
    /// If they are not sorted, the result is unspecified. For [`MergeOperation::Unique`], `b` is empty, and `a` may
    /// have any order.
    ///
    /// # Errors
    /// As [`Context::merge`]; [`Error::Malformed`](crate::Error::Malformed) for another operation.
    pub fn set_operation(&self, operation: MergeOperation, a: &[u32], b: &[u32]) -> Result<Vec<u32>> {
        if !operation.is_set_operation() {
            let why = "it is not a set operation".to_owned();
            return Err(Error::Malformed { argument: "operation", why });
        }
        Ok(self.merge_on_device(&MergerInfo::keys().operation(operation), [a, b], [&[], &[]])?.0)
    }

    /// Returns the first key of each run of equal keys in host memory. Of sorted keys, these are all keys that occur.
    ///
    /// # Errors
    /// As [`Context::merge`].
    pub fn unique(&self, keys: &[u32]) -> Result<Vec<u32>> {
        self.set_operation(MergeOperation::Unique, keys, &[])
    }

    fn merge_on_device(
        &self,
        info: &MergerInfo,
        keys: [&[u32]; 2],
        values: [&[u32]; 2],
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        let [count_a, count_b] = [count_of(keys[0])?, count_of(keys[1])?];
        let merger = Merger::new(self.device(), info)?;
        let [keys_a, keys_b] = [self.upload(keys[0])?, self.upload(keys[1])?];
        let [values_a, values_b] = [self.upload(values[0])?, self.upload(values[1])?];
        let has_values = values.iter().any(|values| !values.is_empty());
        // Room for the largest result of any operation.
        let room = (keys[0].len() + keys[1].len()) as u64 * 4;
        let [keys_out, values_out, count_out] = [self.buffer(room)?, self.buffer(room)?, self.buffer(4)?];
        let scratch = self.buffer(merger.scratch_size(count_a.saturating_add(count_b))?)?;
        let range = |words: &[u32], range| if words.is_empty() { Range::NONE } else { range };
        let merge = MergeInfo {
            count_a: Count::host(count_a),
            count_b: Count::host(count_b),
            keys_a: range(keys[0], keys_a.range()),
            values_a: range(values[0], values_a.range()),
            keys_b: range(keys[1], keys_b.range()),
            values_b: range(values[1], values_b.range()),
            keys_out: keys_out.range(),
            values_out: values_out.range(),
            scratch: scratch.scratch(),
            count_out: count_out.address(),
            ..MergeInfo::default()
        };
        // SAFETY: the buffers outlive run(), which waits.
        self.run(|commands| unsafe { merger.cmd_merge(commands, &merge) })?;
        let found = self.download::<u32>(&count_out, 1)?[0] as usize;
        let is_search = info.operation.is_search();
        let written = |is_written: bool| if is_written { found } else { 0 };
        Ok((
            self.download(&keys_out, written(!is_search))?,
            self.download(&values_out, written(is_search || has_values))?,
        ))
    }
}

/// Merges two sorted sequences of keys in host memory, on a device that the first call opens.
///
/// # Errors
/// As [`Context::new`] and [`Context::merge`].
pub fn merge(a: &[u32], b: &[u32]) -> Result<Vec<u32>> {
    shared()?.merge(a, b)
}

/// Merges two sorted sequences of keys with values in host memory, on a device that the first call opens. Each sequence
/// is (keys, values), and so is the result.
///
/// # Errors
/// As [`Context::new`] and [`Context::merge_pairs`].
pub fn merge_pairs(a: (&[u32], &[u32]), b: (&[u32], &[u32])) -> Result<(Vec<u32>, Vec<u32>)> {
    shared()?.merge_pairs(a, b)
}

/// The lower bound of each needle in a sorted sequence in host memory, on a device that the first call opens.
///
/// # Errors
/// As [`Context::new`] and [`Context::lower_bound`].
pub fn lower_bound(needles: &[u32], sorted: &[u32]) -> Result<Vec<u32>> {
    shared()?.lower_bound(needles, sorted)
}

/// The upper bound of each needle in a sorted sequence in host memory, on a device that the first call opens.
///
/// # Errors
/// As [`Context::new`] and [`Context::upper_bound`].
pub fn upper_bound(needles: &[u32], sorted: &[u32]) -> Result<Vec<u32>> {
    shared()?.upper_bound(needles, sorted)
}

/// The union of two sorted multisets in host memory, on a device that the first call opens: as `std::set_union` in C++.
///
/// # Errors
/// As [`Context::new`] and [`Context::set_operation`].
pub fn set_union(a: &[u32], b: &[u32]) -> Result<Vec<u32>> {
    shared()?.set_operation(MergeOperation::Union, a, b)
}

/// The intersection of two sorted multisets in host memory, on a device that the first call opens: as
/// `std::set_intersection` in C++.
///
/// # Errors
/// As [`Context::new`] and [`Context::set_operation`].
pub fn set_intersection(a: &[u32], b: &[u32]) -> Result<Vec<u32>> {
    shared()?.set_operation(MergeOperation::Intersection, a, b)
}

/// The items of a sorted multiset in host memory that are not in another one, on a device that the first call opens: as
/// `std::set_difference` in C++.
///
/// # Errors
/// As [`Context::new`] and [`Context::set_operation`].
pub fn set_difference(a: &[u32], b: &[u32]) -> Result<Vec<u32>> {
    shared()?.set_operation(MergeOperation::Difference, a, b)
}

/// The items that are in one of two sorted multisets in host memory only, on a device that the first call opens: as
/// `std::set_symmetric_difference` in C++.
///
/// # Errors
/// As [`Context::new`] and [`Context::set_operation`].
pub fn set_symmetric_difference(a: &[u32], b: &[u32]) -> Result<Vec<u32>> {
    shared()?.set_operation(MergeOperation::SymmetricDifference, a, b)
}

/// The first key of each run of equal keys in host memory, on a device that the first call opens: as `std::unique` in
/// C++. Of sorted keys, these are all keys that occur.
///
/// # Errors
/// As [`Context::new`] and [`Context::unique`].
pub fn unique(keys: &[u32]) -> Result<Vec<u32>> {
    shared()?.unique(keys)
}
