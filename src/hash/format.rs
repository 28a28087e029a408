//! Formats of tables: words of keys and values, and what follows from them.

use super::{HashOperation, HashScheme, HasherInfo};
use crate::radix::MAX_NARROW_COUNT;
use crate::shared::{
    HASH_ADD, HASH_AND, HASH_ASSIGN, HASH_ERASE, HASH_INCREMENT, HASH_INSERT, HASH_INSERT_LAST, HASH_MAX, HASH_MIN,
    HASH_OR, HEADER_BYTES, LEAST_BUCKET_SLOTS, LEAST_BUCKET_WORDS, MOST_VALUE_WORDS, OVERFLOW_SHARE, RADIX_BITS,
    SCHEME_BUCKETED, SCHEME_LINEAR, SCHEME_MULTIMAP, SLICE_SLOTS,
};
use crate::{Error, KeyType, Result, SorterInfo, ValueType};

/// The parameters of a hasher in the form that kernels and plans use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) key_words: u32,
    pub(crate) value_words: u32,
    pub(crate) operation: HashOperation,
    pub(crate) scheme: HashScheme,
    pub(crate) concurrent: bool,
    pub(crate) multimap: bool,
    pub(crate) resizable: bool,
    pub(crate) stencil: bool,
    /// Erased keys are named by their slots: those that are selected in a table with linear probing.
    pub(crate) by_slot: bool,
    pub(crate) max_count: u32,
    pub(crate) max_capacity: u32,
}

impl Format {
    /// # Errors
    /// Names the member with an unsupported value, and the reason.
    pub(crate) fn new(info: &HasherInfo) -> Result<Self> {
        let malformed = |argument, why: String| Err(Error::Malformed { argument, why });
        let [key_words, value_words] = words(info)?;
        if info.value == ValueType::Index {
            return malformed("valueType", "a table stores no indices of items".into());
        }
        let verb = if info.operation.combines() { "combines" } else { "compares" };
        if (info.operation.combines() || info.operation.selects()) && !matches!(value_words, 1 | 2) {
            let (operation, bytes) = (info.operation, 4 * value_words);
            return malformed("valueSize", format!("{operation:?} {verb} values of 4 or 8 bytes, not of {bytes}"));
        }
        if info.concurrent {
            check_concurrent(info, key_words + value_words)?;
        }
        check_multimap(info)?;
        if info.operation == HashOperation::Resize && !info.resizable {
            return malformed("flags", "Resize is available for resizable tables alone".into());
        }
        if info.stencil && !info.operation.reads_keys() {
            return malformed("flags", format!("{:?} has no keys that a stencil can select", info.operation));
        }
        if info.operation == HashOperation::Mixed && info.stencil {
            return malformed(
                "flags",
                "Mixed has no stencil: keys that it would not select have the opcode Find".into(),
            );
        }
        if info.operation == HashOperation::Retrieve && value_words == 0 {
            return malformed("valueType", "a set has no values to be retrieved".into());
        }
        let limited = |argument, value: u32, limit: u32, why| match value {
            0 => Ok(limit),
            value if value > limit => Err(Error::TooLarge { argument, value: value.into(), limit: limit.into(), why }),
            value => Ok(value),
        };
        let format = Self {
            key_words,
            value_words,
            operation: info.operation,
            scheme: info.scheme,
            concurrent: info.concurrent,
            multimap: info.multimap,
            resizable: info.resizable,
            stencil: info.stencil,
            by_slot: info.operation == HashOperation::EraseIf && info.scheme == HashScheme::Linear,
            max_count: limited("maxCount", info.max_count, MAX_NARROW_COUNT, "the most keys of a batch")?,
            max_capacity: info.max_capacity,
        };
        let most = format.most_slots();
        let max_capacity = limited("maxCapacity", info.max_capacity, most, "the most slots of a table")?;
        Ok(Self { max_capacity, ..format })
    }

