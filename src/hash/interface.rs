//! Hash tables: constants, the header, push constants, kernels. See src/shared.rs.

use super::interface::{Address, GlslType, SharedStruct, StructLayout, UserFunction, shared_constants, shared_structs};
use bytemuck::{Pod, Zeroable};

shared_constants! {
    /// The table had no slot for some item: see `HashInfo::leftover_keys`.
    const STATUS_TABLE_FULL = 8;
    /// Version of the layout of tables, in the low byte of `HashHeader::format`.
    const TABLE_FORMAT = 2;
    /// Schemes of tables, in the high byte of `HashHeader::format`.
    const SCHEME_BUCKETED = 0;
    const SCHEME_LINEAR = 1;
    const SCHEME_MULTIMAP = 2;
    /// Bytes before the first slice of a table.
    const HEADER_BYTES = 256;
    /// Slots of a slice. One workgroup changes a slice.
    const SLICE_SLOTS = 1024;
    /// Fewest words and slots of a bucket.
    const LEAST_BUCKET_WORDS = 16;
    const LEAST_BUCKET_SLOTS = 4;
    /// Slices that share an overflow slice.
    const OVERFLOW_SHARE = 32;
    /// Most buckets of its home slice that are probed for a key.
    const HOME_PROBES = 2;
    /// Most buckets of its overflow slice.
    const OVERFLOW_PROBES = 16;
    /// Most slots that are probed for a key in a table with linear probing.
    const MOST_LINEAR_PROBES = 16384;
    /// Inserts the keys that the table does not have. Of equal keys of a batch, the first one.
    const HASH_INSERT = 0;
    /// Inserts keys, or replaces their values. Of equal keys of a batch, the last one.
    const HASH_ASSIGN = 1;
    /// Removes keys.
    const HASH_ERASE = 2;
    /// As `HASH_INSERT`. Of equal keys of a batch, the last one.
    const HASH_INSERT_LAST = 3;
    /// Inserts keys, or combines their values with those of the table: this change and those that follow.
    const HASH_ADD = 4;
    const HASH_MIN = 5;
    const HASH_MAX = 6;
    const HASH_AND = 7;
    const HASH_OR = 8;
    /// As `HASH_ADD`, of ones.
    const HASH_INCREMENT = 9;
    /// Most words of a value: the size of arrays that have room for each.
    const MOST_VALUE_WORDS = 4;
    /// Operations of the keys of a mixed batch: the public `HashOpcode`.
    const OPCODE_FIND = 0;
    const OPCODE_INSERT = 1;
    const OPCODE_ASSIGN = 2;
    const OPCODE_ERASE = 3;
    /// The first bit of the opcode in an element of a mixed batch. Below it is the index of the item.
    const OPCODE_SHIFT = 30;
    /// The words of the header from which on it has `reserved`, and the values of the two reserved keys: four words
    /// each.
    const RESERVED_FLAGS = 5;
    const RESERVED_VALUES = 7;
    /// Words of the statistics of a table.
    const STATISTICS_KEYS = 0;
    const STATISTICS_ERASED_SLOTS = 1;
    const STATISTICS_SLOTS = 2;
    const STATISTICS_OVERFLOW_SLOTS = 3;
    /// From this word on, slices are counted.
    const STATISTICS_COUNTED = 4;
    const STATISTICS_OVERFLOW_KEYS = 4;
    const STATISTICS_MOST_PROBES = 5;
    /// Two words, the lower one first.
    const STATISTICS_TOTAL_PROBES = 6;
    /// The first of `STATISTICS_BINS` counters of keys, by the number of probes: those of counter `k` have at most
    /// `2^k`, and more than those of the counter before.
    const STATISTICS_PROBES = 8;
    const STATISTICS_BINS = 16;
    const STATISTICS_WORDS = STATISTICS_PROBES + STATISTICS_BINS;
    /// Most items that wait for a slot of their slice, or for the erasure of their keys from its overflow slice. With
    /// all other arrays, 16 KiB of shared memory suffice.
    const MOST_WAITING = 176;
    /// The word of the state of a change that says whether the table has been used since it was cleared.
    const STATE_USED = 0;
    /// The word of the state that says whether keys have moved from overflow slices to their home slices.
    const STATE_MOVED = 1;
    /// The words of a resized table: its new number of slices, and the number of keys that move.
    const RESIZE_SLICES = 0;
    const RESIZE_KEYS = 1;
    /// Its commands.
    const RESIZE_EXPORT = 0;
    const RESIZE_CLEAR = 1;
}

