//! Tests of plans without a device, and of each kernel on the device that the environment selects.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

#[cfg(feature = "host")]
mod kernels;

use super::format::Format;
use super::plan::MergeTable;
use super::planner::{Config, MergeRole, Merges, arguments, more_arguments};
use super::tree::{Before, Nodes, Tree};
use super::{MergeInfo, MergeMethod, MergeOperation, MergeSegments, MergeSequence, MergerInfo};
use crate::core::memory::Argument;
use crate::core::plan::{Groups, Plan, Resource};
use crate::core::primitive::RequestInfo as _;
use crate::core::scratch::Layout as ScratchLayout;
use crate::core::tests::hazards::{Truth, check};
use crate::core::tests::{NVIDIA, SCRATCH, devices};
use crate::shared::{MergeDetails, THREAD_OFFSETS};
use crate::tuning::{Limits, Profile};
use crate::{Count, DeviceFacts, KeyType, Layout, Order, Range, ValueType};
use std::rc::Rc;

/// Formats with each of: no values, values, interleaved items, indices, dropped keys; then the methods for comparison,
/// searches, set operations, segments, updates, and several sequences.
fn formats() -> [MergerInfo; 27] {
    use MergeOperation::{Difference, Intersection, SymmetricDifference, Union, Unique, Update, UpdateByValue};
    let keys = MergerInfo::keys();
    [
        keys,
        MergerInfo::pairs(),
        MergerInfo { key: KeyType::U64, value: ValueType::Bytes(16), layout: Layout::Interleaved, ..keys },
        MergerInfo { key: KeyType::F64, order: Order::Descending, value: ValueType::Index, ..keys },
        MergerInfo { key: KeyType::U32x4, value: ValueType::Bytes(36), ..keys },
        MergerInfo { key: KeyType::I32, value: ValueType::Index, drop_keys: true, ..keys },
        MergerInfo { key: KeyType::I64, ..MergerInfo::pairs() }.method(MergeMethod::Basic),
        MergerInfo { key: KeyType::F32, value: ValueType::Index, ..keys }.method(MergeMethod::Tiled),
        MergerInfo { key: KeyType::U32x3, ..MergerInfo::pairs() }.method(MergeMethod::CircularBuffer),
        MergerInfo::lower_bound(),
        MergerInfo { key: KeyType::F64, order: Order::Descending, ..MergerInfo::upper_bound() },
        keys.operation(Intersection),
        MergerInfo { order: Order::Descending, ..MergerInfo::pairs() }.operation(Union),
        MergerInfo { key: KeyType::F64, drop_keys: true, value: ValueType::Index, ..keys }.operation(Difference),
        MergerInfo { key: KeyType::U32x3, value: ValueType::Bytes(8), layout: Layout::Interleaved, ..keys }
            .operation(SymmetricDifference),
        MergerInfo { key: KeyType::I32, drop_keys: true, ..keys }.operation(SymmetricDifference),
        MergerInfo { key: KeyType::U64, order: Order::Descending, ..MergerInfo::pairs() }.operation(Unique),
        MergerInfo { drop_keys: true, ..keys }.operation(Unique),
        MergerInfo { key: KeyType::F32, ..MergerInfo::pairs() }.segmented(),
        MergerInfo::pairs().operation(UpdateByValue),
        MergerInfo { key: KeyType::U64, layout: Layout::Interleaved, ..MergerInfo::pairs() }
            .operation(UpdateByValue)
            .segmented(),
        MergerInfo { key: KeyType::I32, value: ValueType::Index, ..keys }.operation(Update),
        keys.sequences(3),
        MergerInfo::pairs().sequences(4),
        MergerInfo { key: KeyType::U64, drop_keys: true, ..MergerInfo::pairs() }.sequences(3),
        MergerInfo { drop_keys: true, value: ValueType::Bytes(16), ..keys }.sequences(16),
        MergerInfo { key: KeyType::F32, layout: Layout::Interleaved, ..MergerInfo::pairs() }.sequences(11),
    ]
}

/// Formats of these mergers, and of two with a comparator.
fn planned() -> Vec<(MergerInfo, Format)> {
    let of_comparators = [MergerInfo::pairs(), MergerInfo { key: KeyType::F64, ..MergerInfo::keys() }.segmented()];
    let all = formats().into_iter().map(|info| (info, Format::new(&info).unwrap()));
    let module = |info| (info, Format { comparator: 7, ..Format::of_comparator(&info).unwrap() });
    all.chain(of_comparators.map(module)).collect()
}

