//! What is measured, as data.

use crate::kernels::{KernelInfo, Task};
use crate::primitives::PrimitiveInfo;
use trommel::{BucketFunction, Count, KeyType, Layout, Placement, SorterInfo, SplitMethod, SplitOutput, SplitterInfo, ValueType};

/// How keys are distributed, as unsigned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Every bit uniform. Floats are any bits too, NaNs among them.
    Random,
    /// One value.
    Constant,
    /// Ascending.
    Sorted,
    /// Descending.
    Reversed,
    /// Three uniform draws combined by AND: 17.4 bits of entropy in 32.
    LowEntropy,
    /// So many uniform bits: what lies above is the same in all keys.
    LowBits(u32),
    /// `f32` or `f64` by their size, of mean 0 and standard deviation 1, about normally distributed.
    Normal,
    /// The range of the key cut into so many buckets of equal width, and uniform in each: what differs is how many each has.
    Buckets(Fill, u32),
}

/// How many of the keys each bucket has. (Binomial as in Ashkiani, Davidson, Meyer and Owens, "GPU multisplit: an extended study of a
/// parallel algorithm", 2017.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// The middle one has all.
    One,
    /// Of m, as many as B(m - 1, 1/2) gives: those in the middle have most.
    Binomial,
    /// Of m, the key at place i lies in bucket i mod m: none beside its like.
    Alternate,
}

/// Where a count lies, and what is said of it when commands are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountAt {
    /// It is known.
    Host,
    /// The device alone knows it; so many times as many are the most that there may be.
    Device { most: u32 },
}

/// What groups items by buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approach {
    /// The library's split, with what it tells.
    Split,
    /// The same of segments, whose lengths these are, over and over again.
    Segments(&'static [u32]),
    /// As many splits in two as the bucket has bits, from the least significant one on. They overwrite their input, and leave no offsets.
    Binary,
    /// A sort by the bits of the bucket alone: of ids of buckets, which are written first, with keys, or keys and values packed, beside them.
    ReducedBitSort,
    /// Each item goes to a random place in the area of its bucket, which has more than are needed; a compaction leaves out those that stay empty.
    /// Not stable.
    Insertion,
}