shared_structs! {
    /// The header of a table.
    struct HashHeader {
        /// `TABLE_FORMAT` in the low byte, then the words of a key, then those of a value, then the scheme.
        format: u32,
        /// Number of slices, without overflow slices.
        slices: u32,
        /// Whether a slot may not be empty.
        used: u32,
        /// Number of keys.
        entries: u32,
        /// Number of slots of erased keys.
        erased: u32,
        /// Whether the table has each of the two reserved keys: all ones, and all ones but for the last bit of the last
        /// word.
        reserved: [u32; 2],
        /// The value of the key of all ones, then that of the other reserved key: see `RESERVED_VALUES`.
        empty_value: [u32; 4],
        erased_value: [u32; 4],
    }

    /// An operation on a table.
    struct HashProblem {
        keys: Address,
        /// The values of the keys, read or written; may be null.
        values: Address,
        table: Address,
        count: Address,
        /// The number of keys before it is limited to `max_count`, for the status; may be null.
        requested: Address,
        status: Address,
        /// Keys that found no slot; may be null.
        leftover_keys: Address,
        leftover_values: Address,
        /// Their number, or the number of exported keys; may be null.
        count_out: Address,
        max_count: u32,
        /// Number of slices of the table, without overflow slices.
        slices: u32,
    }

    /// A search.
    struct HashFindProblem {
        keys: Address,
        /// Receives the values of the keys; may be null.
        values: Address,
        table: Address,
        count: Address,
        status: Address,
        /// Receives a bit for each key: whether the table has it; may be null.
        found: Address,
        /// A bit for each key: whether it is looked up.
        stencil: Address,
        max_count: u32,
        /// Number of slices of the table, without overflow slices.
        slices: u32,
    }

    /// Push constants of the kernels of searches.
    struct HashFindPush {
        problem: HashFindProblem,
    }

    /// The compaction of a batch.
    struct HashCompactionProblem {
        keys: Address,
        /// May be null.
        values: Address,
        count: Address,
        /// A bit for each key: whether it is selected.
        stencil: Address,
        max_count: u32,
    }

    /// Push constants of the kernels that compact a batch.
    struct HashCompactionPush {
        problem: HashCompactionProblem,
        scratch: Address,
        /// Parts of scratch: the selected keys and their values, in the order of the batch.
        keys: u32,
        values: u32,
        /// Part of scratch: a word for each workgroup: the number of its selected keys, or of all before them.
        totals: u32,
    }

    /// Numbers that are added up.
    struct HashTotalsProblem {
        count: Address,
        status: Address,
        /// Receives the sum behind as many words as the batch has keys; may be null.
        numbers: Address,
        /// Receives the sum; may be null.
        count_out: Address,
        max_count: u32,
        /// The status says whether the sum is larger.
        max_sum: u32,
    }

    /// Push constants of the kernel that adds up the numbers of workgroups.
    struct HashTotalsPush {
        problem: HashTotalsProblem,
        scratch: Address,
        /// Part of scratch: a word for each workgroup: its number, which becomes the sum of those before it.
        totals: u32,
        /// Keys of a workgroup.
        group_keys: u32,
    }

    /// A batch with an operation for each key.
    struct HashMixedProblem {
        keys: Address,
        /// The values of the keys; null for sets.
        values: Address,
        /// A word for each key: its operation (`OPCODE_FIND`).
        opcodes: Address,
        count: Address,
        /// Receives the value of each key before its operation; may be null.
        values_out: Address,
        /// Receives a bit for each key: whether the table has it before its operation; may be null.
        found: Address,
        max_count: u32,
    }

    /// Push constants of the kernels of mixed batches.
    struct HashMixedPush {
        problem: HashMixedProblem,
        scratch: Address,
        /// Part of scratch: the identity of each key. They are sorted. See glsl/hash/identity.glsl.
        identities: u32,
        /// Part of scratch: an element for each key, in the order of the identities. See glsl/hash/mixed.glsl.
        elements: u32,
        /// Part of scratch: two words for each tile of elements: its aggregate, of which the scan needs the exclusive
        /// prefix. See glsl/hash/mixed_scan.comp.
        aggregates: u32,
        /// Elements of a tile.
        tile: u32,
        /// Part of scratch: a bit for each key: whether the table has it before the batch.
        had_keys: u32,
        /// Part of scratch: for each key, the composition of its operations before this one.
        before: u32,
        /// Parts of scratch: a bit for each element in the order of the identities: whether its key is erased, and
        /// whether a value is assigned to it.
        erased: u32,
        assigned: u32,
        /// Parts of scratch: these keys, and the assigned values, in the order of the identities.
        keys: u32,
        values: u32,
        /// Part of scratch, for keys of more than two words: a power of two of words, each 0, or the index, plus 1, of
        /// the item that has claimed it.
        slots: u32,
        /// The number of the last one.
        last_slot: u32,
    }

    /// The statistics of a table.
    struct HashStatisticsProblem {
        table: Address,
        /// Receives the numbers: see `STATISTICS_KEYS`.
        statistics: Address,
        /// Number of slices of the table, without overflow slices.
        slices: u32,
    }

    /// Push constants of the kernels of statistics.
    struct HashStatisticsPush {
        problem: HashStatisticsProblem,
    }

    /// The values of keys of a multimap.
    struct HashValuesProblem {
        keys: Address,
        table: Address,
        count: Address,
        status: Address,
        /// A bit for each key: whether it is looked up.
        stencil: Address,
        /// Receives the number of values of each key, or the index of its first value, and behind the last one the
        /// number of all.
        numbers: Address,
        /// Receives the values; may be null.
        values: Address,
        max_count: u32,
        /// Number of slices of the table.
        slices: u32,
        /// Number of values that `values` has room for.
        max_values: u32,
    }

    /// Push constants of the kernels that write values of a multimap.
    struct HashValuesPush {
        problem: HashValuesProblem,
        scratch: Address,
        /// Part of scratch: a word for each workgroup: the number of values of its keys, or of all keys before them.
        totals: u32,
        /// 1: the kernel scans the numbers of its workgroup. Otherwise 0.
        scans: u32,
    }

    /// An export.
    struct HashExportProblem {
        keys: Address,
        /// Receives the values; may be null.
        values: Address,
        table: Address,
        status: Address,
        /// Receives the number of keys that have been written; may be null.
        count_out: Address,
        /// Number of keys that the arrays have room for.
        max_count: u32,
        /// Number of slices of the table, without overflow slices.
        slices: u32,
        /// The smallest and the largest value that select a key: the lower word first.
        min_value: [u32; 2],
        max_value: [u32; 2],
    }

    /// Push constants of the kernels of exports.
    struct HashExportPush {
        problem: HashExportProblem,
        scratch: Address,
        /// Part of scratch: the number of positions that have been taken.
        cursor: u32,
    }

    /// A change of the number of slots.
    struct HashResizeProblem {
        table: Address,
        /// The number of keys to make room for; may be null: `max_reserve`.
        reserve: Address,
        max_reserve: u32,
        /// Most keys that can move.
        max_count: u32,
        /// The smallest number of slices, without overflow slices.
        min_slices: u32,
        /// The largest one.
        slices: u32,
    }

    /// Push constants of the kernels that decide the number of slots.
    struct HashResizePush {
        problem: HashResizeProblem,
        scratch: Address,
        /// Part of scratch: the words `RESIZE_SLICES` and `RESIZE_KEYS`.
        state: u32,
        /// Part of scratch: the commands `RESIZE_EXPORT` and `RESIZE_CLEAR`.
        commands: u32,
        /// Blocks of 16 bytes that a workgroup clears.
        clear_blocks: u32,
    }

    /// Push constants of the kernels of tables with linear probing.
    struct HashLinearPush {
        problem: HashProblem,
        scratch: Address,
        /// Part of scratch: a word for each item: the number of its slot. See glsl/hash/placed.glsl.
        slots: u32,
        /// Part of scratch: a word for each item: if the slot of the item has its index, the item that provides the
        /// value.
        owners: u32,
        /// 1 for a second combination of values, otherwise 0.
        round: u32,
    }

    /// Push constants of all other kernels of tables.
    struct HashPush {
        problem: HashProblem,
        scratch: Address,
        /// Address of the values in the order of the sorted hashes, or of the items' indices.
        payload: Address,
        /// Part of scratch: the first hash of each key, or both of a key of two words.
        hashes: u32,
        /// Part of scratch: the hashes, sorted by their first bits.
        sorted_hashes: u32,
        /// Part of scratch: a bit for each position in the sorted order: whether the item has no place in its slice.
        spilled: u32,
        /// Part of scratch: a bit for each position. One of a slice is set if keys have moved there from its overflow
        /// slice.
        moved: u32,
        /// Part of scratch: words of the state of a change (`STATE_USED`) or of a resized table (`RESIZE_SLICES`).
        state: u32,
        /// Part of scratch: the first position of each bin of the sort, and the number of items.
        bins: u32,
        /// First bits of a hash that are the number of its bin; 0 if the batch is not sorted.
        bin_bits: u32,
    }
}

