//! Operations on hash tables as data: the table, its keys, and the batch.

use super::layout::{EARLIER_KEYS, KEYS, QUERIES, SLICE_SLOTS, SMALL_TABLE, narrow};
use crate::inputs::Keys;
use trommel::{HashOperation, HashScheme, HasherInfo};

/// Occurrences of each key, on average, where they are counted.
const REPEATS: u32 = 64;
/// Values of each key of a multimap, on average.
const VALUES_PER_KEY: u32 = 8;

/// What a case times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// An insertion into an empty table.
    Insert,
    /// An insertion of other keys into a table with so many slots.
    InsertInto(u32),
    /// An insertion into an empty table, which writes the values of the table.
    FindOrInsert,
    /// An insertion into an empty multimap: `VALUES_PER_KEY` values of each key, on average.
    InsertRepeated,
    /// An assignment of other values to all keys of the table.
    Assign,
    /// An addition to the values of all keys of the table.
    Add,
    /// The occurrences of keys are counted in an empty table: `REPEATS` of each key, on average.
    Increment,
    /// A random operation on each key of the table: a search, an insertion, an assignment or an erasure.
    Mixed,
    /// An erasure of half of the keys of the table.
    EraseHalf,
    /// An erasure of the keys with values up to `MOST_SELECTED`.
    EraseIf,
    /// A search for all keys of the table.
    FindHits,
    /// A search for as many keys that the table does not have.
    FindMisses,
    /// The numbers of values of all keys of a multimap. The items are its distinct keys.
    CountValues,
    /// The values of all keys of a multimap. The items are the values.
    Retrieve,
    /// An export of all keys of the table and their values: pairs of words.
    Export,
    /// An export of those with values up to `MOST_SELECTED`. The items are the keys of the table.
    ExportIf,
    /// All keys of the table move to another one with twice as many slots.
    Rehash,
    /// The table gets twice as many slots.
    Grow,
    /// The table could get more slots, but has enough.
    StayAsIs,
    /// The clearing of a table with so many slots as the case has items.
    Clear,
    /// The statistics of a table with so many keys as the case has items.
    Statistics,
}

/// Operations on tables of distinct random keys, or on multimaps of random keys. The items of a case are those of the
/// timed batch, unless [`Action`] names others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashing {
    pub(super) info: HasherInfo,
    pub(super) action: Action,
    /// Percent of the slots that are in use: after the insertion, or before all other operations.
    load: u32,
    /// The operation may run at the same time as others.
    pub(super) concurrent: bool,
    /// The operation is for about half of the keys.
    pub(super) stencil: bool,
}

impl Hashing {
    /// Operations on a table without free slots.
    pub(super) fn new(info: HasherInfo, action: Action) -> Self {
        Self { info, action, load: 100, concurrent: false, stencil: false }
    }

    /// The same with another load, in percent.
    pub(super) fn load(self, load: u32) -> Self {
        Self { load, ..self }
    }

    /// The same with an operation that may run at the same time as others.
    pub(super) fn concurrent(self) -> Self {
        Self { concurrent: true, ..self }
    }

    /// The same with an operation for about half of the keys.
    pub(super) fn stencil(self) -> Self {
        Self { stencil: true, ..self }
    }

    pub(super) fn operation(&self) -> HashOperation {
        match self.action {
            Action::Insert | Action::InsertInto(_) | Action::InsertRepeated => HashOperation::Insert,
            Action::FindOrInsert => HashOperation::FindOrInsert,
            Action::Assign => HashOperation::Assign,
            Action::Add => HashOperation::Add,
            Action::Increment => HashOperation::Increment,
            Action::Mixed => HashOperation::Mixed,
            Action::EraseHalf => HashOperation::Erase,
            Action::EraseIf => HashOperation::EraseIf,
            Action::FindHits | Action::FindMisses => HashOperation::Find,
            Action::CountValues => HashOperation::Count,
            Action::Retrieve => HashOperation::Retrieve,
            Action::Export => HashOperation::Export,
            Action::ExportIf => HashOperation::ExportIf,
            Action::Rehash => HashOperation::Rehash,
            Action::Grow | Action::StayAsIs => HashOperation::Resize,
            Action::Clear => HashOperation::Clear,
            Action::Statistics => HashOperation::Statistics,
        }
    }

