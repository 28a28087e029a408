//! The parameters of a hasher.

use crate::core::handle::Options;
use crate::shared::{OPCODE_ASSIGN, OPCODE_ERASE, OPCODE_FIND, OPCODE_INSERT};
use crate::{KeyType, ValueType};

/// How a table finds the slots of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashScheme {
    /// Buckets of 64 or 128 bytes in slices of 1024 slots. Changes sort their keys by slice, and one workgroup applies
    /// those of a slice. The fastest scheme for large batches.
    #[default]
    Bucketed,
    /// Linear probing: a key lies in the first slot that was free, from the one on that its hash selects. Capacities
    /// are powers of two. Its kernels are few and small, it needs no sort but for [`HashOperation::Mixed`], and its
    /// operations can run at the same time ([`HasherInfo::concurrent`]). Searches become slow above a load of 0.8.
    Linear,
}

impl HashScheme {
    /// All schemes.
    pub const ALL: [Self; 2] = [Self::Bucketed, Self::Linear];
}

/// What a hasher does to a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashOperation {
    /// Makes the table empty. A table is cleared before its first use.
    Clear,
    /// Inserts the keys that the table does not have, with their values. Of equal keys of a batch, the first one is
    /// inserted. Keys of the table keep their values.
    #[default]
    Insert,
    /// As `Insert`. Of equal keys of a batch, the last one is inserted.
    InsertLast,
    /// Inserts keys with their values, and replaces the values of keys that the table has. Of equal keys of a batch,
    /// the last one provides the value.
    Assign,
    /// Removes keys.
    Erase,
    /// Writes for each key whether the table has it, and its value.
    Find,
    /// Inserts keys with their values, or adds the values to those that the table has: modulo 2^32 or 2^64. Equal keys
    /// of a batch receive the sum of their values. Values have 4 or 8 bytes, as for the operations that follow.
    Add,
    /// As `Add`: the smaller one of two unsigned values remains.
    Min,
    /// As `Add`: the larger one of two unsigned values remains.
    Max,
    /// As `Add`, with the bitwise and of two values.
    And,
    /// As `Add`, with the bitwise or of two values.
    Or,
    /// As `Add`, of ones: counts the occurrences of each key. Values of the batch are not read.
    Increment,
    /// Writes all keys of the table and their values, in any order.
    Export,
    /// Writes how full the table is and how many probes its keys take: [`crate::HashStatistics`].
    Statistics,
    /// As `Insert`. Then writes for each key the value that the table has, which may be that of an earlier insertion.
    FindOrInsert,
    /// Makes the table empty and inserts all keys and values of another table, which may have another capacity.
    Rehash,
    /// Writes for each key how many values a multimap has: [`HasherInfo::multimap`].
    Count,
    /// Writes for each key all values that a multimap has, one key's behind the other's, and the offset of each key.
    Retrieve,
    /// Removes the keys with values from [`crate::HashInfo::min_value`] to [`crate::HashInfo::max_value`]. Values have
    /// 4 or 8 bytes, as for `ExportIf`.
    EraseIf,
    /// As `Export`, of the keys with values from [`crate::HashInfo::min_value`] to [`crate::HashInfo::max_value`].
    ExportIf,
    /// Changes the number of slots of a resizable table ([`HasherInfo::resizable`]) if it is too full or too empty. The
    /// device decides: see [`crate::HashInfo::reserve`].
    Resize,
    /// Finds, inserts, assigns or erases each key, as its opcode says ([`crate::HashInfo::opcodes`]): as if in the
    /// order of the batch. Writes for each key whether the table had it before its operation, and the value.
    Mixed,
}

/// The operation of a key in a batch of [`HashOperation::Mixed`]: a word, of which the other bits are not read.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HashOpcode {
    /// Looks the key up. Does not change the table.
    #[default]
    Find = OPCODE_FIND,
    /// Inserts the key with its value. A key of the table keeps its value.
    Insert = OPCODE_INSERT,
    /// Inserts the key with its value, or replaces the value that the table has.
    Assign = OPCODE_ASSIGN,
    /// Removes the key.
    Erase = OPCODE_ERASE,
}

impl HashOpcode {
    /// All opcodes.
    pub const ALL: [Self; 4] = [Self::Find, Self::Insert, Self::Assign, Self::Erase];
}

