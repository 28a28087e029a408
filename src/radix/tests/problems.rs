//! Devices and problems as numbers alone, without a GPU.

use super::primitives::{
    Algorithm, AnyTable, Buckets, Job, Primitive, Requests, Role, Selection, bounding_ranges_of_items,
};
use crate::core::memory::BoundingRanges;
use crate::core::primitive::Jobs;
use crate::core::tests::SCRATCH;
use crate::radix::{Config, Format, ItemRole, Items};
use crate::shared::OUTPUT_PLACED;
use crate::split::SplitBy;
use crate::tuning::Profile;
use crate::{
    BucketFunction, Count, DeviceFacts, IdType, KeyType, Layout, Order, Placement, Range, SorterInfo, SplitMethod,
    SplitOutput, SplitterInfo, Strategy, ValueType,
};

/// The argument of a request behind a plan's resource; none for scratch.
pub(super) fn argument_of(resource: &str) -> Option<Role> {
    Some(match resource {
        "keys" => Role::Keys,
        "values" => Role::Values,
        "keys_out" => Role::KeysOut,
        "values_out" => Role::ValuesOut,
        "counts" => Role::Count,
        "statuses" => Role::Status,
        "offsets" => Role::SegmentOffsets,
        "bucket_offsets" => Role::Offsets,
        "bucket_counts" => Role::Counts,
        "commands" => Role::Commands,
        "bucket_ids" => Role::BucketIds,
        "splitters" => Role::Splitters,
        "starts" => Role::Starts,
        _ => return None,
    })
}

/// Sorts that one sorter serves, or splits that one splitter does.
#[derive(Clone, Debug)]
pub(super) struct Sorts {
    /// Its strategy is not [`crate::Strategy::Auto`].
    pub(super) info: SorterInfo,
    /// The splitter, for splits.
    split: Option<SplitterInfo>,
    pub(super) infos: Vec<Items>,
    /// For splits: the bucket arguments of each.
    pub(super) buckets: Vec<Buckets>,
    /// Number of the module with a comparator; 0: none.
    comparator: u64,
    /// The words that it receives.
    pub(super) user_words: [u32; 4],
}

/// All problems as one group, for cases with one algorithm.
impl Jobs<(Job, Role)> for Sorts {
    fn for_each(&self, visit: &mut dyn FnMut(&Job)) {
        self.jobs().for_each(|job| visit(&job));
    }

    fn bounding_ranges(&self) -> BoundingRanges<Role> {
        self.primitive().bounding_ranges(self.jobs(), &self.format())
    }
}

impl Jobs<(Items, ItemRole)> for Sorts {
    fn for_each(&self, visit: &mut dyn FnMut(&Items)) {
        self.infos.iter().for_each(visit);
    }

    fn bounding_ranges(&self) -> BoundingRanges<ItemRole> {
        bounding_ranges_of_items(self.jobs(), &self.format())
    }
}

impl Requests for Sorts {
    fn primitive(&self) -> Primitive {
        self.split.map_or(Primitive::Sort, |split| Primitive::Split(split.format().unwrap().1))
    }
}

/// The problems of one sorter or splitter with the same algorithm.
pub(super) struct Group<'a> {
    pub(super) sorts: &'a Sorts,
    pub(super) config: Config<'a>,
    pub(super) algorithm: Algorithm,
}

impl Group<'_> {
    pub(super) fn jobs(&self) -> impl Iterator<Item = Job> + '_ {
        self.sorts.jobs().filter(|job| self.config.algorithm(job.items.count.max) == self.algorithm)
    }
}

impl Jobs<(Job, Role)> for Group<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(&Job)) {
        self.jobs().for_each(|job| visit(&job));
    }

    fn bounding_ranges(&self) -> BoundingRanges<Role> {
        self.primitive().bounding_ranges(self.jobs(), &self.config.format)
    }
}

impl Jobs<(Items, ItemRole)> for Group<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(&Items)) {
        self.jobs().for_each(|job| visit(&job.items));
    }

    fn bounding_ranges(&self) -> BoundingRanges<ItemRole> {
        bounding_ranges_of_items(self.jobs(), &self.config.format)
    }
}

impl Requests for Group<'_> {
    fn primitive(&self) -> Primitive {
        self.sorts.primitive()
    }
}

impl Sorts {
    pub(super) fn new(info: SorterInfo) -> Self {
        Self { info, split: None, infos: Vec::new(), buckets: Vec::new(), comparator: 0, user_words: [0; 4] }
    }

