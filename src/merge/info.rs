//! The parameters of a merger.

use crate::core::handle::Options;
use crate::{KeyType, Layout, Order, ValueType};

/// The result of a merger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MergeOperation {
    /// The merge of A and B. Of equal keys, those of A come first.
    #[default]
    Merge,
    /// For each key of A, the number of keys of B before it, as a `u32`: the first index where inserting the key keeps
    /// B sorted. The keys of A may have any order.
    LowerBound,
    /// For each key of A, the number of keys of B that do not come after it, as a `u32`: the last index where inserting
    /// the key keeps B sorted. The keys of A may have any order.
    UpperBound,
    /// The items that are in A or in B, sorted: of m copies of a key in A and n in B, all of A and the last max(n - m,
    /// 0) of B, as `std::set_union`.
    Union,
    /// The items of A that are also in B: of m copies in A and n in B, the first min(m, n) of A, as
    /// `std::set_intersection`.
    Intersection,
    /// The items of A that are not in B: of m copies in A and n in B, the last max(m - n, 0) of A, as
    /// `std::set_difference`.
    Difference,
    /// The items that are in one sequence only: of m copies in A and n in B, the last m - n of A or the last n - m of
    /// B, as `std::set_symmetric_difference`.
    SymmetricDifference,
    /// The merge of B and those items of A that are not marked: [`crate::MergeInfo::marks`] has a bit for each item of
    /// A.
    Update,
    /// As `Update`, with a bit for each value: an item of A is marked if its value is.
    UpdateByValue,
    /// The first item of each run of equal keys in A, as `std::unique`: a set operation of A alone. B is empty. A may
    /// have any order: items of a run are neighbors.
    Unique,
}

impl MergeOperation {
    /// Whether this is a set operation, of A and B or of A alone. Only the device knows the size of its result.
    pub const fn is_set_operation(self) -> bool {
        matches!(self, Self::Union | Self::Intersection | Self::Difference | Self::SymmetricDifference | Self::Unique)
    }

    /// Whether this is a merge without the marked items of A. Only the device knows the size of its result.
    pub const fn is_update(self) -> bool {
        matches!(self, Self::Update | Self::UpdateByValue)
    }

    /// Whether the result is a bound for each key of A.
    pub const fn is_search(self) -> bool {
        matches!(self, Self::LowerBound | Self::UpperBound)
    }
}

/// The algorithm of a merge. All of them write the same bytes. Those besides [`MergeMethod::Path`] are the kernels of
/// Kirk and Hwu, "Programming Massively Parallel Processors", chapter "Merge". They exist for comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MergeMethod {
    /// Merge path: each workgroup merges one tile of the output, and loads the items of this tile only.
    #[default]
    Path,
    /// Each thread finds its own co-rank and merges its items in device memory. One dispatch, without scratch.
    Basic,
    /// Each workgroup merges a section of the output, one tile after the other. For each tile it loads as many keys of
    /// either sequence as the tile may take, twice as many as it takes. One dispatch, without scratch.
    Tiled,
    /// As `Tiled`, with the items that a tile leaves kept in shared memory, in circular buffers.
    CircularBuffer,
}

/// The parameters of [`crate::Merger::new`]. The default: merges of `u32` keys without values, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MergerInfo {
    /// The key type: 32 to 128 bits.
    pub key: KeyType,
    /// The order of all sequences and of the result.
    pub order: Order,
    /// The value type: a multiple of 4 bytes, at most 4096. With [`ValueType::Index`], the merge writes for each item
    /// of the result the index of the item in its sequence. Items of B have the bit [`crate::SOURCE_B`] as well.
    pub value: ValueType,
    /// The resulting keys are not written, only the values. Without values only available for set operations: then only
    /// the number of items and the status are written ([`crate::MergeInfo::count_out`]).
    pub drop_keys: bool,
    /// The layout of items in all arrays. [`Layout::Interleaved`] takes values of 4 to 16 bytes and keeps keys.
    /// [`Layout::Strided`] is refused.
    pub layout: Layout,
    /// The operation. Bounds require the default value, layout and method, and keep keys. Set operations and updates
    /// require [`MergeMethod::Path`]. [`MergeOperation::UpdateByValue`] needs values of 4 bytes.
    pub operation: MergeOperation,
    /// The algorithm. Others than [`MergeMethod::Path`] merge two sequences, without segments and comparator.
    pub method: MergeMethod,
    /// Both sequences consist of segments: [`crate::MergeInfo::segments`]. For merges and updates by merge path.
    pub segmented: bool,
    /// Maximum number of sequences of one merge: 2 to 16. 0 means 2. Those after A and B are in
    /// [`crate::MergeInfo::more`]. More than two require [`MergeOperation::Merge`] by [`MergeMethod::Path`], and
    /// exclude segments, comparators and [`ValueType::Index`].
    pub sequences: u32,
    /// Maximum count of any operation, of all sequences together. 0: the largest, which is 2^32 - 1, or 2^31 with
    /// [`ValueType::Index`].
    pub max_count: u32,
    /// The merger may be used in batches with other problems ([`crate::cmd_batch`]). Needs up to twice as many
    /// pipelines.
    pub batches: bool,
    /// Creation returns without pipelines. Threads that call [`crate::Merger::compile`] create them.
    pub deferred: bool,
}

impl MergerInfo {
    /// `u32` keys without values.
    pub const fn keys() -> Self {
        Self {
            key: KeyType::U32,
            order: Order::Ascending,
            value: ValueType::None,
            drop_keys: false,
            layout: Layout::Separate,
            operation: MergeOperation::Merge,
            method: MergeMethod::Path,
            segmented: false,
            sequences: 0,
            max_count: 0,
            batches: false,
            deferred: false,
        }
    }

    /// `u32` keys with 4-byte values.
    pub const fn pairs() -> Self {
        Self { value: ValueType::U32, ..Self::keys() }
    }

    /// Lower bounds of `u32` keys.
    pub const fn lower_bound() -> Self {
        Self { operation: MergeOperation::LowerBound, ..Self::keys() }
    }

    /// Upper bounds of `u32` keys.
    pub const fn upper_bound() -> Self {
        Self { operation: MergeOperation::UpperBound, ..Self::keys() }
    }

    /// The same items with the given operation, such as [`MergeOperation::Intersection`].
    pub const fn operation(self, operation: MergeOperation) -> Self {
        Self { operation, ..self }
    }

    /// The same merger with the given algorithm.
    pub const fn method(self, method: MergeMethod) -> Self {
        Self { method, ..self }
    }

    /// The same merger for sequences of segments.
    pub const fn segmented(self) -> Self {
        Self { segmented: true, ..self }
    }

    /// The same merger for up to so many sequences.
    pub const fn sequences(self, sequences: u32) -> Self {
        Self { sequences, ..self }
    }

    /// The same merger with support for batches.
    pub const fn batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// The same merger with deferred creation of pipelines.
    pub const fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    /// Checks the parameters, independently of a device: for tests of all valid combinations.
    #[doc(hidden)]
    #[allow(clippy::missing_errors_doc, reason = "as Merger::new")]
    pub fn check(&self) -> crate::Result<()> {
        super::format::Format::new(self).map(drop)
    }

    pub(super) const fn options(&self) -> Options {
        Options { batches: self.batches, deferred: self.deferred }
    }
}