/// What a case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// `vkCmdCopyBuffer`. Not the ceiling: a compute kernel may copy several times as fast.
    Copy,
    /// One sort.
    Sort { info: SorterInfo, keys: Keys, count: CountAt },
    /// One sort of segments, whose lengths these are, over and over again.
    Segments { info: SorterInfo, lengths: &'static [u32] },
    /// Sorts recorded together: how many problems, of how many keys each.
    Batch { info: SorterInfo, groups: &'static [(u32, u32)] },
    /// One split, or what one would do without.
    Split { info: SplitterInfo, keys: Keys, count: CountAt, approach: Approach },
}

impl Work {
    /// How the keys are distributed.
    pub(crate) fn keys(self) -> Keys {
        if let Self::Sort { keys, .. } | Self::Split { keys, .. } = self { keys } else { Keys::Random }
    }

    /// Where the count is.
    pub(crate) fn count(self) -> CountAt {
        if let Self::Sort { count, .. } | Self::Split { count, .. } = self { count } else { CountAt::Host }
    }

    /// Bytes an item that the operation moves at least.
    pub(crate) fn bytes_per_item(self) -> u32 {
        match self {
            Self::Copy => 8,
            Self::Sort { info, .. } | Self::Batch { info, .. } => sort_bytes(&info),
            // What fits a workgroup is read once and written once.
            Self::Segments { info, .. } => 2 * (info.key.size() + info.value.size()),
            Self::Split { info, approach, .. } => approach_bytes(&info, approach),
        }
    }
}

/// A sort reads keys once for the digit counts, then reads and writes everything once a digit. Values too long for that are read and
/// written once, at the end; their places move instead.
fn sort_bytes(info: &SorterInfo) -> u32 {
    let (key, value) = (info.key.size(), info.value.size());
    let end_bit = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
    let digits = (end_bit - info.begin_bit).div_ceil(8);
    let fetched = if value > MOST_MOVED { value } else { 0 };
    let moved = if fetched != 0 { PLACE } else { value };
    // The first digit knows each place without reading it; the last writes no keys that are not wanted.
    let unread = if info.value == ValueType::Index { PLACE } else { 0 };
    let unwritten = if info.drop_keys { key } else { 0 };
    key + 2 * digits * (key + moved) + 2 * fetched - unread - unwritten
}

/// A split reads keys once to count them, then reads and writes everything once, into more buckets than 256 twice. Labels are not counted. Where
/// buckets need not lie one behind the other, keys are not counted before; of one alone, an m-th is written.
fn split_bytes(info: &SplitterInfo) -> u32 {
    let (key, value) = (info.key.size(), info.value.size());
    let unread = if info.value == ValueType::Index { PLACE } else { 0 };
    let unwritten = if info.drop_keys { key } else { 0 };
    let moves = if info.buckets > 256 { 2 } else { 1 };
    match info.output {
        SplitOutput::Counts => key,
        SplitOutput::Ranks => key + PLACE,
        SplitOutput::Bucket(_) => key + value - unread + (key + value - unwritten) / info.buckets,
        SplitOutput::Placed => 2 * (key + value) - unread - unwritten,
        _ => key + 2 * moves * (key + value) - unread - unwritten,
    }
}

/// The same with what an approach does besides, or instead.
fn approach_bytes(info: &SplitterInfo, approach: Approach) -> u32 {
    let (key, value) = (info.key.size(), info.value.size());
    match approach {
        Approach::Split => split_bytes(info),
        // What fits a workgroup is read once and written once.
        Approach::Segments(_) => 2 * (info.key.size() + info.value.size()),
        Approach::Binary => info.buckets.ilog2() * split_bytes(info),
        Approach::ReducedBitSort => {
            // Pairs are packed beside the ids, and taken apart at last.
            let packed = if value != 0 { key + value } else { 0 };
            let labelled = key + value + PLACE + packed;
            labelled + sort_bytes(&sort_of_ids(info)) + 2 * packed
        }
        Approach::Insertion => {
            // Places are emptied, and read by the compaction.
            let places = RELAXATION * (key + key + value);
            let inserted = 2 * (key + value);
            places + inserted + key + value
        }
    }
}

/// Keys of each bucket, where ranges of equal width cover all of the key: `low` is 0 then.
pub(crate) fn range_width(info: &SplitterInfo) -> u32 {
    u32::try_from((1u64 << info.key.bits().min(32)).div_ceil(info.buckets.into())).unwrap_or(u32::MAX)
}

/// Places that the areas of randomized insertion have for each item. With fewer it is drawn more often, with more there is more to leave out.
const RELAXATION: u32 = 2;
/// Items that an area is made for at least: fewer are too often twice as many as are to be expected.
const LEAST_EXPECTED: u32 = 32;

/// Places of each bucket's area. That buckets are about as large as each other is taken as known, or their sizes would have to be found first.
pub(crate) fn area(info: &SplitterInfo, n: u32) -> u32 {
    n.div_ceil(info.buckets).max(LEAST_EXPECTED).saturating_mul(RELAXATION)
}

/// The sort that is a split, of ids of buckets.
fn sort_of_ids(info: &SplitterInfo) -> SorterInfo {
    let value = if info.value == ValueType::None { ValueType::U32 } else { ValueType::Bytes(info.key.size() + info.value.size()) };
    SorterInfo { value, drop_keys: true, end_bit: info.buckets.ilog2(), placement: Placement::Preserve, ..KEYS }
}

/// The split that leaves out empty places, by their key.
fn compaction(info: &SplitterInfo) -> SplitterInfo {
    SplitterInfo { buckets: 2, function: BucketFunction::Range, output: SplitOutput::Bucket(0), ..*info }
}

/// Longest value that moves with its key in every pass.
const MOST_MOVED: u32 = 16;
/// Bytes of a place.
const PLACE: u32 = 4;

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// Items in all.
    pub(crate) n: u32,
}

impl Case {
    /// What serves the case, in the order of use.
    pub(crate) fn primitives(&self) -> Vec<PrimitiveInfo> {
        // Kernels that reach further are others.
        let max_count = if self.most() > 1 << 30 { u32::MAX } else { 0 };
        let batches = matches!(self.work, Work::Batch { .. });
        let sort = |info| PrimitiveInfo::Sort(SorterInfo { max_count, batches, ..info });
        let split = |info| PrimitiveInfo::Split(SplitterInfo { max_count, ..info });
        match self.work {
            Work::Copy => Vec::new(),
            Work::Sort { info, .. } | Work::Segments { info, .. } | Work::Batch { info, .. } => vec![sort(info)],
            Work::Split { info, approach, .. } => {
                let pairs = info.value != ValueType::None;
                let kernel = |task| PrimitiveInfo::Kernel(KernelInfo { task, pairs });
                match approach {
                    Approach::Split | Approach::Segments(_) => vec![split(info)],
                    Approach::Binary => bits(&info).map(split).collect(),
                    Approach::ReducedBitSort => {
                        let steps = [kernel(Task::Label), sort(sort_of_ids(&info))];
                        steps.into_iter().chain(pairs.then(|| kernel(Task::Unpack))).collect()
                    }
                    Approach::Insertion => vec![kernel(Task::Clear), kernel(Task::Insert), split(compaction(&info))],
                }
            }
        }
    }

    /// Items that primitives are told of at most.
    pub(crate) fn most(&self) -> u32 {
        match (self.work, self.work.count()) {
            (Work::Split { info, approach: Approach::Insertion, .. }, _) => area(&info, self.n).saturating_mul(info.buckets),
            (_, CountAt::Device { most }) => self.n.saturating_mul(most),
            (_, CountAt::Host) => self.n,
        }
    }

