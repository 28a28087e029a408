//! One operation on a table: handles, arguments, check.

use super::handle::HashStep;
use crate::arrays::{ArrayInfo, Contents, Memory, Table};
use crate::handles::Handles;
use crate::inputs::{Content, Field, Keys, Source, shuffled};
use crate::verify::Column;
use crate::workload::{Operation, Step, Workload};
use std::sync::Arc;
use trommel::{Count, HashInfo, HashOperation, HashStatistics, Hasher, HasherInfo, Range};

// Numbers of arrays: the batch, the items that the table has before it, the table, and the values found.
const KEYS: usize = 0;
const VALUES: usize = 1;
const EARLIER_KEYS: usize = 2;
const EARLIER_VALUES: usize = 3;
const TABLE: usize = 4;
const RESULTS: usize = 5;
// Numbers of tables: a bit for each key, whether it has been found, the number of keys without a slot, and statistics.
const FOUND: usize = 0;
const LEFTOVERS: usize = 1;
const STATISTICS: usize = 2;

/// Bytes of a block. Tables consist of whole blocks.
const BLOCK: u32 = 16;
/// Words before the slots of a table.
const HEADER_WORDS: usize = 64;
/// The word of the header with the number of slices.
const SLICES: usize = 1;
/// Slots of the tables that hashers for small tables take.
const SMALL_TABLE: u32 = 1 << 18;

/// Occurrences of each key, on average, where they are counted.
const REPEATS: u32 = 64;

/// What a case times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// An insertion into an empty table.
    Insert,
    /// An insertion of other keys into a table with so many slots.
    InsertInto(u32),
    /// An assignment of other values to all keys of the table.
    Assign,
    /// An addition to the values of all keys of the table.
    Add,
    /// The occurrences of keys are counted in an empty table: `REPEATS` of each key, on average.
    Count,
    /// An erasure of half of the keys of the table.
    EraseHalf,
    /// A search for all keys of the table.
    FindHits,
    /// A search for as many keys that the table does not have.
    FindMisses,
    /// An export of all keys of the table and their values: pairs of words.
    Export,
    /// The clearing of a table with so many slots as the case has items.
    Clear,
    /// The statistics of a table with so many keys as the case has items.
    Statistics,
}

/// Operations on tables of distinct random keys. The items of a case are those of the timed batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashing {
    info: HasherInfo,
    action: Action,
    /// Percent of the slots that are in use: after the insertion, or before all other operations.
    load: u32,
    /// The operation may run at the same time as others.
    concurrent: bool,
}

impl Hashing {
    /// Operations on a table without free slots.
    pub(super) fn new(info: HasherInfo, action: Action) -> Self {
        Self { info, action, load: 100, concurrent: false }
    }

    /// The same with another load, in percent.
    pub(super) fn load(self, load: u32) -> Self {
        Self { load, ..self }
    }

    /// The same with an operation that may run at the same time as others.
    pub(super) fn concurrent(self) -> Self {
        Self { concurrent: true, ..self }
    }

    fn operation(&self) -> HashOperation {
        match self.action {
            Action::Insert | Action::InsertInto(_) => HashOperation::Insert,
            Action::Assign => HashOperation::Assign,
            Action::Add => HashOperation::Add,
            Action::Count => HashOperation::Increment,
            Action::EraseHalf => HashOperation::Erase,
            Action::FindHits | Action::FindMisses => HashOperation::Find,
            Action::Export => HashOperation::Export,
            Action::Clear => HashOperation::Clear,
            Action::Statistics => HashOperation::Statistics,
        }
    }

    /// Items that the table has before a batch of `n`.
    fn earlier(&self, n: u32) -> u32 {
        match self.action {
            Action::Insert | Action::Clear | Action::Count => 0,
            Action::InsertInto(slots) => narrow(u64::from(slots) * u64::from(self.load) / 100),
            Action::EraseHalf => n.saturating_mul(2),
            Action::Assign
            | Action::Add
            | Action::FindHits
            | Action::FindMisses
            | Action::Export
            | Action::Statistics => n,
        }
    }