/// Segments of segmented merges.
const SEGMENTS: u32 = 3;

/// Hands out ranges one after the other, with gaps.
struct Addresses(u64);

impl Addresses {
    fn range(&mut self, size: u64) -> Range {
        let address = self.0;
        self.0 += size.next_multiple_of(256) + 256;
        Range::new(address, size)
    }

    /// The same merge with sequences after B, a third as long as B. They stay for as long as the process.
    fn more<'a>(&mut self, format: &Format, info: MergeInfo<'a>, sequences: u32, on_device: bool) -> MergeInfo<'a> {
        let mut info = info;
        let (keys, values) = (u64::from(format.key_step()), u64::from(4 * format.value_words));
        let sequence = |_| {
            let address = if on_device { self.range(4).address } else { 0 };
            let count = Count { max: info.count_b.max / 3, address };
            let bytes = |size: u64| u64::from(count.max) * size;
            MergeSequence { count, keys: self.range(bytes(keys)), values: self.range(bytes(values)) }
        };
        info.more = (2..sequences).map(sequence).collect::<Vec<_>>().leak();
        let written = u64::from(info.max_count());
        (info.keys_out, info.values_out) = (self.range(written * keys), self.range(written * values));
        info
    }

    /// Merges with arrays of their own. Of several sequences: of the most, of two, of three, and so on.
    fn merges(
        &mut self,
        format: &Format,
        counts: [u32; 2],
        merges: usize,
        on_device: bool,
        status: bool,
    ) -> Vec<MergeInfo<'static>> {
        let numbers = [format.sequences, 2, 3].into_iter().cycle().take(merges);
        let merge = |sequences: u32| {
            let info = self.merge(format, counts, on_device, status);
            if sequences.min(format.sequences) > 2 { self.more(format, info, sequences, on_device) } else { info }
        };
        numbers.map(merge).collect()
    }

    /// A merge with arrays of its own. B is empty where the operation is of A alone.
    fn merge(&mut self, format: &Format, [a, b]: [u32; 2], on_device: bool, status: bool) -> MergeInfo<'static> {
        let b = if format.operation == MergeOperation::Unique { 0 } else { b };
        let (keys, values) = (u64::from(format.key_step()), u64::from(4 * format.value_words));
        let (count_a, count_b) = (u64::from(a), u64::from(b));
        let mut word = |wanted: bool| if wanted { self.range(4).address } else { 0 };
        let (counts, segment_count) = (on_device && !format.segmented, word(on_device && format.segmented));
        let (of_a, of_b, status, count_out) = (word(counts), word(counts), word(status), word(status));
        let written = format.output_items(count_a, count_b);
        let mut segments = MergeSegments::default();
        if format.segmented {
            let [offsets_a, offsets_b, offsets_out] = [4 * u64::from(SEGMENTS + 1); 3].map(|bytes| self.range(bytes));
            let count = Count { max: SEGMENTS, address: segment_count };
            segments = MergeSegments { count, offsets_a, offsets_b, offsets_out };
        }
        let marks = if format.operation.is_update() { self.range(count_a.div_ceil(32) * 4) } else { Range::NONE };
        MergeInfo {
            count_a: Count { max: a, address: of_a },
            count_b: Count { max: b, address: of_b },
            keys_a: self.range(count_a * keys),
            values_a: self.range(count_a * values),
            keys_b: self.range(count_b * keys),
            values_b: self.range(count_b * values),
            keys_out: self.range(written * keys),
            values_out: self.range(written * values),
            segments,
            marks,
            status,
            count_out,
            ..MergeInfo::default()
        }
    }
}