    /// The count, as it is told to a primitive that takes all items at once; `address`: where it lies, if on the device.
    pub(crate) fn count(&self, address: Option<u64>) -> Count {
        address.map_or(Count::host(self.most()), |address| Count::device(address, self.most()))
    }

    /// What its arrays hold.
    pub(crate) fn items(&self) -> Items {
        match self.work {
            Work::Sort { info, .. } | Work::Segments { info, .. } | Work::Batch { info, .. } => {
                let SorterInfo { key, value, drop_keys, layout, placement, .. } = info;
                Items { key, value, drop_keys, layout, placement }
            }
            Work::Split { info: SplitterInfo { key, value, drop_keys, layout, output, .. }, .. } => {
                let (value, drop_keys) = match output {
                    SplitOutput::Counts => (ValueType::None, true),
                    SplitOutput::Ranks => (ValueType::Index, true),
                    _ => (value, drop_keys),
                };
                Items { key, value, drop_keys, layout, placement: Placement::Preserve }
            }
            Work::Copy => Items::default(),
        }
    }
}

/// The items of a case, whatever is done with them. The default: `u32` keys alone, in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) key: KeyType,
    pub(crate) value: ValueType,
    pub(crate) drop_keys: bool,
    pub(crate) layout: Layout,
    pub(crate) placement: Placement,
}

/// The splits by one bit each that together make that by a field of them.
fn bits(info: &SplitterInfo) -> impl Iterator<Item = SplitterInfo> + use<> {
    let info = *info;
    let first = if let BucketFunction::Bits { begin_bit } = info.function { begin_bit } else { 0 };
    let field = first..first + info.buckets.ilog2();
    field.map(move |begin_bit| SplitterInfo { buckets: 2, function: BucketFunction::Bits { begin_bit }, ..info })
}

struct Family {
    name: &'static str,
    work: Work,
    sizes: &'static [u32],
}

impl Family {
    /// The same with keys distributed otherwise.
    const fn of(self, distribution: Keys) -> Self {
        match self.work {
            Work::Sort { info, count, .. } => Self { work: Work::Sort { info, keys: distribution, count }, ..self },
            Work::Split { info, count, approach, .. } => {
                Self { work: Work::Split { info, keys: distribution, count, approach }, ..self }
            }
            _ => self,
        }
    }

    /// The same split otherwise.
    const fn by(self, approach: Approach) -> Self {
        match self.work {
            Work::Split { info, keys, count, .. } => Self { work: Work::Split { info, keys, count, approach }, ..self },
            _ => self,
        }
    }

    /// The same with its count on the device, and `most` times as many the most that there may be.
    const fn indirect(self, most: u32) -> Self {
        let count = CountAt::Device { most };
        match self.work {
            Work::Sort { info, keys, .. } => Self { work: Work::Sort { info, keys, count }, ..self },
            Work::Split { info, keys, approach, .. } => Self { work: Work::Split { info, keys, count, approach }, ..self },
            _ => self,
        }
    }
}

/// CPU drivers are for proving that the program works: their times mean nothing.
const MAX_ON_CPU: u32 = 1 << 20;

const SIZES: &[u32] = &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28];
const SOME_SIZES: &[u32] = &[1 << 12, 1 << 16, 1 << 20, 1 << 24];
const LARGE: &[u32] = &[1 << 24];
const SMALL_AND_LARGE: &[u32] = &[1 << 10, 1 << 12, 1 << 24];
const SMALL_AND_LARGER: &[u32] = &[1 << 10, 1 << 12, 1 << 24, 1 << 26];
const LARGER: &[u32] = &[1 << 24, 1 << 26];
const PRESERVED: &[u32] = &[1 << 10, 1 << 12, 1 << 20, 1 << 24];
/// As the peers have them.
const SPLIT_SIZES: &[u32] = &[1 << 20, 1 << 24, 1 << 25, 1 << 28];
const APPROACHES: &[u32] = &[1 << 25];
/// Counts on the device, so many times as many being the most that there may be.
const FEW: &[u32] = &[1 << 20];
const MANY: u32 = 32;
const MIXED_LENGTHS: &[u32] = &[1, 0, 40, 7, 1000, 300, 0, 5000, 90, 70_000, 3, 2_000_000];
const TINY: &[(u32, u32)] = &[(1024, 1000)];
const MEDIUM: &[(u32, u32)] = &[(64, 1 << 16)];
const MIXED: &[(u32, u32)] = &[(512, 1000), (32, 1 << 14), (8, 1 << 17), (1, 1 << 20)];

const KEYS: SorterInfo = SorterInfo::keys();
const PAIRS: SorterInfo = SorterInfo::pairs();

const fn keys(key: KeyType) -> SorterInfo {
    SorterInfo { key, ..KEYS }
}

const fn sort(name: &'static str, info: SorterInfo, sizes: &'static [u32]) -> Family {
    Family { name, work: Work::Sort { info, keys: Keys::Random, count: CountAt::Host }, sizes }
}

/// As the peers have them: into an array of its own.
const fn segments(name: &'static str, lengths: &'static [u32]) -> Family {
    let info = SorterInfo { segmented: true, placement: Placement::Preserve, ..KEYS };
    Family { name, work: Work::Segments { info, lengths }, sizes: LARGE }
}