const _: () = assert!(std::mem::offset_of!(HashHeader, reserved) == 4 * RESERVED_FLAGS as usize);
const _: () = assert!(std::mem::offset_of!(HashHeader, empty_value) == 4 * RESERVED_VALUES as usize);
const _: () =
    assert!(MOST_LINEAR_PROBES <= 1 << (STATISTICS_BINS - 1) && HOME_PROBES + OVERFLOW_PROBES <= MOST_LINEAR_PROBES);

/// The user-defined functions of this folder.
pub(super) const USER_FUNCTIONS: &[UserFunction] = &[];

/// Passes the specialization constants of this folder on to the next folder's macro. The last macro of the chain
/// declares them.
macro_rules! folder_specialization {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
            /// A `HASH_` constant: the change of a table.
            Change = 34 as "SPEC_CHANGE" of "HASH_",
            /// Whether other dispatches change the table at the same time.
            Concurrent = 35 as "SPEC_CONCURRENT",
            /// Whether a table may have a key several times.
            Multimap = 36 as "SPEC_MULTIMAP",
            /// Whether an export selects keys by their values.
            Selects = 37 as "SPEC_SELECTS",
            /// Whether a table has its number of slots in device memory.
            Resizable = 38 as "SPEC_RESIZABLE",
            /// Whether a stencil selects the keys of a batch.
            Stencil = 39 as "SPEC_STENCIL",
            /// Whether a kernel of tables with linear probing names keys by the numbers of their slots.
            BySlot = 40 as "SPEC_BY_SLOT",
        }
    };
}