    /// Bits of the keys of a batch of `n` that is counted.
    fn counted_bits(n: u32) -> u32 {
        (n / REPEATS).max(1).ilog2()
    }

    /// Slots of the table of a batch of `n`.
    pub(super) fn capacity(&self, n: u32) -> u32 {
        match self.action {
            Action::InsertInto(slots) => slots,
            Action::Count => self.slots_for(1 << Self::counted_bits(n)),
            _ => self.slots_for(self.earlier(n).max(n)),
        }
    }

    /// Slots that so many keys fill to the load.
    fn slots_for(&self, keys: u32) -> u32 {
        narrow((u64::from(keys) * 100).div_ceil(self.load.into()))
    }

    /// The keys of a batch of `n`.
    fn keys(&self, n: u32) -> Keys {
        match self.action {
            Action::Insert
            | Action::InsertInto(_)
            | Action::FindMisses
            | Action::Export
            | Action::Clear
            | Action::Statistics => Keys::Distinct(self.earlier(n)),
            Action::Assign | Action::Add | Action::EraseHalf | Action::FindHits => Keys::Shuffled(self.earlier(n)),
            Action::Count => Keys::LowBits(Self::counted_bits(n)),
        }
    }

    /// The keys that are looked up for the check, and the number of them.
    fn queries(&self, n: u32) -> (usize, u32) {
        if self.action == Action::EraseHalf { (EARLIER_KEYS, self.earlier(n)) } else { (KEYS, n) }
    }

    fn has_values(&self) -> bool {
        self.info.value.size() != 0
    }

    fn is_search(&self) -> bool {
        self.operation() == HashOperation::Find
    }

    /// A hasher that runs alone.
    fn hasher_info(&self, n: u32, operation: HashOperation) -> HasherInfo {
        let max_capacity = if self.capacity(n) <= SMALL_TABLE { SMALL_TABLE } else { 0 };
        HasherInfo { max_capacity, ..self.info.operation(operation) }
    }

    /// Checks that the `n` exported pairs are those of the table. Inputs may be those of a larger case.
    fn check_export(n: u32, contents: &Contents) -> Result<(), String> {
        let pairs = |arrays: &[Option<Arc<Vec<u32>>>], numbers: [usize; 2]| -> Option<Vec<u64>> {
            let [keys, values] = numbers.map(|number| arrays.get(number).cloned().flatten());
            let both = |(key, value): (&u32, &u32)| u64::from(*key) << 32 | u64::from(*value);
            let mut pairs: Vec<u64> = keys?.iter().zip(values?.iter()).take(n as usize).map(both).collect();
            pairs.sort_unstable();
            Some(pairs)
        };
        let exported = pairs(&contents.outputs, [KEYS, RESULTS]).ok_or("no pairs")?;
        let expected = pairs(&contents.inputs, [EARLIER_KEYS, EARLIER_VALUES]).ok_or("no input")?;
        if [exported.len(), expected.len()] != [n as usize; 2] {
            return Err(format!("{} pairs are exported, not {n}", exported.len()));
        }
        match exported.iter().zip(&expected).find(|(pair, expected)| pair != expected) {
            Some((pair, expected)) => Err(format!("the pair {pair:#x} is exported, not {expected:#x}")),
            None => Ok(()),
        }
    }

    /// Checks that a cleared table has no keys.
    fn check_empty(words: &[u32]) -> Result<(), String> {
        let slices = words.get(SLICES).ok_or("no table")?;
        // A bit for each slice, in whole buckets.
        let marks = HEADER_WORDS..HEADER_WORDS + slices.div_ceil(32).next_multiple_of(16) as usize;
        let slots = words.get(marks.end..).ok_or("no slots")?;
        if words[marks].iter().any(|word| *word != 0) {
            return Err("a slice has keys in an overflow slice".into());
        }
        match slots.iter().position(|word| *word != u32::MAX) {
            Some(word) => Err(format!("word {word} of the slots is {:#010x}", slots[word])),
            None => Ok(()),
        }
    }
}