    /// Splits without problems. Splits that only count or rank by subgroups always use reduce-then-scan.
    pub(super) fn splits(split: SplitterInfo) -> Self {
        let any = split.output != SplitOutput::Counts && split.method == SplitMethod::Workgroup;
        let split = if any { split } else { split.strategy(Strategy::ReduceThenScan) };
        let SplitterInfo { key, value, drop_keys, layout, segmented, strategy, output, .. } = split;
        // Ranks are words, like indices.
        let (value, drop_keys) = match output {
            SplitOutput::Ranks => (ValueType::Index, true),
            _ => (value, drop_keys || output == SplitOutput::Counts),
        };
        let info = SorterInfo {
            key,
            value,
            drop_keys,
            layout,
            segmented,
            placement: Placement::Preserve,
            ..SorterInfo::keys()
        };
        Self { split: Some(split), ..Self::new(info.strategy(strategy)) }
    }

    /// The same sorts by a comparator that does not exist.
    pub(super) fn compared(self) -> Self {
        self.compared_by(7, [0; 4])
    }

    /// The same sorts by the comparator of the module of this number, which receives these words.
    pub(super) fn compared_by(self, comparator: u64, user_words: [u32; 4]) -> Self {
        Self { comparator, user_words, ..self }
    }

    pub(super) fn function(&self) -> Option<BucketFunction> {
        self.split.map(|split| split.function)
    }

    /// The splitter, if the split is by labels.
    pub(super) fn by_labels(&self) -> Option<SplitterInfo> {
        self.split.filter(|_| self.format().binning.labels)
    }

    pub(super) fn format(&self) -> Format {
        let of_sort = || match self.comparator {
            0 => self.info.format(),
            comparator => Ok(Format { comparator, ..self.info.format_of_comparator()? }),
        };
        self.split.map_or_else(of_sort, |split| Ok(split.format()?.0)).unwrap()
    }

    pub(super) fn push(&mut self, addresses: &mut Addresses, problem: Problem) {
        let format = self.format();
        self.infos.push(addresses.info(problem, &format));
        if let Primitive::Split(by) = self.primitive() {
            self.buckets.push(addresses.buckets(problem, &format, &by));
        }
    }

    pub(super) fn jobs(&self) -> impl Iterator<Item = Job> + '_ {
        let buckets = |index| self.buckets.get(index).copied().unwrap_or_default();
        self.infos.iter().enumerate().map(move |(index, items)| Job { items: *items, buckets: buckets(index) })
    }

    /// Separates segmented requests, which share no dispatches.
    pub(super) fn apart(self) -> Vec<Self> {
        if !self.info.segmented {
            return vec![self];
        }
        let of = |job: Job| Self {
            infos: vec![job.items],
            buckets: self.split.map(|_| job.buckets).into_iter().collect(),
            ..self.clone()
        };
        self.jobs().map(of).collect()
    }

    /// A single request counts as alone even beside requests of other sorters. So more kinds of plans are side by side
    /// than in batches.
    pub(super) fn config<'a>(&self, facts: &'a DeviceFacts, profile: &'a Profile) -> Config<'a> {
        Config { facts, profile, strategy: self.info.strategy, format: self.format(), alone: self.infos.len() == 1 }
    }

    /// The algorithms of the problems, in order of first appearance.
    fn algorithms(&self, config: Config<'_>) -> Vec<Algorithm> {
        let mut algorithms = Vec::new();
        for info in &self.infos {
            let algorithm = config.algorithm(info.count.max);
            if !algorithms.contains(&algorithm) {
                algorithms.push(algorithm);
            }
        }
        algorithms
    }
}

/// Formats of sorts: each type of key and value, each layout and placement at least once. Each placement has an even
/// and an odd number of digits: this decides where a sort begins and whether it ends with a copy.
pub(super) fn formats() -> Vec<(&'static str, SorterInfo)> {
    let (keys, pairs) = (SorterInfo::keys(), SorterInfo::pairs());
    let (preserved, twice) = (Placement::Preserve, Placement::DoubleBuffer);
    vec![
        ("keys", keys),
        ("pairs", pairs),
        ("long", SorterInfo { key: KeyType::U64, value: ValueType::Bytes(8), ..keys }),
        ("long_with_16_bytes", SorterInfo { key: KeyType::U64, value: ValueType::Bytes(16), ..keys }),
        ("doubles_descending", SorterInfo { key: KeyType::F64, order: Order::Descending, ..pairs }),
        ("lexicographic", SorterInfo { key: KeyType::U32x4, value: ValueType::Bytes(12), ..keys }),
        ("narrow", SorterInfo { key: KeyType::I16, ..keys }),
        ("narrow_pairs", SorterInfo { key: KeyType::U8, ..pairs }),
        ("narrow_twice", SorterInfo { key: KeyType::Bf16, placement: twice, ..pairs }),
        ("narrow_preserved", SorterInfo { key: KeyType::F16, order: Order::Descending, placement: preserved, ..pairs }),
        ("range", SorterInfo { begin_bit: 5, end_bit: 17, ..pairs }),
        ("short_range", SorterInfo { begin_bit: 3, end_bit: 5, ..keys }),
        ("range_over_words", SorterInfo { key: KeyType::I64, begin_bit: 20, end_bit: 45, ..pairs }),
        ("argsort", SorterInfo::argsort(KeyType::F32)),
        ("argsort_in_place", SorterInfo { value: ValueType::Index, drop_keys: true, end_bit: 24, ..keys }),
        ("places_and_keys", SorterInfo { value: ValueType::Index, placement: preserved, ..keys }),
        ("keys_dropped", SorterInfo { drop_keys: true, ..pairs }),
        ("interleaved", SorterInfo { layout: Layout::Interleaved, ..pairs }),
        (
            "interleaved_twice",
            SorterInfo {
                key: KeyType::I64,
                layout: Layout::Interleaved,
                placement: twice,
                begin_bit: 1,
                end_bit: 24,
                ..pairs
            },
        ),
        ("preserved", SorterInfo { placement: preserved, ..pairs }),
        ("twice", SorterInfo { placement: twice, ..pairs }),
        ("twice_odd", SorterInfo { placement: twice, end_bit: 24, ..pairs }),
        ("large_values", SorterInfo { value: ValueType::Bytes(28), ..keys }),
        (
            "large_values_preserved",
            SorterInfo { value: ValueType::Bytes(28), placement: preserved, drop_keys: true, ..keys },
        ),
        ("large_values_twice", SorterInfo { key: KeyType::I8, value: ValueType::Bytes(20), placement: twice, ..keys }),
    ]
}