/// Passes the kernels of this folder on to the next folder's macro. The last macro of the chain declares them.
macro_rules! folder_kernels {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
            native {
                /// Makes a table empty.
                HashClear = "hash_clear",
                    push HashPush, memory [HashHeader],
                    [Threads, Lanes, Items, KeyWords, ValueWords, Resizable];
                /// Decides the number of slots of a table.
                HashResize = "hash_resize",
                    push HashResizePush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, MaxGroupsX, Resizable];
                /// As `HashResize`, of a table with linear probing.
                HashLinearResize = "hash_linear_resize",
                    push HashResizePush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, MaxGroupsX, Multimap, Resizable];
                /// Hashes the keys of a batch.
                HashKeys = "hash_keys",
                    push HashPush, memory [HashHeader],
                    [Threads, Lanes, Items, KeyWords];
                /// Finds the first position of each bin of a sorted batch.
                HashBins = "hash_bins",
                    push HashPush, memory [],
                    [Threads, Lanes, KeyWords];
                /// Applies a batch to the slices of a table: one workgroup each.
                HashSlices = "hash_slices",
                    push HashPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Change, Resizable];
                /// As `HashSlices`, the items that have no place there, to the overflow slices.
                HashOverflow = "hash_overflow",
                    push HashPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Change, Resizable];
                /// Writes the keys and values of a table.
                HashExport = "hash_export",
                    push HashExportPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Selects, Resizable];
                /// Writes the number of keys that a selection has written, and the status.
                HashExportResults = "hash_export_results",
                    push HashExportPush, memory [],
                    [Threads, Lanes];
                /// Writes the statistics that the header of a table has.
                HashStatistics = "hash_statistics",
                    push HashStatisticsPush, memory [HashHeader],
                    [Threads, Lanes, Resizable];
                /// Counts the keys of a table by their number of probes.
                HashProbes = "hash_probes",
                    push HashStatisticsPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Resizable];
                /// Makes a table with linear probing empty.
                HashLinearClear = "hash_linear_clear",
                    push HashPush, memory [HashHeader],
                    [Threads, Lanes, Items, KeyWords, ValueWords, Multimap, Resizable];
                /// Finds the slots of the keys of a batch, and claims new ones.
                HashLinearClaim = "hash_linear_claim",
                    push HashLinearPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Change, Concurrent, Multimap, Resizable];
                /// Inserts a batch into a multimap.
                HashLinearAppend = "hash_linear_append",
                    push HashLinearPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Resizable];
                /// Lists the items of a batch that found no slot.
                HashLinearList = "hash_linear_list",
                    push HashLinearPush, memory [],
                    [Threads, Lanes, KeyWords, ValueWords];
                /// Counts the values of each key of a batch in a multimap.
                HashLinearCount = "hash_linear_count",
                    push HashValuesPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Resizable, Stencil];
                /// Adds up the numbers of all workgroups.
                HashTotals = "hash_totals",
                    push HashTotalsPush, memory [],
                    [Threads, Lanes];
                /// Counts the keys that a stencil selects.
                HashStencilCount = "hash_stencil_count",
                    push HashCompactionPush, memory [],
                    [Threads, Lanes];
                /// Writes the keys that a stencil selects, and their values.
                HashCompaction = "hash_compaction",
                    push HashCompactionPush, memory [],
                    [Threads, Lanes, KeyWords, ValueWords];
                /// Writes the elements of a mixed batch, and the identities of its keys.
                HashMixedElements = "hash_mixed_elements",
                    push HashMixedPush, memory [],
                    [Threads, Lanes, Items, KeyWords];
                /// Composes the elements of each tile.
                HashMixedReduce = "hash_mixed_reduce",
                    push HashMixedPush, memory [],
                    [Threads, Lanes, Items, KeyWords];
                /// Scans the compositions of the tiles.
                HashMixedSpine = "hash_mixed_spine",
                    push HashMixedPush, memory [],
                    [Threads, Lanes, Items];
                /// Scans the elements of a mixed batch, and decides the change of each key.
                HashMixedScan = "hash_mixed_scan",
                    push HashMixedPush, memory [],
                    [Threads, Lanes, Items, KeyWords, ValueWords];
                /// Writes what the table has for each key before its operation.
                HashMixedResults = "hash_mixed_results",
                    push HashMixedPush, memory [],
                    [Threads, Lanes, ValueWords];
                /// Writes the values of each key of a batch in a multimap.
                HashLinearRetrieve = "hash_linear_retrieve",
                    push HashValuesPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Resizable, Stencil];
                /// Elects the item that provides the value of each slot.
                HashLinearElect = "hash_linear_elect",
                    push HashLinearPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Change, Multimap, Resizable];
                /// Stores keys of several words, and the values of elected items.
                HashLinearStore = "hash_linear_store",
                    push HashLinearPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Resizable];
                /// Combines the values of items with those of their slots.
                HashLinearCombine = "hash_linear_combine",
                    push HashLinearPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Change, Multimap, Resizable];
                /// Erases keys from a table with linear probing.
                HashLinearErase = "hash_linear_erase",
                    push HashLinearPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Resizable, BySlot];
                /// Makes erased slots empty.
                HashLinearTrim = "hash_linear_trim",
                    push HashLinearPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Resizable];
                /// Looks keys up in a table with linear probing.
                HashLinearFind = "hash_linear_find",
                    push HashFindPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Concurrent, Multimap, Resizable, Stencil];
                /// As `HashExport`, of a table with linear probing.
                HashLinearExport = "hash_linear_export",
                    push HashExportPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Selects, Resizable, BySlot];
                /// As `HashStatistics`, of a table with linear probing.
                HashLinearStatistics = "hash_linear_statistics",
                    push HashStatisticsPush, memory [HashHeader],
                    [Threads, Lanes, Resizable];
                /// As `HashProbes`, of a table with linear probing.
                HashLinearProbes = "hash_linear_probes",
                    push HashStatisticsPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Multimap, Resizable];
                /// Looks keys up.
                HashFind = "hash_find",
                    push HashFindPush, memory [HashHeader],
                    [Threads, Lanes, KeyWords, ValueWords, Resizable, Stencil];
            }
            emulated {
                HashFindEmulated = "hash_find_emulated", of HashFind;
            }
        }
    };
}

pub(crate) use {folder_kernels, folder_specialization};