/// A number of items or slots. Numbers that are too large for a table stay so.
fn narrow(wide: u64) -> u32 {
    u32::try_from(wide).unwrap_or(u32::MAX)
}

impl Workload for Hashing {
    /// As the peers count: a key and a value. The slots of the table are not counted.
    fn bytes_per_item(&self) -> u32 {
        let (key, value) = (self.info.key.size(), self.info.value.size());
        match self.action {
            Action::EraseHalf | Action::Count => key,
            // A bit for each key of a set is less than a byte.
            _ => key + value,
        }
    }

    /// The slots, if the size of the table does not follow from the case.
    fn prepared_items(&self, _n: u32) -> u32 {
        if let Action::InsertInto(slots) = self.action { slots } else { 0 }
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        let mut hasher = |operation| handles.get(self.hasher_info(n, operation));
        Ok(Box::new(HashWork {
            work: *self,
            n,
            clearer: hasher(HashOperation::Clear)?,
            inserter: hasher(HashOperation::Insert)?,
            finder: hasher(HashOperation::Find)?,
            hasher: handles.get(HasherInfo { concurrent: self.concurrent, ..self.hasher_info(n, self.operation()) })?,
        }))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        if self.action == Action::Clear {
            let words = contents.outputs.get(TABLE).cloned().flatten().ok_or("no table")?;
            return Self::check_empty(&words);
        }
        if self.action == Action::Export {
            return Self::check_export(n, contents);
        }
        if self.action == Action::Statistics {
            let keys = contents.tables.get(STATISTICS).and_then(|words| words.as_ref()?.first());
            return if keys == Some(&n) { Ok(()) } else { Err(format!("the table has {keys:?} keys, not {n}")) };
        }
        let [found, leftovers] = [FOUND, LEFTOVERS].map(|table| contents.tables.get(table).and_then(Option::as_ref));
        if let Some(count) = leftovers.and_then(|words| words.first())
            && *count != 0
        {
            return Err(format!("{count} keys have found no slot"));
        }
        let size = self.info.value.size() as usize;
        let column = |words: Option<&Option<Arc<Vec<u32>>>>| {
            let words = words.cloned().flatten()?;
            Some(Column { words, first: 0, stride: size, size })
        };
        let [values, earlier] = [VALUES, EARLIER_VALUES].map(|array| column(contents.inputs.get(array)));
        let results = column(contents.outputs.get(RESULTS));
        if found.is_none() && results.is_none() {
            return Err("neither values nor bits".into());
        }
        let (_, queries) = self.queries(n);
        let mut erased = vec![false; if self.action == Action::EraseHalf { queries as usize } else { 0 }];
        if self.action == Action::EraseHalf {
            (0..n).for_each(|index| erased[shuffled(index, queries) as usize] = true);
        }
        // The occurrences of each key.
        let mask = (1 << Self::counted_bits(n)) - 1;
        let mut counts = vec![0u32; if self.action == Action::Count { mask as usize + 1 } else { 0 }];
        let keys = contents.inputs.get(KEYS).and_then(Option::as_ref).filter(|_| self.action == Action::Count);
        let key = |query: u32| keys.map_or(0, |keys| keys[query as usize] & mask) as usize;
        if self.action == Action::Count {
            (0..n).for_each(|query| counts[key(query)] += 1);
        }
        for query in 0..queries {
            // The item with the value of the key, if the table has it.
            let item = match self.action {
                Action::FindMisses => None,
                Action::FindHits => Some((&earlier, shuffled(query, n))),
                Action::EraseHalf => Some((&earlier, query)).filter(|_| !erased[query as usize]),
                _ => Some((&values, query)),
            };
            if let Some(found) = found {
                let found = found[query as usize / 32] >> (query % 32) & 1;
                if found != u32::from(item.is_some()) {
                    return Err(format!("key {query} is {}", if found == 0 { "missing" } else { "found" }));
                }
            }
            let Some(results) = &results else { continue };
            let result = results.item(query as usize);
            let one_word = |column: &Option<Column>, index: u32| column.as_ref()?.item(index as usize).next();
            let is_right = match item {
                _ if self.action == Action::Count => result.eq([counts[key(query)]]),
                _ if self.action == Action::Add => {
                    let words = (one_word(&earlier, shuffled(query, n)), one_word(&values, query));
                    let (Some(earlier), Some(added)) = words else { return Err("no values".into()) };
                    result.eq([earlier.wrapping_add(added)])
                }
                Some((values, index)) => result.eq(values.as_ref().ok_or("no values")?.item(index as usize)),
                None => result.eq(std::iter::repeat_n(u32::MAX, size / 4)),
            };
            if !is_right {
                let words: Vec<_> = results.item(query as usize).collect();
                return Err(format!("the value of key {query} is {words:#x?}"));
            }
        }
        Ok(())
    }