/// The argument of a merge that a plan's resource stands for. None for scratch.
fn role_of(resource: &str) -> Option<MergeRole> {
    Some(match resource {
        "keys_a" => MergeRole::KeysA,
        "values_a" => MergeRole::ValuesA,
        "keys_b" => MergeRole::KeysB,
        "values_b" => MergeRole::ValuesB,
        "keys_out" => MergeRole::KeysOut,
        "values_out" => MergeRole::ValuesOut,
        "counts_a" => MergeRole::CountA,
        "counts_b" => MergeRole::CountB,
        "statuses" | "checked_statuses" => MergeRole::Status,
        "keys_more" => MergeRole::MoreKeys,
        "values_more" => MergeRole::MoreValues,
        "counts_more" => MergeRole::MoreCount,
        "counts_out" => MergeRole::CountOut,
        "offsets_a" => MergeRole::OffsetsA,
        "offsets_b" => MergeRole::OffsetsB,
        "offsets_out" => MergeRole::OffsetsOut,
        "segment_counts" => MergeRole::SegmentCount,
        "marks" => MergeRole::Marks,
        _ => return None,
    })
}

/// The bytes of a resource: those of each merge, where the resource is the smallest range around them.
fn exact(resource: &Resource, format: &Format, infos: &[MergeInfo]) -> Rc<[Range]> {
    let Some(role) = role_of(resource.name) else { return Rc::from([resource.range]) };
    let mut ranges = Vec::new();
    for info in infos {
        // The status of more than two sequences has a pass of its own.
        let is_other = |is_checked: bool| is_checked != (info.sequence_count() > 2);
        if resource.name == "statuses" && is_other(false) || resource.name == "checked_statuses" && is_other(true) {
            continue;
        }
        let mut add = |argument: Argument<MergeRole>| {
            if argument.role == role && argument.range.size != 0 {
                ranges.push(argument.range);
            }
        };
        arguments(format, info).into_iter().for_each(&mut add);
        more_arguments(format, info, &mut add);
    }
    ranges.sort_by_key(|range| range.address);
    ranges.into()
}

