//! The parameters of a sorter.

use crate::core::handle::Options;
use crate::radix::{Format, ItemsInfo};
use crate::{KeyType, Layout, Order, Placement, Result, Strategy, ValueType};

/// What [`crate::Sorter::new`] makes. The default: `u32` keys alone, ascending, in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SorterInfo {
    /// The keys.
    pub key: KeyType,
    /// Which come first.
    pub order: Order,
    /// First bit that is sorted by, counted from the least significant bit of the key as it is ordered: a float's or a signed integer's
    /// sign is turned before.
    pub begin_bit: u32,
    /// One past the last bit that is sorted by; 0: the key's last.
    pub end_bit: u32,
    /// The values.
    pub value: ValueType,
    /// Sorted keys are not wanted: they are not written by the last pass, and what their array holds afterwards means nothing. Refused without
    /// values, where nothing would be left.
    pub drop_keys: bool,
    /// Where the result lies.
    pub placement: Placement,
    /// How items lie.
    pub layout: Layout,
    /// The arrays are cut into segments, each of which is sorted by itself: [`crate::SortInfo::segments`].
    pub segmented: bool,
    /// The largest count of any sort. 0: 2^30, beyond which kernels need 64-bit addresses and are a little slower.
    pub max_count: u32,
    /// How. All give the same bytes.
    pub strategy: Strategy,
    /// The sorts may be recorded together with others, by [`crate::cmd_batch`]. Takes about twice as many pipelines.
    pub batches: bool,
    /// Pipelines are created by threads that call [`crate::Sorter::compile`], not by [`crate::Sorter::new`].
    pub deferred: bool,
}

impl SorterInfo {
    /// `u32` keys alone.
    pub const fn keys() -> Self {
        Self {
            key: KeyType::U32,
            order: Order::Ascending,
            begin_bit: 0,
            end_bit: 0,
            value: ValueType::None,
            drop_keys: false,
            placement: Placement::InPlace,
            layout: Layout::Separate,
            segmented: false,
            max_count: 0,
            strategy: Strategy::Auto,
            batches: false,
            deferred: false,
        }
    }

    /// Whether there can be such a sorter, on whatever device: for tests of all that there can be.
    #[doc(hidden)]
    #[allow(clippy::missing_errors_doc, reason = "what Sorter::new tells")]
    pub fn check(&self) -> Result<()> {
        self.format().map(drop)
    }

    pub(crate) fn format(&self) -> Result<Format> {
        let Self { key, order, begin_bit, end_bit, value, drop_keys, placement, layout, segmented, max_count, .. } = *self;
        Format::new(&ItemsInfo { key, order, begin_bit, end_bit, value, drop_keys, placement, layout, segmented, max_count })
    }

    /// `u32` keys with 4-byte values.
    pub const fn pairs() -> Self {
        Self { value: ValueType::U32, ..Self::keys() }
    }

    /// The order of keys as indices into them, which are left as they were.
    pub const fn argsort(key: KeyType) -> Self {
        Self { key, value: ValueType::Index, drop_keys: true, placement: Placement::Preserve, ..Self::keys() }
    }

    /// The same for batches, too.
    pub const fn batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// The same with pipelines created later, by the caller's threads.
    pub const fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    pub(crate) const fn options(&self) -> Options {
        Options { batches: self.batches, deferred: self.deferred }
    }

    /// The same by a given strategy.
    pub const fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }
}