    /// Largest capacity of a table.
    fn most_slots(&self) -> u32 {
        match self.scheme {
            // Kernels count blocks of 16 bytes in 32 bits: 2^31 slots of two blocks would not fit.
            HashScheme::Bucketed if self.slot_words() > 4 => 1 << 30,
            HashScheme::Bucketed => 1 << 31,
            // With a bit beside the number of a slot. See glsl/hash/placed.glsl.
            HashScheme::Linear => 1 << 30,
        }
    }

    /// The `HASH_` constant of an operation that changes tables.
    pub(crate) fn change(&self) -> u32 {
        match self.operation {
            HashOperation::InsertLast => HASH_INSERT_LAST,
            HashOperation::Assign => HASH_ASSIGN,
            HashOperation::Erase => HASH_ERASE,
            HashOperation::Add => HASH_ADD,
            HashOperation::Min => HASH_MIN,
            HashOperation::Max => HASH_MAX,
            HashOperation::And => HASH_AND,
            HashOperation::Or => HASH_OR,
            HashOperation::Increment => HASH_INCREMENT,
            _ => HASH_INSERT,
        }
    }

    /// The same format with another operation, which is a part of this one.
    pub(crate) fn with_operation(&self, operation: HashOperation) -> Self {
        Self { operation, ..*self }
    }

    /// Number of slices of a table that has been cleared. After a rehash, they have room for twice as many keys as the
    /// other table may have, if the capacity suffices.
    pub(crate) fn first_slices(&self, info: &super::HashInfo) -> u32 {
        let most = self.slices_of(info.capacity);
        if !self.resizable || info.min_capacity == 0 {
            return most;
        }
        let keys = if self.operation == HashOperation::Rehash { info.count.max } else { 0 };
        let slots = info.min_capacity.max(keys.saturating_mul(2)).min(info.capacity);
        self.slices_of(slots).min(most)
    }

    /// The format of the clearing that gives a table its first number of slots.
    pub(crate) fn cleared(&self) -> Self {
        Self { resizable: false, ..self.with_operation(HashOperation::Clear) }
    }

    /// The format of the change of a table that the operation consists of, or contains.
    pub(crate) fn of_change(&self) -> Self {
        match self.operation {
            HashOperation::FindOrInsert | HashOperation::Rehash | HashOperation::Resize => {
                self.with_operation(HashOperation::Insert)
            }
            HashOperation::EraseIf => self.with_operation(HashOperation::Erase),
            HashOperation::Mixed => self.with_operation(HashOperation::Assign),
            _ => *self,
        }
    }

    /// Words of the hashes that a batch is sorted by. They identify keys of one or two words.
    pub(crate) fn hash_words(&self) -> u32 {
        if self.key_words == 2 { 2 } else { 1 }
    }

    /// Words of the numbers that identify the keys of a mixed batch.
    pub(crate) fn identity_words(&self) -> u32 {
        self.key_words.min(2)
    }

    /// Whether the sort moves indices, and not values.
    pub(crate) fn is_by_index(&self) -> bool {
        self.key_words > 2 || self.value_words > 1 && self.operation.reads_values()
    }

    /// First bits of a hash that batches are sorted by; 0: one workgroup has all items.
    pub(crate) fn bin_bits(&self) -> u32 {
        match slices_of(self.max_capacity) {
            _ if self.scheme == HashScheme::Linear => 0,
            0..=1 => 0,
            2..=256 => RADIX_BITS,
            _ => 2 * RADIX_BITS,
        }
    }

    /// Number of bins of the sort: values of the bits that it sorts by.
    pub(crate) fn bins(&self) -> u32 {
        1 << self.bin_bits()
    }

    /// The sort of a batch by its hashes, if the operation needs one. A change sorts by their first bits.
    pub(crate) fn sort(&self) -> Option<SorterInfo> {
        if self.operation == HashOperation::Mixed {
            let key = if self.identity_words() == 2 { KeyType::U64 } else { KeyType::U32 };
            let value = ValueType::U32;
            return Some(SorterInfo { key, value, max_count: self.max_count, ..SorterInfo::keys() });
        }
        let sorts = self.bin_bits() != 0 && self.operation.changes();
        sorts.then(|| self.of_change().sorter(u32::BITS - self.bin_bits()))
    }