impl HashOperation {
    /// All operations.
    pub const ALL: [Self; 22] = [
        Self::Clear,
        Self::Insert,
        Self::InsertLast,
        Self::Assign,
        Self::Erase,
        Self::Find,
        Self::Add,
        Self::Min,
        Self::Max,
        Self::And,
        Self::Or,
        Self::Increment,
        Self::Export,
        Self::Statistics,
        Self::FindOrInsert,
        Self::Rehash,
        Self::Count,
        Self::Retrieve,
        Self::EraseIf,
        Self::ExportIf,
        Self::Resize,
        Self::Mixed,
    ];

    /// Whether the operation applies a batch of keys to the table.
    pub(crate) const fn changes(self) -> bool {
        let writes_none = matches!(self, Self::Find | Self::Statistics | Self::Count | Self::Retrieve);
        !writes_none && !self.exports() && !matches!(self, Self::Clear)
    }

    /// Whether the operation inserts the keys that the table does not have.
    pub const fn inserts(self) -> bool {
        self.changes() && !matches!(self, Self::Erase | Self::EraseIf)
    }

    /// Whether the operation reads values of the batch.
    pub const fn reads_values(self) -> bool {
        self.inserts() && !matches!(self, Self::Increment | Self::Rehash | Self::Resize)
    }

    /// Whether keys that find no slot have values.
    pub(crate) const fn has_leftover_values(self) -> bool {
        self.inserts() && !matches!(self, Self::Increment)
    }

    /// Whether the operation has an array of keys.
    pub(crate) const fn has_keys(self) -> bool {
        self.has_count() && !matches!(self, Self::Rehash | Self::EraseIf | Self::Resize)
    }

    /// Whether the operation has a maximum number of keys, and a status.
    pub(crate) const fn has_count(self) -> bool {
        !matches!(self, Self::Clear | Self::Statistics)
    }

    /// Whether the operation reads keys of the batch.
    pub(crate) const fn reads_keys(self) -> bool {
        self.has_keys() && !self.exports()
    }

    /// Whether the operation writes which keys of the batch the table has.
    pub const fn finds(self) -> bool {
        matches!(self, Self::Find | Self::FindOrInsert | Self::Mixed)
    }

    /// Whether the operation writes keys of the table.
    pub const fn exports(self) -> bool {
        matches!(self, Self::Export | Self::ExportIf)
    }

    /// Whether the operation selects keys by their values.
    pub const fn selects(self) -> bool {
        matches!(self, Self::ExportIf | Self::EraseIf)
    }

    /// Whether the operation is one on multimaps alone.
    pub(crate) const fn needs_multimap(self) -> bool {
        matches!(self, Self::Count | Self::Retrieve)
    }

    /// Whether the operation writes the table.
    pub(crate) const fn writes_table(self) -> bool {
        self.changes() || matches!(self, Self::Clear)
    }

    /// Whether the operation writes values of the batch.
    pub(crate) const fn writes_values(self) -> bool {
        self.exports() || matches!(self, Self::Find)
    }

    /// Whether the operation combines the values of equal keys.
    pub(crate) const fn combines(self) -> bool {
        matches!(self, Self::Add | Self::Min | Self::Max | Self::And | Self::Or | Self::Increment)
    }
}