/// By the highest bits of the key: buckets are a power of two.
pub(crate) const fn by_bits(info: SplitterInfo) -> SplitterInfo {
    SplitterInfo { function: BucketFunction::Bits { begin_bit: info.key.bits() - info.buckets.ilog2() }, ..info }
}

/// By ranges of equal width over all of the key.
pub(crate) const fn split_keys(buckets: u32) -> SplitterInfo {
    SplitterInfo::keys(buckets, BucketFunction::Range)
}

/// The same with values.
pub(crate) const fn split_pairs(buckets: u32) -> SplitterInfo {
    SplitterInfo::pairs(buckets, BucketFunction::Range)
}

/// The permutation alone.
const fn split_index(buckets: u32) -> SplitterInfo {
    SplitterInfo { value: ValueType::Index, drop_keys: true, ..split_keys(buckets) }
}

/// By splitters as far apart as ranges are wide.
const fn by_splitters(info: SplitterInfo) -> SplitterInfo {
    SplitterInfo { function: BucketFunction::Splitters, ..info }
}

pub(crate) const fn long_keys(info: SplitterInfo) -> SplitterInfo {
    SplitterInfo { key: KeyType::U64, ..info }
}

const fn split(name: &'static str, info: SplitterInfo, sizes: &'static [u32]) -> Family {
    Family { name, work: Work::Split { info, keys: Keys::Random, count: CountAt::Host, approach: Approach::Split }, sizes }
}

/// Into an array of its own, as segments are sorted.
const fn split_segments(name: &'static str, info: SplitterInfo, lengths: &'static [u32]) -> Family {
    split(name, by_bits(SplitterInfo { segmented: true, ..info }), LARGE).by(Approach::Segments(lengths))
}

const fn batch(name: &'static str, problems: &'static [(u32, u32)], size: &'static [u32; 1]) -> Family {
    Family { name, work: Work::Batch { info: KEYS, groups: problems }, sizes: size }
}

/// A family for each power of two of buckets that one move goes to: by the highest bits of the key, and the number ends the name.
macro_rules! powers_of_two {
    ($name:literal, $info:expr, $sizes:expr, $approach:expr) => {
        powers_of_two!($name, $info, $sizes, $approach, 2 4 8 16 32 64 128 256)
    };
    ($name:literal, $info:expr, $sizes:expr, $approach:expr, $($buckets:literal)*) => {
        &[$(split(concat!($name, $buckets), by_bits(SplitterInfo { buckets: $buckets, ..$info }), $sizes).by($approach)),*]
    };
}

// Names and inputs that the CUDA peers have too are theirs.
const FAMILIES: &[&[Family]] = &[
    PLAIN,
    powers_of_two!("split_keys_m", split_keys(0), SPLIT_SIZES, Approach::Split),
    powers_of_two!("split_pairs_m", split_pairs(0), SPLIT_SIZES, Approach::Split),
    SPLITS,
    // The other forms of the paper.
    powers_of_two!("split_subgroups_keys_m", split_keys(0).method(SplitMethod::Subgroup), APPROACHES, Approach::Split),
    powers_of_two!("split_subgroups_pairs_m", split_pairs(0).method(SplitMethod::Subgroup), APPROACHES, Approach::Split),
    powers_of_two!("split_direct_keys_m", split_keys(0).method(SplitMethod::Direct), APPROACHES, Approach::Split),
    powers_of_two!("split_direct_pairs_m", split_pairs(0).method(SplitMethod::Direct), APPROACHES, Approach::Split),
    // What is done without a split, and a sort by all bits, which groups by any buckets that rise with the key. None tells offsets.
    powers_of_two!("split_by_binary_keys_m", split_keys(0), APPROACHES, Approach::Binary),
    powers_of_two!("split_by_binary_pairs_m", split_pairs(0), APPROACHES, Approach::Binary),
    powers_of_two!("split_by_reduced_bit_keys_m", split_keys(0), APPROACHES, Approach::ReducedBitSort),
    powers_of_two!("split_by_reduced_bit_pairs_m", split_pairs(0), APPROACHES, Approach::ReducedBitSort),
    powers_of_two!("split_by_insertion_keys_m", split_keys(0), APPROACHES, Approach::Insertion),
    powers_of_two!("split_by_insertion_pairs_m", split_pairs(0), APPROACHES, Approach::Insertion),
];