/// Segmented formats: some of each kind of items.
pub(super) fn segmented_formats() -> Vec<(&'static str, SorterInfo)> {
    let chosen =
        ["pairs", "doubles_descending", "narrow_pairs", "argsort", "interleaved_twice", "twice_odd", "large_values"];
    let all = formats().into_iter().filter(|(name, _)| chosen.contains(name));
    all.map(|(name, info)| (name, SorterInfo { segmented: true, ..info })).collect()
}

/// Splits by each bucket function, with and without an extra bin, in several layouts.
pub(super) fn splits() -> [SplitterInfo; 22] {
    use BucketFunction::{Ids, Range, Signs, Splitters};
    let bits = BucketFunction::Bits { begin_bit: 3 };
    let strided = |split: SplitterInfo| SplitterInfo { layout: Layout::Strided, ..split };
    let indices = |split: SplitterInfo| SplitterInfo { value: ValueType::Index, drop_keys: true, ..split };
    [
        SplitterInfo::keys(2, bits),
        SplitterInfo::pairs(100, bits),
        SplitterInfo::pairs(256, Range),
        SplitterInfo { key: KeyType::U64, value: ValueType::Index, drop_keys: true, ..SplitterInfo::keys(32, bits) },
        SplitterInfo { key: KeyType::U8, ..SplitterInfo::pairs(5, bits) },
        SplitterInfo { layout: Layout::Interleaved, ..SplitterInfo::pairs(1, bits) },
        // By labels, and with two scatter passes.
        SplitterInfo { key: KeyType::F64, value: ValueType::Bytes(8), ..SplitterInfo::keys(100, Splitters) },
        SplitterInfo { layout: Layout::Interleaved, ..SplitterInfo::pairs(256, Ids(IdType::U16)) },
        strided(indices(SplitterInfo { key: KeyType::U32x3, ..SplitterInfo::keys(8, Signs) })),
        strided(SplitterInfo { key: KeyType::I64, ..SplitterInfo::pairs(700, Range) }),
        SplitterInfo::keys(1000, bits),
        SplitterInfo { drop_keys: true, ..SplitterInfo::pairs(65_536, Ids(IdType::U32)) },
        // Other outputs.
        SplitterInfo::pairs(9, BucketFunction::Bits { begin_bit: 20 }).output(SplitOutput::Bucket(4)),
        SplitterInfo { layout: Layout::Interleaved, ..SplitterInfo::pairs(255, Ids(IdType::U8)) }
            .output(SplitOutput::Placed),
        SplitterInfo { key: KeyType::U64, ..SplitterInfo::keys(100, BucketFunction::Bits { begin_bit: 25 }) }
            .output(SplitOutput::Ranks),
        SplitterInfo::keys(1000, Splitters).output(SplitOutput::Counts),
        SplitterInfo::pairs(17, Range).output(SplitOutput::Placed),
        SplitterInfo { key: KeyType::U8, ..SplitterInfo::keys(256, BucketFunction::default()) }
            .output(SplitOutput::Counts),
        SplitterInfo::keys(256, bits).method(SplitMethod::Subgroup),
        SplitterInfo { key: KeyType::F64, ..SplitterInfo::pairs(33, bits) }.method(SplitMethod::Direct),
        SplitterInfo { key: KeyType::I16, ..SplitterInfo::keys(2, bits) }.method(SplitMethod::Direct),
        SplitterInfo { layout: Layout::Interleaved, ..SplitterInfo::pairs(300, Splitters) }.method(SplitMethod::Direct),
    ]
}