/// The parameters of [`crate::Hasher::new`]. The default: insertion into a set of `u32` keys.
///
/// Hashers with the same key and value types, the same scheme, and the same `multimap` and `resizable` work on the same
/// tables. The size of a table is [`crate::hash::table_size`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HasherInfo {
    /// The key type: 32 to 128 bits. Keys are equal if their bits are.
    pub key: KeyType,
    /// The value type: none for a set, otherwise a multiple of 4 bytes, at most 16.
    pub value: ValueType,
    /// The operation.
    pub operation: HashOperation,
    /// The scheme of the table.
    pub scheme: HashScheme,
    /// Other concurrent operations may change the table at the same time: problems of one batch ([`crate::cmd_batch`]),
    /// operations without a barrier between them, and shaders of the application. For insertions, assignments, erasures
    /// and searches of [`HashScheme::Linear`], with keys of 4 bytes and values of at most 4.
    ///
    /// Of equal keys, any one provides the value. A search takes keys with a value of all ones as absent: they may be
    /// about to be inserted. So the application must not insert values of all ones. Of the two largest keys, a search
    /// may find an earlier value while the key is inserted again. Values are not published by a release: data that a
    /// value is an index of need a barrier of the application. Slots of erased keys are not used again.
    pub concurrent: bool,
    /// The table may have a key several times, with a value each. [`HashOperation::Insert`] inserts all items of a
    /// batch, [`HashOperation::Erase`] removes all values of a key, and [`HashOperation::Find`] writes any one.
    /// [`HashOperation::Count`] and [`HashOperation::Retrieve`] write how many there are, and all of them. The other
    /// operations are `Clear`, `EraseIf`, `Export`, `ExportIf`, `Rehash`, `Resize` and `Statistics`. For
    /// [`HashScheme::Linear`].
    ///
    /// The times of all operations on a key grow with the number of its values, of which there are at most 16,384.
    pub multimap: bool,
    /// The number of slots of the table is in the table: from [`crate::HashInfo::min_capacity`] to
    /// [`crate::HashInfo::capacity`], for which it has memory. [`HashOperation::Resize`] changes it. All hashers of
    /// such a table have this flag.
    pub resizable: bool,
    /// The operation is for those keys of a batch that [`crate::HashInfo::stencil`] selects, as if the batch had no
    /// others. Searches, counts and retrievals write results for all keys: the others are taken as absent.
    /// [`crate::STATUS_COUNT_CLAMPED`] is about all keys of the batch. For operations that read keys, but for
    /// [`HashOperation::Mixed`]. Hashers with and without this flag work on the same tables.
    pub stencil: bool,
    /// Maximum count of a batch. 0: 2^30, the largest.
    pub max_count: u32,
    /// Maximum capacity of a table. 0: the largest. It is 2^31, or 2^30 with linear probing or if key and value have
    /// more than 16 bytes together. Changes of [`HashScheme::Bucketed`] tables of at most 1024 slots need no sort, and
    /// those of at most 2^18 one pass of it instead of two. [`HashOperation::Mixed`] sorts in any case.
    pub max_capacity: u32,
    /// The hasher may be used in batches with other problems ([`crate::cmd_batch`]).
    pub batches: bool,
    /// Creation returns without pipelines. Threads that call [`crate::Hasher::compile`] create them.
    pub deferred: bool,
}

impl HasherInfo {
    /// A set of `u32` keys.
    pub const fn keys() -> Self {
        Self {
            key: KeyType::U32,
            value: ValueType::None,
            operation: HashOperation::Insert,
            scheme: HashScheme::Bucketed,
            concurrent: false,
            multimap: false,
            resizable: false,
            stencil: false,
            max_count: 0,
            max_capacity: 0,
            batches: false,
            deferred: false,
        }
    }

    /// A map from `u32` keys to `u32` values.
    pub const fn pairs() -> Self {
        Self { value: ValueType::U32, ..Self::keys() }
    }

    /// The same tables with the given operation.
    pub const fn operation(self, operation: HashOperation) -> Self {
        Self { operation, ..self }
    }

    /// The same hasher for tables with linear probing.
    pub const fn linear(self) -> Self {
        Self { scheme: HashScheme::Linear, ..self }
    }

    /// The same hasher for an operation that runs at the same time as others.
    pub const fn concurrent(self) -> Self {
        Self { concurrent: true, ..self }
    }

    /// The same hasher for tables that may have a key several times.
    pub const fn multimap(self) -> Self {
        Self { multimap: true, ..self }
    }

    /// The same hasher for tables that grow and shrink.
    pub const fn resizable(self) -> Self {
        Self { resizable: true, ..self }
    }

    /// The same hasher with a stencil.
    pub const fn stencil(self) -> Self {
        Self { stencil: true, ..self }
    }

    /// The same hasher with support for batches.
    pub const fn batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// The same hasher with deferred creation of pipelines.
    pub const fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    /// Checks the parameters, independently of a device: for tests of all valid combinations.
    #[doc(hidden)]
    #[allow(clippy::missing_errors_doc, reason = "as Hasher::new")]
    pub fn check(&self) -> crate::Result<()> {
        super::format::Format::new(self).map(drop)
    }

    pub(super) const fn options(&self) -> Options {
        Options { batches: self.batches, deferred: self.deferred }
    }
}