const PLAIN: &[Family] = &[
    Family { name: "copy_buffer", work: Work::Copy, sizes: &[1 << 20, 1 << 24, 1 << 28] },
    sort("sort_keys_u32", KEYS, SIZES),
    sort("sort_pairs_u32_u32", PAIRS, SIZES),
    sort("sort_keys_u64", keys(KeyType::U64), SIZES),
    sort("sort_pairs_u64_u32", SorterInfo { key: KeyType::U64, ..PAIRS }, SIZES),
    sort("sort_keys_u32_indirect", KEYS, SOME_SIZES).indirect(1),
    sort("sort_keys_u32_indirect_few", KEYS, FEW).indirect(MANY),
    sort("sort_keys_u32_16bit_range", SorterInfo { end_bit: 16, ..KEYS }, &[1 << 26]),
    sort("sort_keys_u32_constant", KEYS, LARGER).of(Keys::Constant),
    sort("sort_keys_u32_sorted", KEYS, LARGER).of(Keys::Sorted),
    sort("sort_keys_u32_reversed", KEYS, LARGER).of(Keys::Reversed),
    sort("sort_keys_u32_low_entropy", KEYS, SMALL_AND_LARGER).of(Keys::LowEntropy),
    sort("sort_keys_u64_sorted", keys(KeyType::U64), LARGE).of(Keys::Sorted),
    sort("sort_keys_u64_low_entropy", keys(KeyType::U64), SMALL_AND_LARGE).of(Keys::LowEntropy),
    sort("sort_keys_u32_16bit", KEYS, LARGER).of(Keys::LowBits(16)),
    sort("sort_keys_u32_20bit", KEYS, LARGER).of(Keys::LowBits(20)),
    sort("sort_pairs_u32_u32_constant", PAIRS, LARGE).of(Keys::Constant),
    sort("sort_pairs_u32_u32_sorted", PAIRS, LARGE).of(Keys::Sorted),
    sort("sort_pairs_u32_u32_low_entropy", PAIRS, LARGE).of(Keys::LowEntropy),
    sort("sort_keys_f32", keys(KeyType::F32), LARGE),
    sort("sort_keys_f64", keys(KeyType::F64), LARGE),
    sort("sort_keys_f32_normal", keys(KeyType::F32), SMALL_AND_LARGE).of(Keys::Normal),
    sort("sort_keys_f64_normal", keys(KeyType::F64), SMALL_AND_LARGE).of(Keys::Normal),
    sort("sort_keys_u16", keys(KeyType::U16), LARGE),
    sort("sort_keys_u8", keys(KeyType::U8), LARGE),
    sort("sort_argsort_f32", SorterInfo::argsort(KeyType::F32), LARGE),
    sort("sort_pairs_u32_16b", SorterInfo { value: ValueType::Bytes(16), ..KEYS }, LARGE),
    sort("sort_pairs_u32_64b", SorterInfo { value: ValueType::Bytes(64), ..KEYS }, LARGE),
    sort("sort_pairs_u32_u32_interleaved", SorterInfo { layout: Layout::Interleaved, ..PAIRS }, LARGE),
    sort("sort_keys_u32_preserve", SorterInfo { placement: Placement::Preserve, ..KEYS }, PRESERVED),
    sort("sort_pairs_u32_u32_preserve", SorterInfo { placement: Placement::Preserve, ..PAIRS }, PRESERVED),
    sort("sort_keys_u64_preserve", SorterInfo { key: KeyType::U64, placement: Placement::Preserve, ..KEYS }, PRESERVED),
    sort("sort_pairs_u64_u32_preserve", SorterInfo { key: KeyType::U64, placement: Placement::Preserve, ..PAIRS }, PRESERVED),
    sort("sort_keys_u32_double_buffer", SorterInfo { placement: Placement::DoubleBuffer, ..KEYS }, LARGE),
    segments("segsort_keys_u32_s32", &[32]),
    segments("segsort_keys_u32_s1024", &[1024]),
    segments("segsort_keys_u32_s65536", &[65536]),
    segments("segsort_keys_u32_mixed", MIXED_LENGTHS),
    batch("sort_batch_tiny", TINY, &[batch_size(TINY)]),
    batch("sort_batch_medium", MEDIUM, &[batch_size(MEDIUM)]),
    batch("sort_batch_mixed", MIXED, &[batch_size(MIXED)]),
];