    /// The same: keys of a table are distinct.
    fn with_keys(&self, _keys: Keys) -> Arc<dyn Workload> {
        Arc::new(*self)
    }
}

/// An operation on a table with its handles.
struct HashWork {
    work: Hashing,
    n: u32,
    clearer: Hasher,
    inserter: Hasher,
    finder: Hasher,
    hasher: Hasher,
}

impl HashWork {
    fn info(&self, memory: &Memory) -> HashInfo {
        HashInfo {
            table: memory.whole(TABLE, 0),
            capacity: self.work.capacity(self.n),
            scratch: memory.scratch(),
            ..HashInfo::default()
        }
    }

    /// A search for `count` keys. `found`: whether a bit for each is wanted.
    fn search(&self, memory: &Memory, keys: usize, count: u32, found: bool) -> HashInfo {
        HashInfo {
            count: Count::host(count),
            keys: memory.whole(keys, 0),
            values: memory.whole(RESULTS, 1),
            found: if found { memory.table(FOUND) } else { Range::NONE },
            ..self.info(memory)
        }
    }

    /// Whether the check reads bits.
    fn has_bits(&self) -> bool {
        match self.work.action {
            Action::Clear | Action::Export | Action::Statistics => false,
            Action::FindHits | Action::FindMisses => !self.work.has_values(),
            _ => true,
        }
    }
}

impl Operation for HashWork {
    fn arrays(&self) -> Vec<ArrayInfo> {
        let (work, n) = (&self.work, self.n);
        let (key, value) = (work.info.key.size(), work.info.value.size());
        let input = |content, size: u32, items: u32| {
            if items == 0 || size == 0 {
                return ArrayInfo::default();
            }
            let fields = vec![Field { content, size }];
            ArrayInfo {
                fields,
                stride: size,
                sides: [true, false],
                capacity: items,
                items: Some(items),
                ..ArrayInfo::default()
            }
        };
        let has_batch = !matches!(work.action, Action::Clear | Action::Statistics);
        let (earlier, batch) = (work.earlier(n), if has_batch { n } else { 0 });
        let reads_values = work.operation().reads_values();
        let blocks = narrow(self.clearer.table_size(work.capacity(n)) / u64::from(BLOCK));
        let (_, queries) = work.queries(n);
        let exported =
            ArrayInfo { stride: key, sides: [true, true], capacity: batch, items: Some(batch), ..ArrayInfo::default() };
        let is_export = work.action == Action::Export;
        vec![
            if is_export { exported } else { input(Content::Keys(work.keys(n)), key, batch) },
            input(Content::Values, if reads_values { value } else { 0 }, batch),
            input(Content::Keys(Keys::Distinct(0)), key, earlier),
            input(Content::Values, value, earlier),
            ArrayInfo {
                stride: BLOCK,
                sides: [true, false],
                capacity: blocks,
                items: Some(blocks),
                ..ArrayInfo::default()
            },
            ArrayInfo {
                stride: value,
                sides: [false, has_batch && value != 0],
                capacity: queries,
                items: Some(queries),
                ..ArrayInfo::default()
            },
        ]
    }