    /// The operations that write what the check reads, after the timed one.
    pub(super) fn inspections(&self) -> &'static [HashOperation] {
        use HashOperation::{Find, Retrieve, Statistics};
        match self.action {
            Action::Insert if self.info.multimap => &[Find, Statistics],
            Action::Grow | Action::StayAsIs => &[Find, Statistics],
            Action::InsertRepeated => &[Retrieve],
            Action::Insert
            | Action::InsertInto(_)
            | Action::Assign
            | Action::Add
            | Action::Increment
            | Action::EraseHalf
            | Action::EraseIf
            | Action::Rehash => &[Find],
            Action::FindOrInsert
            | Action::Mixed
            | Action::FindHits
            | Action::FindMisses
            | Action::CountValues
            | Action::Retrieve
            | Action::Export
            | Action::ExportIf
            | Action::Clear
            | Action::Statistics => &[],
        }
    }

    /// Whether the timed operation or an inspection is this one.
    pub(super) fn runs(&self, operation: HashOperation) -> bool {
        self.operation() == operation || self.inspections().contains(&operation)
    }

    /// Whether the check reads bits.
    pub(super) fn has_bits(&self) -> bool {
        match self.action {
            Action::FindHits | Action::FindMisses => self.info.value.size() == 0,
            Action::FindOrInsert | Action::Mixed => true,
            _ => self.runs(HashOperation::Find),
        }
    }

    /// Items that the table has before a batch of `n`.
    pub(super) fn earlier(&self, n: u32) -> u32 {
        match self.action {
            Action::Insert | Action::FindOrInsert | Action::InsertRepeated | Action::Increment | Action::Clear => 0,
            Action::InsertInto(slots) => narrow(u64::from(slots) * u64::from(self.load) / 100),
            Action::EraseHalf => n.saturating_mul(2),
            Action::CountValues => n.saturating_mul(VALUES_PER_KEY),
            Action::Assign
            | Action::Add
            | Action::Mixed
            | Action::EraseIf
            | Action::FindHits
            | Action::FindMisses
            | Action::Retrieve
            | Action::Export
            | Action::ExportIf
            | Action::Rehash
            | Action::Grow
            | Action::StayAsIs
            | Action::Statistics => n,
        }
    }

    /// Bits of the keys of a batch of `n` in which keys repeat.
    pub(super) fn repeated_bits(&self, n: u32) -> u32 {
        let repeats = if self.action == Action::Increment { REPEATS } else { VALUES_PER_KEY };
        (self.earlier(n).max(n) / repeats).max(1).ilog2()
    }

    /// The slots that a batch of `n` needs for the load.
    pub(super) fn slots(&self, n: u32) -> u32 {
        match self.action {
            Action::InsertInto(slots) => slots,
            Action::Increment => self.slots_for(1 << self.repeated_bits(n)),
            _ => self.slots_for(self.earlier(n).max(n)),
        }
    }

    /// Slots that so many keys fill to the load.
    fn slots_for(&self, keys: u32) -> u32 {
        narrow((u64::from(keys) * 100).div_ceil(self.load.into()))
    }

    /// The slots of the table that the library makes of these.
    pub(super) fn table_slots(&self, n: u32) -> u32 {
        let slots = u64::from(self.slots(n)).next_multiple_of(SLICE_SLOTS.into());
        narrow(if self.info.scheme == HashScheme::Linear { slots.next_power_of_two() } else { slots })
    }

    /// The slots of the table that the operation leaves.
    pub(super) fn slots_after(&self, n: u32) -> u32 {
        let is_larger = matches!(self.action, Action::Rehash | Action::Grow);
        if is_larger { self.table_slots(n).saturating_mul(2) } else { self.table_slots(n) }
    }

    /// The slots that the table has memory for.
    pub(super) fn capacity(&self, n: u32) -> u32 {
        match self.action {
            Action::Grow | Action::StayAsIs => self.table_slots(n).saturating_mul(2),
            _ => self.slots(n),
        }
    }

    /// The slots of a resizable table at first. 0: its capacity.
    pub(super) fn min_capacity(&self, n: u32) -> u32 {
        if self.operation() == HashOperation::Resize { self.slots(n) } else { 0 }
    }

    /// The number of keys that a resizable table is to have room for. All slots would be in use with those that grow
    /// it.
    pub(super) fn reserve(&self, n: u32) -> u32 {
        if self.action == Action::Grow { self.table_slots(n).saturating_sub(n) } else { 0 }
    }

    /// The keys of a batch of `n`. None: the operation reads no batch.
    pub(super) fn keys(&self, n: u32) -> Option<Keys> {
        match self.action {
            Action::Insert | Action::InsertInto(_) | Action::FindOrInsert | Action::FindMisses => {
                Some(Keys::Distinct(self.earlier(n)))
            }
            Action::Assign | Action::Add | Action::Mixed | Action::EraseHalf | Action::FindHits => {
                Some(Keys::Shuffled(self.earlier(n)))
            }
            Action::InsertRepeated | Action::Increment => Some(Keys::LowBits(self.repeated_bits(n))),
            Action::EraseIf
            | Action::CountValues
            | Action::Retrieve
            | Action::Export
            | Action::ExportIf
            | Action::Rehash
            | Action::Grow
            | Action::StayAsIs
            | Action::Clear
            | Action::Statistics => None,
        }
    }

    /// The keys that the table has before.
    pub(super) fn earlier_keys(&self, n: u32) -> Keys {
        let repeat = matches!(self.action, Action::CountValues | Action::Retrieve);
        if repeat { Keys::LowBits(self.repeated_bits(n)) } else { Keys::Distinct(0) }
    }

    /// The array of the keys that are looked up by the operation or for the check, and the number of them.
    pub(super) fn queries(&self, n: u32) -> (usize, u32) {
        match self.action {
            Action::EraseHalf | Action::EraseIf | Action::Rehash | Action::Grow | Action::StayAsIs => {
                (EARLIER_KEYS, self.earlier(n))
            }
            Action::CountValues => (QUERIES, n),
            Action::InsertRepeated | Action::Retrieve => (QUERIES, 1 << self.repeated_bits(n)),
            _ => (KEYS, n),
        }
    }

    /// The number of values that are written.
    pub(super) fn results(&self, n: u32) -> u32 {
        match self.action {
            Action::Clear | Action::Statistics | Action::CountValues => 0,
            Action::InsertRepeated | Action::Retrieve => n,
            _ => self.queries(n).1,
        }
    }

    /// A hasher that runs alone.
    pub(super) fn hasher_info(&self, n: u32, operation: HashOperation) -> HasherInfo {
        let is_small = self.capacity(n).max(self.slots_after(n)) <= SMALL_TABLE;
        let max_capacity = if is_small { SMALL_TABLE } else { 0 };
        HasherInfo { max_capacity, ..self.info.operation(operation) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINEAR: HasherInfo = HasherInfo::pairs().linear();

    #[test]
    fn tables_that_grow_get_twice_as_many_slots() {
        for (info, n, slots) in [
            (HasherInfo::pairs(), 1 << 16, 80 << 10),
            (LINEAR, 1 << 16, 1 << 17),
            (LINEAR, 107_374_182, 1 << 27),
            (HasherInfo::pairs(), 107_374_182, 1 << 27),
        ] {
            let work = |action| Hashing::new(info.resizable(), action).load(80);
            let (grows, stays) = (work(Action::Grow), work(Action::StayAsIs));
            assert_eq!(grows.table_slots(n), slots);
            assert_eq!([grows.capacity(n), grows.slots_after(n)], [2 * slots; 2]);
            assert_eq!([stays.capacity(n), stays.slots_after(n)], [2 * slots, slots]);
            assert!(grows.min_capacity(n) <= slots && n + grows.reserve(n) == slots);
            let rehash = Hashing::new(info, Action::Rehash).load(80);
            assert_eq!([rehash.table_slots(n), rehash.slots_after(n)], [slots, 2 * slots]);
        }
    }

    #[test]
    fn keys_of_multimaps_repeat() {
        let work = |action| Hashing::new(LINEAR.multimap(), action).load(50);
        for (action, n) in
            [(Action::InsertRepeated, 1 << 26), (Action::Retrieve, 1 << 26), (Action::CountValues, 1 << 23)]
        {
            let work = work(action);
            assert_eq!((work.repeated_bits(n), work.slots(n)), (23, 1 << 27), "{action:?}");
            assert_eq!(work.queries(n), (QUERIES, 1 << 23), "{action:?}");
        }
        assert_eq!(Hashing::new(LINEAR, Action::Increment).repeated_bits(1 << 26), 20);
    }
}