const SPLITS: &[Family] = &[
    // The peer's pivot is the middle of the range, and its order within the second part the reverse.
    split("partition_2", split_keys(2), SPLIT_SIZES),
    split("split_keys_m3", split_keys(3), LARGE),
    split("split_keys_m5", split_keys(5), LARGE),
    split("split_keys_m17", split_keys(17), LARGE),
    split("split_keys_m31", split_keys(31), LARGE),
    split("split_keys_m33", split_keys(33), LARGE),
    split("split_keys_m100", split_keys(100), LARGE),
    split("split_keys_m255", split_keys(255), LARGE),
    split("split_pairs_m5", split_pairs(5), LARGE),
    split("split_pairs_m33", split_pairs(33), LARGE),
    split("split_pairs_m100", split_pairs(100), LARGE),
    split("split_range_keys_m32", split_keys(32), LARGE),
    split("split_range_keys_m256", split_keys(256), LARGE),
    split("split_range_pairs_m32", split_pairs(32), LARGE),
    split("split_range_pairs_m256", split_pairs(256), LARGE),
    split("split_splitters_keys_m8", by_splitters(split_keys(8)), LARGE),
    split("split_splitters_keys_m256", by_splitters(split_keys(256)), LARGE),
    split("split_splitters_pairs_m32", by_splitters(split_pairs(32)), LARGE),
    split("split_keys_m1000", split_keys(1000), LARGE),
    split("split_keys_m65536", by_bits(split_keys(65_536)), LARGE),
    split("split_pairs_m65536", by_bits(split_pairs(65_536)), LARGE),
    split("split_keys_m2_one", by_bits(split_keys(2)), LARGE).of(Keys::Buckets(Fill::One, 2)),
    split("split_keys_m2_binomial", by_bits(split_keys(2)), LARGE).of(Keys::Buckets(Fill::Binomial, 2)),
    split("split_keys_m2_alternate", by_bits(split_keys(2)), LARGE).of(Keys::Buckets(Fill::Alternate, 2)),
    split("split_keys_m32_one", by_bits(split_keys(32)), LARGE).of(Keys::Buckets(Fill::One, 32)),
    split("split_keys_m32_binomial", by_bits(split_keys(32)), LARGE).of(Keys::Buckets(Fill::Binomial, 32)),
    split("split_keys_m32_alternate", by_bits(split_keys(32)), LARGE).of(Keys::Buckets(Fill::Alternate, 32)),
    split("split_keys_m256_one", by_bits(split_keys(256)), LARGE).of(Keys::Buckets(Fill::One, 256)),
    split("split_keys_m256_binomial", by_bits(split_keys(256)), LARGE).of(Keys::Buckets(Fill::Binomial, 256)),
    split("split_keys_m256_alternate", by_bits(split_keys(256)), LARGE).of(Keys::Buckets(Fill::Alternate, 256)),
    split("split_pairs_m32_one", by_bits(split_pairs(32)), LARGE).of(Keys::Buckets(Fill::One, 32)),
    split("split_pairs_m32_binomial", by_bits(split_pairs(32)), LARGE).of(Keys::Buckets(Fill::Binomial, 32)),
    split("split_pairs_m32_alternate", by_bits(split_pairs(32)), LARGE).of(Keys::Buckets(Fill::Alternate, 32)),
    split("split_keys_m33_one", split_keys(33), LARGE).of(Keys::Buckets(Fill::One, 33)),
    split("split_keys_m33_binomial", split_keys(33), LARGE).of(Keys::Buckets(Fill::Binomial, 33)),
    split("split_keys_m33_alternate", split_keys(33), LARGE).of(Keys::Buckets(Fill::Alternate, 33)),
    split("split_index_m2", by_bits(split_index(2)), LARGE),
    split("split_index_m32", by_bits(split_index(32)), LARGE),
    split("split_index_m256", by_bits(split_index(256)), LARGE),
    split("split_keys_u64_m2", by_bits(long_keys(split_keys(2))), LARGE),
    split("split_keys_u64_m32", by_bits(long_keys(split_keys(32))), LARGE),
    split("split_keys_u64_m256", by_bits(long_keys(split_keys(256))), LARGE),
    split("split_pairs_u64_u32_m32", by_bits(long_keys(split_pairs(32))), LARGE),
    sort("split_by_sort_keys", SorterInfo { placement: Placement::Preserve, ..KEYS }, APPROACHES),
    sort("split_by_sort_pairs", SorterInfo { placement: Placement::Preserve, ..PAIRS }, APPROACHES),
    split("split_one_keys_m2", by_bits(split_keys(2)).output(SplitOutput::Bucket(1)), SPLIT_SIZES),
    split("split_one_pairs_m2", by_bits(split_pairs(2)).output(SplitOutput::Bucket(1)), SPLIT_SIZES),
    split("split_one_keys_m32", by_bits(split_keys(32)).output(SplitOutput::Bucket(1)), SPLIT_SIZES),
    split("split_placed_keys_m32", by_bits(split_keys(32)).output(SplitOutput::Placed), SPLIT_SIZES),
    split("split_placed_pairs_m32", by_bits(split_pairs(32)).output(SplitOutput::Placed), SPLIT_SIZES),
    split("split_counts_keys_m32", by_bits(split_keys(32)).output(SplitOutput::Counts), SPLIT_SIZES),
    split("split_counts_keys_m256", by_bits(split_keys(256)).output(SplitOutput::Counts), SPLIT_SIZES),
    split("split_ranks_keys_m32", by_bits(split_keys(32)).output(SplitOutput::Ranks), SPLIT_SIZES),
    split_segments("segsplit_keys_m8_s32", split_keys(8), &[32]),
    split_segments("segsplit_keys_m32_s1024", split_keys(32), &[1024]),
    split_segments("segsplit_keys_m32_s65536", split_keys(32), &[65536]),
    split_segments("segsplit_keys_m32_mixed", split_keys(32), MIXED_LENGTHS),
    split_segments("segsplit_pairs_m32_mixed", split_pairs(32), MIXED_LENGTHS),
    split("split_keys_m32_indirect", by_bits(split_keys(32)), SPLIT_SIZES).indirect(1),
    split("split_keys_m32_indirect_few", by_bits(split_keys(32)), FEW).indirect(MANY),
];