/// Lays out merges of one group, and passes the table on.
fn with_table<T>(
    config: Config<'_>,
    infos: &[MergeInfo],
    alone: bool,
    body: impl FnOnce(&MergeTable<'_>, u64) -> T,
) -> T {
    let most = infos.iter().map(MergeInfo::max_count).max().unwrap_or(0);
    let jobs = Merges { format: &config.format, infos };
    let mut layout = ScratchLayout::default();
    let table = MergeTable::new(config, config.group(most, alone), &jobs, SCRATCH, &mut layout).unwrap();
    body(&table, layout.size())
}

/// Counts of A and B: none, few, a tile and more than one of a fused merge, and one with two passes.
const COUNTS: [[u32; 2]; 6] = [[0, 0], [3, 0], [500, 900], [20_000, 9000], [1 << 20, 77], [2 << 20, 2 << 20]];

/// One merge and several, with counts on the device and statuses or without.
#[test]
fn every_plan_has_the_barriers_it_needs_and_no_other() {
    for (_, facts) in devices() {
        let profile = Profile::for_device(&facts);
        for (_, format) in planned() {
            let config = Config { profile: &profile, format };
            for (counts, merges, flags) in COUNTS
                .iter()
                .flat_map(|counts| [1, 3].map(|merges| (counts, merges)))
                .flat_map(|(counts, merges)| (0..4).map(move |flags| (*counts, merges, flags)))
            {
                let mut addresses = Addresses(1 << 20);
                let infos = addresses.merges(&format, counts, merges, flags & 1 != 0, flags & 2 != 0);
                with_table(config, &infos, merges == 1, |table, _| {
                    let plan = Plan::of(table).unwrap();
                    let is_empty = counts == [0, 0] && flags & 2 == 0 && !format.segmented;
                    assert_eq!(plan.passes.is_empty(), is_empty, "{plan}");
                    let resources = plan.resources.iter().map(|resource| exact(resource, &format, &infos)).collect();
                    check(&[Truth { plan: &plan, resources }], std::slice::from_ref(&plan));
                });
            }
        }
    }
}

/// A merger creates every pipeline that its plans need: at most six, and for more than two sequences at most thirteen.
#[test]
fn every_pipeline_is_made() {
    for (_, facts) in devices() {
        let profile = Profile::for_device(&facts);
        for (info, format) in planned() {
            let config = Config { profile: &profile, format };
            for batches in [false, true] {
                let made = config.variants(batches).unwrap();
                let kernels = match info.operation {
                    MergeOperation::Merge if info.method == MergeMethod::Path && format.comparator == 0 => 3,
                    operation if operation.is_set_operation() => 2,
                    operation if operation.is_update() => 3,
                    _ => 1,
                };
                let modes = |several: bool| if several { 2 } else { 1 };
                let expected = match info.sequences {
                    0 => kernels * modes(batches),
                    // One more checks counts. Without keys in the output, inner nodes have variants of their own.
                    of if info.drop_keys => kernels * (modes(of > 3 || batches) + modes(batches)) + 1,
                    of => kernels * modes(of > 3 || batches) + 1,
                };
                assert_eq!(made.len(), expected, "{info:?}");
                for (counts, merges) in COUNTS.iter().flat_map(|counts| [1, 2].map(|merges| (*counts, merges))) {
                    if merges > 1 && !batches {
                        continue;
                    }
                    for sequences in 2..=format.sequences {
                        let of = Format { sequences, ..format };
                        let infos = vec![Addresses(1 << 20).merges(&of, counts, 1, false, true)[0]; merges];
                        with_table(config, &infos, !batches, |table, _| {
                            let plan = Plan::of(table).unwrap();
                            let missing = plan.variants.iter().find(|variant| !made.contains(variant));
                            assert!(missing.is_none(), "{missing:?} of {plan}");
                        });
                    }
                }
            }
        }
    }
}

/// Scratch for one count suffices for all smaller ones: it holds a word for each tile, and nothing for fused merges.
#[test]
fn scratch_holds_the_co_ranks() {
    let profile = Profile::for_device(&NVIDIA);
    let format = Format::new(&MergerInfo::pairs()).unwrap();
    let config = Config { profile: &profile, format };
    let size = |count: u32| {
        let info = Addresses(1 << 20).merge(&format, [count / 2, count - count / 2], true, true);
        with_table(config, &[info], true, |_, size| size)
    };
    let up_to = profile.merge.pairs.fused_up_to;
    assert_eq!([size(0), size(1), size(up_to)], [0; 3]);
    let tile = profile.merge.pairs.tile.tile();
    assert_eq!(size(up_to + 1), (u64::from((up_to + 1).div_ceil(tile)) * 4).next_multiple_of(256));
    let sizes: Vec<u64> = (1..=4000).map(|step| size(step << 20)).collect();
    assert!(sizes.is_sorted());
}

/// The passes of merges of three and of sixteen sequences, as text.
#[test]
fn trees_have_plans() {
    let profile = Profile::for_device(&NVIDIA);
    for (name, info, counts, on_device) in [
        ("merge_of_3_sequences", MergerInfo::pairs().sequences(3), [9000, 7000], false),
        (
            "merge_of_16_sequences",
            MergerInfo { drop_keys: true, ..MergerInfo::pairs() }.sequences(16),
            [1 << 20; 2],
            true,
        ),
    ] {
        let format = Format::new(&info).unwrap();
        let infos = Addresses(1 << 20).merges(&format, counts, 1, on_device, on_device);
        let config = Config { profile: &profile, format };
        let text = with_table(config, &infos, true, |table, size| {
            format!("{}scratch {size} bytes\n", Plan::of(table).unwrap())
        });
        insta::with_settings!({
            snapshot_path => "../../tests/snapshots",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

/// Merges of several sequences: every division of the items needs at most the scratch that the maximum count needs.
/// There is no area for two sequences, one for up to four, and two above.
#[test]
fn scratch_holds_the_nodes_of_trees() {
    let profile = Profile::for_device(&NVIDIA);
    for (most, areas) in [(3, 1), (4, 1), (5, 2), (9, 2), (16, 2)] {
        let format = Format::new(&MergerInfo::pairs().sequences(most)).unwrap();
        let config = Config { profile: &profile, format };
        let size = |counts: &[u32]| {
            let sequence = |count: &u32| MergeSequence { count: (*count).into(), ..MergeSequence::default() };
            let more: Vec<_> = counts[2..].iter().map(sequence).collect();
            let (count_a, count_b) = (counts[0].into(), counts[1].into());
            let info = MergeInfo { count_a, count_b, more: &more, ..MergeInfo::default() };
            with_table(config, &[info], true, |_, size| size)
        };
        let enough = |total: u32| {
            let largest = super::planner::largest(most, total);
            with_table(config, &[largest], true, |_, size| size)
        };
        let tile = profile.merge.pairs.tile.tile();
        for total in [0, 5, 1000, profile.merge.pairs.fused_up_to, 16 * 64 * tile * 9 + 3, 5_000_000, 1 << 30] {
            let all = enough(total);
            assert!(all >= areas * 8 * u64::from(total) && all < areas * 8 * u64::from(total) * 101 / 100 + 8000);
            for sequences in 2..=most {
                let each = total / sequences;
                let equal = vec![each; sequences as usize];
                assert!(size(&equal) <= all, "{sequences} of {total}");
                for large in 0..sequences {
                    // One item behind the end of a part of co-ranks is the worst.
                    let of = |index| if index == large { total - (sequences - 1).min(total) } else { 1.min(total) };
                    let uneven: Vec<u32> = (0..sequences).map(of).collect();
                    let fits = uneven.iter().map(|count| u64::from(*count)).sum::<u64>() <= u64::from(total);
                    assert!(!fits || size(&uneven) <= all, "{uneven:?} of {total}");
                }
            }
        }
        let sizes: Vec<u64> = (0..400).map(|step| enough(step << 14)).collect();
        assert!(sizes.is_sorted());
    }
}

/// The nodes of a depth are the sequences in order, each sequence is merged at each depth from its first one on, and
/// the areas of one depth are not those of the next.
#[test]
fn trees_merge_all_sequences_in_order() {
    for sequences in 2..=16u32 {
        let format = Format::new(&MergerInfo::keys().sequences(16)).unwrap();
        let mut info = MergeInfo::default();
        let keys = |of: u32| Range::new(1000 * u64::from(of + 1), 4 << of);
        (info.count_a, info.keys_a) = (Count::host(1), keys(0));
        (info.count_b, info.keys_b) = (Count::host(2), keys(1));
        let sequence = |of: u32| MergeSequence { count: Count::host(1 << of), keys: keys(of), values: Range::NONE };
        let more: Vec<_> = (2..sequences).map(sequence).collect();
        info.more = &more;
        info.keys_out = Range::new(7, 0);
        let all = Before::default();
        let nodes = Nodes::default();
        let tree = Tree::new(&info, &format, &nodes, all);
        assert_eq!(tree.depths() as u32, (sequences - 1).ilog2() + 1);
        let mut layout = ScratchLayout::default();
        let mut all = Before::default();
        all.add(&tree);
        let nodes = Nodes::lay_out(&format, tree.depths(), all, 1 << 40, &mut layout).unwrap();
        let tree = Tree::new(&info, &format, &nodes, Before::default());
        // Known arrays, and the sequences that they hold: a bit each, since sequence s has 2^s items.
        let mut known: Vec<(Range, u32)> = (0..sequences).map(|of| (keys(of), 1 << of)).collect();
        for depth in (0..tree.depths()).rev() {
            let (mut written, mut merges) = (Vec::new(), 0);
            tree.for_each_merge(depth, &mut |merge| {
                let of = |range: Range, count: Count| {
                    let found = known.iter().find(|(known, _)| known.address == range.address).expect("it was written");
                    assert_eq!(found.1, count.max);
                    count.max
                };
                let [a, b] = [of(merge.keys_a, merge.count_a), of(merge.keys_b, merge.count_b)];
                assert!(a.leading_zeros() > b.leading_zeros() && a & b == 0 && (a | b).count_ones() > 1);
                assert_eq!(a.ilog2() + 1, b.trailing_zeros(), "they are neighbors");
                let output = Range::new(merge.keys_out.address, 4 * u64::from(a | b));
                let inputs = [(merge.keys_a.address, a), (merge.keys_b.address, b)];
                let overlaps =
                    |(address, count): (u64, u32)| output.overlaps(Range::new(address, 4 * u64::from(count)));
                assert!(depth == 0 || !inputs.into_iter().any(overlaps), "areas alternate");
                written.push((output, a | b));
                merges += 1;
            });
            assert_eq!(merges, tree.merges(depth));
            for (index, (range, _)) in written.iter().enumerate() {
                assert!(written[..index].iter().all(|(other, _)| !other.overlaps(*range)));
            }
            known.retain(|(range, _)| range.address < 1 << 40 && range.address >= 1000);
            known.extend(written);
        }
        assert_eq!(
            known.last().unwrap(),
            &(Range::new(7, 4 * u64::from((1u32 << sequences) - 1)), (1 << sequences) - 1)
        );
    }
}

/// Merges with a comparator need their details alone, whatever their number of items. Those with another comparator
/// are another group.
#[test]
fn scratch_holds_the_input_of_comparators() {
    let profile = Profile::for_device(&NVIDIA);
    let of_module = |comparator| Format { comparator, ..Format::of_comparator(&MergerInfo::pairs()).unwrap() };
    let config = Config { profile: &profile, format: of_module(1) };
    for counts in [[1, 1], [1 << 30, 1 << 30]] {
        let info = Addresses(1 << 20).merge(&config.format, counts, true, true);
        assert_eq!(with_table(config, &[info], true, |_, size| size), size_of::<MergeDetails>() as u64, "{counts:?}");
    }
    let other = Config { format: of_module(2), ..config };
    assert!(config.group(5, false) == config.group(6, false) && config.group(5, false) != other.group(5, false));
}

/// Set operations need three words for each tile, two for each block of tiles, and one. Tiles are an item apart less
/// than they hold.
#[test]
fn scratch_holds_the_tiles_of_sets() {
    let profile = Profile::for_device(&NVIDIA);
    let format = Format::new(&MergerInfo::keys().operation(MergeOperation::Union)).unwrap();
    let config = Config { profile: &profile, format };
    let step = u64::from(profile.merge.keys.tile.tile() - 1);
    for items in [1, step, step + 1, 1_000_000] {
        let info = Addresses(1 << 20).merge(&format, [items as u32 - 1, 1], true, true);
        let tiles = items.div_ceil(step);
        let expected =
            (8 * tiles).next_multiple_of(256) + (4 * (1 + tiles + 2 * tiles.div_ceil(32))).next_multiple_of(256);
        assert_eq!(with_table(config, &[info], true, |_, size| size), expected, "{items}");
    }
}

/// Shapes of unmeasured devices fit the least shared memory that the library requires, with emulated subgroups as well.
#[test]
fn shapes_fit_the_least_shared_memory() {
    for (name, facts) in devices() {
        let facts = DeviceFacts { shared_memory: 16 << 10, ..facts };
        let profile = Profile::for_device(&facts);
        for emulated_subgroups in [false, true] {
            let lanes = if emulated_subgroups { facts.max_lanes } else { profile.lanes };
            let profile = Profile { emulated_subgroups, lanes, ..profile.clone() };
            let limits = Limits::new(&profile, &facts).unwrap();
            assert_eq!(profile.merge.check(&limits), Ok(()), "{name}");
        }
    }
}

/// A thread writes few offsets of segments, however few items they have.
#[test]
fn many_segments_have_many_workgroups() {
    let profile = Profile::for_device(&NVIDIA);
    let format = Format::new(&MergerInfo::keys().segmented()).unwrap();
    let config = Config { profile: &profile, format };
    let groups = |segments: u32, writes: bool| {
        let mut info = Addresses(1 << 20).merge(&format, [5, 7], false, true);
        info.segments.count = Count::host(segments);
        if !writes {
            info.segments.offsets_out = Range::NONE;
        }
        with_table(config, &[info], true, |table, _| Plan::of(table).unwrap().passes[0].groups)
    };
    let written = profile.merge.keys.fused.threads * THREAD_OFFSETS;
    assert_eq!([written - 1, written].map(|segments| groups(segments, true)), [Groups::Fixed(1), Groups::Fixed(2)]);
    assert_eq!(groups((1 << 30) - 1, true), Groups::Fixed((1 << 30) / written));
    assert_eq!(groups((1 << 30) - 1, false), Groups::Fixed(1));
}

/// In a batch, merges share dispatches if their numbers of tiles have the same power of two above them.
#[test]
fn merges_of_similar_sizes_share_dispatches() {
    let profile = Profile::for_device(&NVIDIA);
    let config = Config { profile: &profile, format: Format::new(&MergerInfo::keys()).unwrap() };
    let tile = profile.merge.keys.fused.tile();
    let group = |count| config.group(count, false);
    assert!(group(0) == group(1) && group(1) == group(tile) && group(tile) != group(tile + 1));
    assert!(group(3 * tile) == group(4 * tile) && group(4 * tile) != group(4 * tile + 1));
    let up_to = profile.merge.keys.fused_up_to;
    assert!(group(up_to) != group(up_to + 1) && config.group(1, true) == config.group(up_to, true));
}
