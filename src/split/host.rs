//! Splits in one call.

use crate::host::{Context, count_of, shared};
use crate::{BucketFunction, Count, IdType, Result, SplitInfo, Splitter, SplitterInfo};

/// The bucket function of a split, with its parameters. It corresponds to [`BucketFunction`] without signs (the topmost
/// bit of a key does the same) and without user-defined functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Buckets<'a> {
    /// [`BucketFunction::Bits`]
    Bits {
        /// Number of buckets, 1 to 65,536.
        buckets: u32,
        /// The first bit of the field.
        begin_bit: u32,
    },
    /// [`BucketFunction::Range`]
    Range {
        /// Number of buckets, 1 to 65,536.
        buckets: u32,
        /// The first key of the first bucket.
        low: u32,
        /// Number of keys in each bucket, 1 or more.
        width: u32,
    },
    /// [`BucketFunction::Splitters`], in ascending order: n splitters make n + 1 buckets.
    Splitters(&'a [u32]),
    /// [`BucketFunction::Ids`]
    Ids {
        /// Number of buckets, 1 to 65,536.
        buckets: u32,
        /// The bucket of each item.
        ids: &'a [u32],
    },
}

impl<'a> Buckets<'a> {
    fn function(self) -> BucketFunction {
        match self {
            Self::Bits { begin_bit, .. } => BucketFunction::Bits { begin_bit },
            Self::Range { .. } => BucketFunction::Range,
            Self::Splitters(_) => BucketFunction::Splitters,
            Self::Ids { .. } => BucketFunction::Ids(IdType::U32),
        }
    }

    fn count(self) -> u32 {
        match self {
            Self::Bits { buckets, .. } | Self::Range { buckets, .. } | Self::Ids { buckets, .. } => buckets,
            // Splitter::new rejects larger numbers of buckets.
            Self::Splitters(splitters) => u32::try_from(splitters.len()).unwrap_or(u32::MAX).saturating_add(1),
        }
    }

    /// The words to upload: splitters or ids.
    fn words(self) -> &'a [u32] {
        match self {
            Self::Splitters(words) | Self::Ids { ids: words, .. } => words,
            Self::Bits { .. } | Self::Range { .. } => &[],
        }
    }
}

impl Context {
    /// Groups keys in host memory by bucket, stably: upload, split, download. Returns `buckets + 1` offsets: the start
    /// of each bucket, and the end of the last one. Keys without a bucket follow the last bucket.
    ///
    /// # Errors
    /// Errors of the splitter, of recording and of Vulkan; `keys` are not modified then.
    pub fn split(&self, keys: &mut [u32], buckets: Buckets<'_>) -> Result<Vec<u32>> {
        self.split_on_device(&SplitterInfo::keys(buckets.count(), buckets.function()), keys, &mut [], buckets)
    }

    /// Groups keys in host memory by bucket, as [`Context::split`], and moves values with their keys.
    ///
    /// # Errors
    /// As [`Context::split`]; [`Error::TooSmall`](crate::Error::TooSmall) or [`Error::Null`](crate::Error::Null) with
    /// fewer values than keys.
    pub fn split_pairs(&self, keys: &mut [u32], values: &mut [u32], buckets: Buckets<'_>) -> Result<Vec<u32>> {
        self.split_on_device(&SplitterInfo::pairs(buckets.count(), buckets.function()), keys, values, buckets)
    }

    fn split_on_device(
        &self,
        info: &SplitterInfo,
        keys: &mut [u32],
        values: &mut [u32],
        buckets: Buckets<'_>,
    ) -> Result<Vec<u32>> {
        let count = count_of(keys)?;
        let splitter = Splitter::new(self.device(), info)?;
        let (keys_in, values_in, words) = (self.upload(keys)?, self.upload(values)?, self.upload(buckets.words())?);
        let (keys_out, values_out) = (self.buffer(keys_in.size())?, self.buffer(values_in.size())?);
        let offsets = self.buffer(4 * (u64::from(info.buckets) + 1))?;
        let scratch = self.buffer(splitter.scratch_size(count)?)?;
        let mut split = SplitInfo {
            count: Count::host(count),
            keys: keys_in.range(),
            keys_out: keys_out.range(),
            offsets: offsets.range(),
            scratch: scratch.scratch(),
            ..SplitInfo::default()
        };
        if !values.is_empty() {
            (split.values, split.values_out) = (values_in.range(), values_out.range());
        }
        match buckets {
            Buckets::Bits { .. } => {}
            Buckets::Range { low, width, .. } => (split.low, split.width) = (low.into(), width.into()),
            Buckets::Splitters(_) => split.splitters = words.range(),
            Buckets::Ids { .. } => split.bucket_ids = words.range(),
        }
        // SAFETY: the buffers outlive run(), which waits.
        self.run(|commands| unsafe { splitter.cmd_split(commands, &split) })?;
        // Values past the number of keys are not modified.
        let moved = values.len().min(keys.len());
        let (grouped, moved) = (self.download(&keys_out, keys.len())?, self.download::<u32>(&values_out, moved)?);
        let offsets = self.download(&offsets, info.buckets as usize + 1)?;
        keys.copy_from_slice(&grouped);
        values[..moved.len()].copy_from_slice(&moved);
        Ok(offsets)
    }
}

/// Groups keys in host memory by bucket, on a device that the first call opens. Returns the start of each bucket and
/// the end of the last one.
///
/// ```no_run
/// use trommel::host::{Buckets, split};
///
/// let mut ages = vec![41, 7, 68, 12, 35];
/// let offsets = split(&mut ages, Buckets::Splitters(&[18, 65]))?;
/// assert_eq!(ages, [7, 12, 41, 35, 68]);
/// assert_eq!(offsets, [0, 2, 4, 5]);
/// # Ok::<(), trommel::Error>(())
/// ```
///
/// # Errors
/// As [`Context::new`] and [`Context::split`].
pub fn split(keys: &mut [u32], buckets: Buckets<'_>) -> Result<Vec<u32>> {
    shared()?.split(keys, buckets)
}

/// Groups keys in host memory by bucket, as [`split`], and moves values with their keys.
///
/// # Errors
/// As [`Context::new`] and [`Context::split_pairs`].
pub fn split_pairs(keys: &mut [u32], values: &mut [u32], buckets: Buckets<'_>) -> Result<Vec<u32>> {
    shared()?.split_pairs(keys, values, buckets)
}