const fn batch_size(problems: &[(u32, u32)]) -> u32 {
    let (mut size, mut i) = (0, 0);
    while i < problems.len() {
        size += problems[i].0 * problems[i].1;
        i += 1;
    }
    size
}

/// The cases that `filter` names, or whose names contain what names none (all, where it is empty), at the sizes `n` (their own,
/// where it is empty). The size of a batch is fixed.
pub(crate) fn select(filter: &[String], n: &[u32], is_cpu: bool) -> Vec<Case> {
    let families = || FAMILIES.iter().copied().flatten();
    let is_name = |part: &str| families().any(|family| family.name == part);
    let matches = |name: &str, part: &str| if is_name(part) { name == part } else { name.contains(part) };
    let wanted = |name: &str| filter.is_empty() || filter.iter().any(|part| matches(name, part));
    let mut cases = Vec::new();
    for family in families().filter(|family| wanted(family.name)) {
        let sizes = if n.is_empty() { family.sizes } else { n };
        let fits = |n: &&u32| match family.work {
            Work::Batch { .. } => family.sizes.contains(n),
            _ => true,
        };
        let small_enough = |n: &&u32| !is_cpu || **n <= MAX_ON_CPU;
        let sizes = sizes.iter().filter(fits).filter(|size| !n.is_empty() || small_enough(size));
        cases.extend(sizes.map(|&n| Case { name: family.name, work: family.work, n }));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = FAMILIES.iter().copied().flatten().map(|family| family.name).collect();
        names.sort_unstable();
        names.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1], "appears twice"));
    }

    #[test]
    fn filter_and_sizes_choose() {
        let cases = select(&["pairs".into()], &[7], false);
        let has_values = |case: &Case| case.items().value != ValueType::None;
        assert!(!cases.is_empty() && cases.iter().all(|case| has_values(case) && case.n == 7));
        assert!(select(&["batch".into()], &[7], false).is_empty(), "the size of a batch is fixed");
        assert_eq!(select(&["batch_tiny".into()], &[], true)[0].n, 1_024_000);
        assert!(select(&[], &[], true).iter().all(|case| case.n <= MAX_ON_CPU));
        assert!(select(&["sort_keys_u32".into()], &[7], false).len() == 1, "a whole name is that case alone");
        assert!(select(&["nothing of that name".into()], &[], false).is_empty());
    }

    #[test]
    fn many_keys_take_primitives_of_their_own() {
        let made = |name: &str, n| select(&[name.into()], &[n], false)[0].primitives();
        let sorter = SorterInfo { key: KeyType::U64, ..SorterInfo::keys() };
        assert_eq!(made("sort_keys_u64", 1 << 30), [PrimitiveInfo::Sort(sorter)]);
        assert_eq!(made("sort_keys_u64", (1 << 30) + 1), [PrimitiveInfo::Sort(SorterInfo { max_count: u32::MAX, ..sorter })]);
        let splitter = SplitterInfo::keys(32, BucketFunction::Bits { begin_bit: 27 });
        assert_eq!(made("split_keys_m32", 1 << 30), [PrimitiveInfo::Split(splitter)]);
        let reaching = SplitterInfo { max_count: u32::MAX, ..splitter };
        assert_eq!(made("split_keys_m32", (1 << 30) + 1), [PrimitiveInfo::Split(reaching)]);
    }

    #[test]
    fn bit_by_bit_means_the_least_significant_first() {
        let case = select(&["split_by_binary_pairs_m8".into()], &[1], false)[0];
        let two = |begin_bit| PrimitiveInfo::Split(SplitterInfo::pairs(2, BucketFunction::Bits { begin_bit }));
        assert_eq!(case.primitives(), [29, 30, 31].map(two));
    }

    #[test]
    fn every_approach_is_there_for_every_power_of_two() {
        let names = [
            ("split", Approach::Split),
            ("split_by_binary", Approach::Binary),
            ("split_by_reduced_bit", Approach::ReducedBitSort),
            ("split_by_insertion", Approach::Insertion),
        ];
        for (name, expected) in names {
            for (items, bits) in ["keys", "pairs"].into_iter().flat_map(|items| (1..=8).map(move |bits| (items, bits))) {
                let cases = select(&[format!("{name}_{items}_m{}", 1 << bits)], &[], false);
                assert!(cases.iter().any(|case| case.n == 1 << 25), "{name}_{items} of {bits} bits");
                let Work::Split { info, approach, .. } = cases[0].work else { panic!("{name} is no split") };
                assert_eq!((approach, info.function), (expected, BucketFunction::Bits { begin_bit: 32 - bits }));
                assert_eq!(info.value == ValueType::U32, items == "pairs");
            }
        }
    }

    #[test]
    fn approaches_are_steps() {
        let made = |name: &str| select(&[name.into()], &[1 << 20], false)[0].primitives();
        let kernel = |task, pairs| PrimitiveInfo::Kernel(KernelInfo { task, pairs });
        let ids = SorterInfo { value: ValueType::U32, drop_keys: true, end_bit: 3, placement: Placement::Preserve, ..KEYS };
        assert_eq!(made("split_by_reduced_bit_keys_m8"), [kernel(Task::Label, false), PrimitiveInfo::Sort(ids)]);
        let ids = PrimitiveInfo::Sort(SorterInfo { value: ValueType::Bytes(8), ..ids });
        assert_eq!(made("split_by_reduced_bit_pairs_m8"), [kernel(Task::Label, true), ids, kernel(Task::Unpack, true)]);
        let full = PrimitiveInfo::Split(split_pairs(2).output(SplitOutput::Bucket(0)));
        assert_eq!(made("split_by_insertion_pairs_m8"), [kernel(Task::Clear, true), kernel(Task::Insert, true), full]);
    }

    #[test]
    fn primitives_are_told_of_what_there_is_room_for() {
        let most = |name: &str, n| select(&[name.into()], &[n], false)[0].most();
        assert_eq!(most("split_keys_m32", 1000), 1000);
        assert_eq!(most("split_keys_m32_indirect", 1000), 1000);
        assert_eq!(most("split_keys_m32_indirect_few", 1000), 32_000);
        assert_eq!(most("sort_keys_u32_indirect_few", u32::MAX), u32::MAX, "never more than a count can say");
        assert_eq!(most("split_by_insertion_keys_m8", 8000), 2 * 8000);
        assert_eq!(most("split_by_insertion_keys_m8", 8001), 2 * 8008, "areas are as large as each other");
        assert_eq!(most("split_by_insertion_pairs_m256", 256), 256 * 2 * 32);
    }

    #[test]
    fn splits_of_the_peers_have_their_names_and_sizes() {
        let keys = (1..=8).map(|bits| format!("split_keys_m{}", 1 << bits));
        let pairs = [2, 8, 32, 256].map(|buckets| format!("split_pairs_m{buckets}"));
        for name in keys.chain(pairs).chain(["partition_2".into()]) {
            let sizes = select(std::slice::from_ref(&name), &[], false).into_iter().map(|case| case.n);
            assert!(sizes.eq([1 << 20, 1 << 24, 1 << 25, 1 << 28]), "{name}");
        }
    }

    #[test]
    fn ranges_cover_all_keys() {
        let width = |key, buckets| range_width(&SplitterInfo { key, ..split_keys(buckets) });
        assert_eq!(width(KeyType::U32, 2), 1 << 31);
        assert_eq!(width(KeyType::U32, 3), 0x5555_5556);
        assert_eq!(width(KeyType::U8, 256), 1);
    }

    #[test]
    fn bytes_follow_the_format() {
        let bytes = |name: &str| select(&[name.into()], &[1], false)[0].work.bytes_per_item();
        // As the peers count.
        assert_eq!(["sort_keys_u32", "sort_pairs_u32_u32", "sort_keys_u64", "sort_pairs_u64_u32"].map(bytes), [36, 68, 136, 200]);
        assert_eq!(bytes("sort_keys_u32_16bit_range"), 4 + 2 * (4 + 4));
        assert_eq!(bytes("sort_keys_u8"), 1 + (1 + 1));
        assert_eq!(
            bytes("sort_argsort_f32"),
            4 + (4 + 8) + 2 * (8 + 8) + (8 + 4),
            "no place read at first, no key written at last"
        );
        assert_eq!(bytes("sort_pairs_u32_16b"), 4 + 4 * (20 + 20));
        assert_eq!(["split_keys_m32", "split_pairs_m32", "split_index_m32"].map(bytes), [12, 20, 12]);
        assert_eq!(["partition_2", "split_keys_u64_m32"].map(bytes), [12, 24]);
        assert_eq!(["split_one_keys_m2", "split_one_pairs_m2", "split_one_keys_m32"].map(bytes), [4 + 2, 8 + 4, 4]);
        assert_eq!(["split_placed_keys_m32", "split_counts_keys_m256", "split_ranks_keys_m32"].map(bytes), [8, 4, 8]);
        assert_eq!(bytes("split_by_binary_keys_m256"), 8 * 12);
        assert_eq!(bytes("split_by_reduced_bit_keys_m8"), (4 + 4) + (4 + 8 + 4), "ids written, and sorted by");
        assert_eq!(bytes("split_by_reduced_bit_pairs_m8"), (8 + 12) + (4 + 12 + 8) + (8 + 8), "packed and unpacked besides");
        assert_eq!(bytes("split_by_insertion_keys_m8"), 8 + 8 + (2 * 4 + 4), "emptied, inserted, compacted");
        assert_eq!(bytes("split_by_insertion_pairs_m8"), 8 + 16 + (2 * 8 + 8));
        assert_eq!(
            bytes("sort_pairs_u32_64b"),
            4 + (4 + 8) + 3 * (8 + 8) + (4 + 64 + 64),
            "places, and in the end what lies there"
        );
    }
}