    fn tables(&self, _inputs: &[Option<Arc<Source>>]) -> Vec<Table> {
        let (_, queries) = self.work.queries(self.n);
        let output = |exists: bool, words: u32| if exists { Table::Output(words.into()) } else { Table::Absent };
        let counts = self.work.operation().inserts() || self.work.action == Action::Export;
        let is_statistics = self.work.action == Action::Statistics;
        vec![
            output(self.has_bits(), queries.div_ceil(32)),
            output(counts, 1),
            output(is_statistics, narrow(size_of::<HashStatistics>() as u64 / 4)),
        ]
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        if self.work.action == Action::Clear {
            return Ok(0);
        }
        let earlier = self.inserter.scratch_size(self.work.earlier(self.n))?;
        Ok(earlier.max(self.hasher.scratch_size(self.n)?))
    }

    fn preparation<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        let clear = HashStep { hasher: &self.clearer, info: self.info(memory) };
        let earlier = self.work.earlier(self.n);
        let info = HashInfo {
            count: Count::host(earlier),
            keys: memory.whole(EARLIER_KEYS, 0),
            values: memory.whole(EARLIER_VALUES, 0),
            ..self.info(memory)
        };
        let insert = (earlier != 0).then_some(HashStep { hasher: &self.inserter, info });
        [Some(clear), insert].into_iter().flatten().map(|step| -> Box<dyn Step + 'a> { Box::new(step) }).collect()
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        let info = match self.work.operation() {
            HashOperation::Clear => self.info(memory),
            HashOperation::Statistics => HashInfo { statistics: memory.table(STATISTICS), ..self.info(memory) },
            HashOperation::Find => self.search(memory, KEYS, self.n, self.has_bits()),
            HashOperation::Export => HashInfo {
                keys: memory.whole(KEYS, 1),
                count_out: memory.table(LEFTOVERS).address,
                ..self.search(memory, KEYS, self.n, false)
            },
            _ => HashInfo {
                count: Count::host(self.n),
                keys: memory.whole(KEYS, 0),
                values: memory.whole(VALUES, 0),
                leftover_count: memory.table(LEFTOVERS).address,
                ..self.info(memory)
            },
        };
        vec![Box::new(HashStep { hasher: &self.hasher, info })]
    }