/// Segmented splits: by one digit of labels, by two, and with a second digit for items without a bucket.
pub(super) fn segmented_splits() -> [SplitterInfo; 5] {
    use BucketFunction::{Ids, Range, Signs, Splitters};
    let bits = BucketFunction::Bits { begin_bit: 3 };
    [
        SplitterInfo::keys(100, bits),
        SplitterInfo { layout: Layout::Interleaved, ..SplitterInfo::pairs(256, Ids(IdType::U16)) },
        SplitterInfo { key: KeyType::F64, value: ValueType::Bytes(8), ..SplitterInfo::keys(700, Splitters) },
        SplitterInfo {
            key: KeyType::U32x3,
            value: ValueType::Index,
            drop_keys: true,
            layout: Layout::Strided,
            ..SplitterInfo::keys(8, Signs)
        },
        SplitterInfo::pairs(1, Range),
    ]
    .map(|split| SplitterInfo { segmented: true, ..split })
}

/// A problem without addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Problem {
    pub(super) size: u32,
    pub(super) count_on_device: bool,
    pub(super) status: bool,
}

/// Number of segments of a segmented problem of this size.
fn segments_of(size: u32) -> u32 {
    size / 8
}

/// Assigns addresses. Arrays do not touch.
#[derive(Debug)]
pub(super) struct Addresses(u64);

impl Addresses {
    pub(super) fn new() -> Self {
        Self(0x1_0000_0000)
    }

    fn array(&mut self, bytes: u64) -> Range {
        let range = Range::new(self.0, bytes);
        self.0 += bytes.next_multiple_of(4) + 4;
        range
    }

    /// The requested outputs of a split. With a status: all. With a device count: offsets. With another count: counts.
    /// Without items: none.
    fn buckets(&mut self, problem: Problem, format: &Format, by: &SplitBy) -> Buckets {
        let buckets = by.buckets;
        let Problem { size, count_on_device, status } = problem;
        let mut array = |wanted: bool, words: u32| if wanted { self.array(u64::from(words) * 4) } else { Range::NONE };
        // Each segment has its own results.
        let times = if format.segmented { segments_of(size) } else { 1 };
        // Room for ids or splitters of the largest type.
        let given = array(by.labels.is_some_and(|labels| labels.given.is_some()), size.max(4 * buckets));
        Buckets {
            given,
            starts: array(format.output() == OUTPUT_PLACED, format.bins()),
            offsets: array(status || count_on_device, times * (buckets + 1)),
            counts: array(status || !count_on_device && size != 0, times * buckets),
            commands: array(status, times * 3 * buckets),
            command_items: 64,
            ..Buckets::default()
        }
    }

    pub(super) fn info(&mut self, problem: Problem, format: &Format) -> Items {
        let mut word = |wanted: bool| if wanted { self.array(4).address } else { 0 };
        let counted = Count { max: problem.size, address: word(problem.count_on_device) };
        let status = word(problem.status);
        let mut sizeless = Items { count: counted, status, ..Items::default() };
        if format.segmented {
            sizeless.count = Count::host(problem.size);
            sizeless.segments.count = Count { max: segments_of(problem.size), ..counted };
        }
        // Arrays have exactly the sizes that the request declares.
        let mut array = |role| {
            let wanted =
                sizeless.arguments(format).into_iter().find(|argument| argument.role == role).unwrap().range.size;
            if wanted == 0 { Range::NONE } else { self.array(wanted) }
        };
        let (keys, values) = (array(ItemRole::Keys), array(ItemRole::Values));
        let (keys_out, values_out) = (array(ItemRole::KeysOut), array(ItemRole::ValuesOut));
        sizeless.segments.offsets = array(ItemRole::SegmentOffsets);
        Items { keys, values, keys_out, values_out, ..sizeless }
    }
}

/// All groups of all sorters, as a batch has them.
pub(super) fn groups<'a>(sorts: &'a [Sorts], facts: &'a DeviceFacts, profile: &'a Profile) -> Vec<Group<'a>> {
    let of = |sorts: &'a Sorts| {
        let config = sorts.config(facts, profile);
        sorts.algorithms(config).into_iter().map(move |algorithm| Group { sorts, config, algorithm })
    };
    sorts.iter().flat_map(of).collect()
}

/// The groups laid out in one scratch.
pub(super) fn tables<'a>(groups: &'a [Group<'a>], layout: &mut crate::core::scratch::Layout) -> Vec<AnyTable<'a>> {
    groups.iter().map(|group| AnyTable::new(group.config, group.algorithm, group, SCRATCH, layout).unwrap()).collect()
}
