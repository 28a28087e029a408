//! The parameters of a sorter.

use crate::core::handle::Options;
use crate::radix::{Format, ItemsInfo, MAX_NARROW_COUNT};
use crate::{Error, KeyType, Layout, Order, Placement, Result, Strategy, ValueType};

/// The parameters of [`crate::Sorter::new`]. The default: `u32` keys without values, ascending, in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SorterInfo {
    /// The key type.
    pub key: KeyType,
    /// The order of the result.
    pub order: Order,
    /// First bit to sort by, counted from the least significant bit of the encoded key. The encoding maps signed
    /// integers and floats to unsigned integers of the same order.
    pub begin_bit: u32,
    /// One past the last bit to sort by; 0: all bits from `begin_bit` on.
    pub end_bit: u32,
    /// The value type.
    pub value: ValueType,
    /// The sorted keys are not needed. The last pass does not write them, and the contents of the key array are
    /// undefined afterwards. Not available without values, since nothing would be written.
    pub drop_keys: bool,
    /// The arrays that hold the result.
    pub placement: Placement,
    /// The layout of items in the caller's arrays.
    pub layout: Layout,
    /// The sorter sorts each segment of the arrays separately: [`crate::SortInfo::segments`].
    pub segmented: bool,
    /// Maximum count of any sort. 0: 2^30. Larger maxima need 64-bit addressing, which is slightly slower.
    pub max_count: u32,
    /// The algorithm of a pass. All strategies write the same bytes.
    pub strategy: Strategy,
    /// The sorter may be used in batches with other problems ([`crate::cmd_batch`]). Needs about twice as many
    /// pipelines.
    pub batches: bool,
    /// Creation returns without pipelines. Threads that call [`crate::Sorter::compile`] create them.
    pub deferred: bool,
}

impl SorterInfo {
    /// `u32` keys without values.
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

    /// Checks the parameters, independently of a device: for tests of all valid combinations.
    #[doc(hidden)]
    #[allow(clippy::missing_errors_doc, reason = "as Sorter::new")]
    pub fn check(&self) -> Result<()> {
        self.format().map(drop)
    }

    pub(crate) fn format(&self) -> Result<Format> {
        let Self { key, order, begin_bit, end_bit, value, drop_keys, placement, layout, segmented, max_count, .. } =
            *self;
        Format::new(&ItemsInfo {
            key,
            order,
            begin_bit,
            end_bit,
            value,
            drop_keys,
            placement,
            layout,
            segmented,
            max_count,
        })
    }

    /// The format of a sorter with a user-defined comparator, without the number of its module. The comparator receives
    /// keys as they are in memory.
    pub(crate) fn format_of_comparator(&self) -> Result<Format> {
        let format = self.format()?;
        let unavailable = [
            ("keyType", format.narrow(), "keys narrower than a word have no comparator"),
            ("order", self.order != Order::Ascending, "the comparator is the order"),
            ("beginBit", format.begin_bit != 0, "comparators are of whole keys"),
            ("endBit", format.end_bit != self.key.bits(), "comparators are of whole keys"),
            ("flags", self.segmented, "sorts with a comparator have no segments"),
        ];
        if let Some((argument, _, why)) = unavailable.into_iter().find(|(_, set, _)| *set) {
            return Err(Error::Malformed { argument, why: why.to_owned() });
        }
        if format.wide() {
            let (value, limit) = (format.max_count.into(), MAX_NARROW_COUNT.into());
            return Err(Error::TooLarge { argument: "maxCount", value, limit, why: "the most keys with a comparator" });
        }
        Ok(Format { encoding: 0, ..format })
    }

    /// `u32` keys with 4-byte values.
    pub const fn pairs() -> Self {
        Self { value: ValueType::U32, ..Self::keys() }
    }

    /// Argsort: writes the indices of the keys in sorted order. The keys are not modified.
    pub const fn argsort(key: KeyType) -> Self {
        Self { key, value: ValueType::Index, drop_keys: true, placement: Placement::Preserve, ..Self::keys() }
    }

    /// The same sorter with support for batches.
    pub const fn batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// The same sorter with deferred creation of pipelines.
    pub const fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    pub(crate) const fn options(&self) -> Options {
        Options { batches: self.batches, deferred: self.deferred }
    }

    /// The same sorter with the given strategy.
    pub const fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }
}