    /// The hashes of a key as a number, and the bits below the first hash.
    fn hashes(&self) -> (KeyType, u32) {
        if self.hash_words() == 2 { (KeyType::U64, 32) } else { (KeyType::U32, 0) }
    }

    /// The sort of a batch by the first bits of its hashes.
    pub(crate) fn sorter(&self, begin_bit: u32) -> SorterInfo {
        let (key, below) = self.hashes();
        let info = SorterInfo { key, begin_bit: begin_bit + below, max_count: self.max_count, ..SorterInfo::keys() };
        if self.is_by_index() {
            return SorterInfo { value: ValueType::Index, ..info };
        }
        if self.value_words == 0 || !self.operation.reads_values() {
            return info;
        }
        SorterInfo { value: ValueType::U32, placement: crate::Placement::Preserve, ..info }
    }

    /// Checks the number of slots of a table.
    ///
    /// # Errors
    /// [`Error::TooSmall`] for none, [`Error::TooLarge`] above the maximum.
    pub(crate) fn check_capacity(&self, capacity: u32) -> Result<()> {
        self.check_size("capacity", capacity)
    }

    /// As [`Format::check_capacity`], of the table of an argument.
    pub(crate) fn check_size(&self, argument: &'static str, capacity: u32) -> Result<()> {
        if capacity == 0 {
            return Err(Error::TooSmall { argument, value: 0, required: 1, max_count: None });
        }
        let (value, limit) = (capacity.into(), self.max_capacity.into());
        let is_largest = self.max_capacity == self.most_slots();
        let why = if is_largest { "the most slots of a table" } else { "the hasher's maxCapacity" };
        if value > limit { Err(Error::TooLarge { argument, value, limit, why }) } else { Ok(()) }
    }

    /// Bytes of a table.
    pub(crate) fn table_bytes(&self, capacity: u32) -> u64 {
        self.bytes_of_slices(self.slices_of(capacity).max(1))
    }

    /// Number of slices for so many slots, without overflow slices.
    pub(crate) fn slices_of(&self, capacity: u32) -> u32 {
        let slices = slices_of(capacity);
        match self.scheme {
            HashScheme::Bucketed => slices,
            HashScheme::Linear => slices.next_power_of_two(),
        }
    }

    /// Number of overflow slices of a table.
    pub(crate) fn overflow_slices(&self, slices: u32) -> u32 {
        match self.scheme {
            HashScheme::Bucketed => slices.div_ceil(OVERFLOW_SHARE),
            HashScheme::Linear => 0,
        }
    }

    /// Words of the marks of a table of so many slices, besides overflow slices: whole buckets.
    pub(crate) fn mark_words(&self, slices: u32) -> u32 {
        self.overflow_slices(slices).next_multiple_of(self.bucket_words())
    }

    /// Bytes of a table of so many slices, besides overflow slices.
    pub(crate) fn bytes_of_slices(&self, slices: u32) -> u64 {
        let overflow_slices = self.overflow_slices(slices);
        let marks = HEADER_BYTES + self.mark_words(slices) * 4;
        let all = u64::from(slices) + u64::from(overflow_slices);
        u64::from(marks) + all * u64::from(SLICE_SLOTS * self.slot_words() * 4)
    }

    /// Words of a slot. See glsl/hash/table.glsl and glsl/hash/linear.glsl.
    pub(crate) fn slot_words(&self) -> u32 {
        let words = self.key_words + self.value_words;
        match self.scheme {
            HashScheme::Bucketed => words.next_power_of_two(),
            HashScheme::Linear => u32::from(self.key_words > 1 || self.multimap) + words,
        }
    }

    /// Words of a bucket. See glsl/hash/table.glsl.
    pub(crate) fn bucket_words(&self) -> u32 {
        LEAST_BUCKET_WORDS.max(LEAST_BUCKET_SLOTS * self.slot_words())
    }