    fn inspection<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        if self.work.is_search() || !self.has_bits() {
            return Vec::new();
        }
        let (keys, count) = self.work.queries(self.n);
        vec![Box::new(HashStep { hasher: &self.finder, info: self.search(memory, keys, count, true) })]
    }

    fn output_sides(&self) -> Vec<usize> {
        // A table is only read where it is cleared: its layout is the library's.
        let table = if self.work.action == Action::Clear { 0 } else { 1 };
        vec![1, 1, 1, 1, table, 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(action: Action, results: &[u32], found: Option<&[u32]>, leftovers: Option<u32>) -> Contents {
        let array = |words: &[u32]| Some(Arc::new(words.to_vec()));
        let earlier = if action == Action::EraseHalf { array(&[1, 2, 3, 4]) } else { array(&[1, 2]) };
        let inputs = vec![None, array(&[7, 8]), None, earlier, None, None];
        let outputs = vec![None, None, None, None, None, array(results)];
        Contents { inputs, outputs, tables: vec![found.map(<[u32]>::to_vec), leftovers.map(|count| vec![count])] }
    }

    fn check(action: Action, results: &[u32], found: Option<&[u32]>, leftovers: Option<u32>) -> Result<(), String> {
        Hashing::new(HasherInfo::pairs(), action).check(2, &contents(action, results, found, leftovers))
    }

    #[test]
    fn insertions_and_assignments_leave_the_values_of_the_batch() {
        for action in [Action::Insert, Action::InsertInto(9), Action::Assign] {
            assert_eq!(check(action, &[7, 8], Some(&[3]), Some(0)), Ok(()));
            assert_eq!(check(action, &[7, 8], Some(&[1]), Some(0)), Err("key 1 is missing".into()));
            assert_eq!(check(action, &[7, 8], Some(&[3]), Some(1)), Err("1 keys have found no slot".into()));
            assert!(check(action, &[7, 2], Some(&[3]), Some(0)).is_err(), "an earlier value");
        }
    }

    #[test]
    fn combined_values_are_sums_and_counts() {
        let of = [0, 1].map(|query| shuffled(query, 2) + 1 + [7, 8][query as usize]);
        assert_eq!(check(Action::Add, &of, Some(&[3]), Some(0)), Ok(()));
        assert!(check(Action::Add, &[of[0], of[1] + 1], Some(&[3]), Some(0)).is_err());
        // 256 items of four keys.
        let keys: Vec<u32> = (0..256).map(|i| i % 4).collect();
        let check = |count: u32| {
            let results = keys.iter().map(|key| if *key == 3 { count } else { 64 }).collect::<Vec<_>>();
            let mut contents = contents(Action::Count, &results, Some(&[u32::MAX; 8]), Some(0));
            contents.inputs[KEYS] = Some(Arc::new(keys.clone()));
            Hashing::new(HasherInfo::pairs(), Action::Count).check(256, &contents)
        };
        assert_eq!(check(64), Ok(()));
        assert!(check(63).is_err());
    }

    #[test]
    fn exports_have_the_pairs_of_the_table_in_any_order() {
        let array = |words: &[u32]| Some(Arc::new(words.to_vec()));
        let check = |keys: &[u32], values: &[u32]| {
            // A larger case has left its inputs.
            let inputs = vec![None, None, array(&[5, 6, 1]), array(&[1, 2, 3]), None, None];
            let outputs = vec![array(keys), None, None, None, None, array(values)];
            let contents = Contents { inputs, outputs, tables: vec![None, None] };
            Hashing::new(HasherInfo::pairs(), Action::Export).check(2, &contents)
        };
        assert_eq!(check(&[6, 5], &[2, 1]), Ok(()));
        assert!(check(&[6, 5], &[1, 2]).is_err());
        assert!(check(&[6, 6], &[2, 2]).is_err());
        assert!(check(&[6], &[2]).is_err());
    }

    #[test]
    fn searches_write_values_or_all_ones() {
        let of = [0, 1].map(|query| shuffled(query, 2) + 1);
        assert_eq!(check(Action::FindHits, &of, None, None), Ok(()));
        assert!(check(Action::FindHits, &[1, 1], None, None).is_err());
        assert_eq!(check(Action::FindMisses, &[u32::MAX; 2], None, None), Ok(()));
        assert!(check(Action::FindMisses, &[u32::MAX, 1], None, None).is_err());
    }

    #[test]
    fn erased_keys_are_gone_and_others_stay() {
        let mut results = [1, 2, 3, 4];
        let mut found = 0xf;
        for index in [0, 1].map(|index| shuffled(index, 4)) {
            results[index as usize] = u32::MAX;
            found &= !(1 << index);
        }
        assert_eq!(check(Action::EraseHalf, &results, Some(&[found]), None), Ok(()));
        assert!(check(Action::EraseHalf, &[1, 2, 3, 4], Some(&[0xf]), None).is_err());
        assert!(check(Action::EraseHalf, &[u32::MAX; 4], Some(&[0]), None).is_err());
    }

    #[test]
    fn cleared_tables_have_ones_in_all_slots() {
        let mut words = vec![0; HEADER_WORDS + 16];
        words[SLICES] = 1;
        words.extend([u32::MAX; 8]);
        assert_eq!(Hashing::check_empty(&words), Ok(()));
        for wrong in [HEADER_WORDS, HEADER_WORDS + 19] {
            let mut words = words.clone();
            words[wrong] = 5;
            assert!(Hashing::check_empty(&words).is_err());
        }
    }
}