    /// The scheme in the header of a table.
    pub(crate) fn scheme_number(&self) -> u32 {
        match self.scheme {
            HashScheme::Bucketed => SCHEME_BUCKETED,
            HashScheme::Linear if self.multimap => SCHEME_MULTIMAP,
            HashScheme::Linear => SCHEME_LINEAR,
        }
    }
}

const _: () = assert!(LEAST_BUCKET_WORDS == 16 && LEAST_BUCKET_SLOTS == 4, "each of four lanes has a slot or more");

/// Number of slices with so many slots.
const fn slices_of(capacity: u32) -> u32 {
    capacity.div_ceil(SLICE_SLOTS)
}

/// Checks that an operation can run at the same time as others: a key and its value are a word each.
fn check_concurrent(info: &HasherInfo, words: u32) -> Result<()> {
    let malformed = |why: String| Err(Error::Malformed { argument: "flags", why });
    if info.scheme != HashScheme::Linear {
        return malformed(format!("{:?} tables have no concurrent operations", info.scheme));
    }
    let operations = [HashOperation::Insert, HashOperation::Assign, HashOperation::Erase, HashOperation::Find];
    if !operations.contains(&info.operation) {
        return malformed(format!("{:?} is not available as a concurrent operation", info.operation));
    }
    if info.key.size() != 4 || words > 2 {
        let [key, value] = [info.key.size(), 4 * words - info.key.size()];
        let most = "concurrent operations have keys of 4 bytes and values of at most 4";
        return malformed(format!("{most}, not {key} and {value}"));
    }
    Ok(())
}

/// Checks that an operation is one of multimaps, or that the table is none.
fn check_multimap(info: &HasherInfo) -> Result<()> {
    let HasherInfo { operation, scheme, multimap, concurrent, .. } = *info;
    let malformed = |why: String| Err(Error::Malformed { argument: "flags", why });
    if !multimap {
        let why = || malformed(format!("{operation:?} is available for multimaps alone"));
        return if operation.needs_multimap() { why() } else { Ok(()) };
    }
    if scheme != HashScheme::Linear {
        return malformed(format!("{scheme:?} tables are no multimaps"));
    }
    if concurrent {
        return malformed("multimaps have no concurrent operations".into());
    }
    use HashOperation::{Assign, FindOrInsert, InsertLast, Mixed};
    if matches!(operation, InsertLast | Assign | FindOrInsert | Mixed) || operation.combines() {
        malformed(format!("{operation:?} is not available for multimaps"))
    } else {
        Ok(())
    }
}

/// Words of a key and of a value.
fn words(info: &HasherInfo) -> Result<[u32; 2]> {
    let malformed = |argument, why: String| Err(Error::Malformed { argument, why });
    let HasherInfo { key, value, .. } = *info;
    if !key.bits().is_multiple_of(32) {
        return malformed("keyType", format!("{key:?} is narrower than a word"));
    }
    let [key_words, value_words] = [key.size() / 4, value.checked_size()? / 4];
    if value_words > MOST_VALUE_WORDS {
        let [bytes, most] = [4 * value_words, 4 * MOST_VALUE_WORDS];
        return malformed("valueSize", format!("a value has {bytes} bytes, more than {most}"));
    }
    Ok([key_words, value_words])
}

/// Bytes of a table with room for `capacity` keys, for hashers with these parameters. A multiple of 16.
///
/// A table has slices of 1024 slots, at least one, and an overflow slice for each 32 of them. An insertion that finds
/// no slot reports the key as left over. This becomes likely when more than 95 % of `capacity` are in use. A table with
/// linear probing has a power of two of slots, at least 1024.
///
/// # Errors
/// As [`crate::Hasher::new`].
pub fn table_size(info: &HasherInfo, capacity: u32) -> Result<u64> {
    Ok(Format::new(info)?.table_bytes(capacity))
}
