//! Scratch sizes at counts where kernels or tile shapes change: at both ends of every range, and one item next to each.

use crate::common::spirv::words_of;
use crate::{DEVICES, FORMATS, NVIDIA, fake};
use std::collections::BTreeSet;
use trommel::tuning::{ItemKind, Profile};
use trommel::{
    BucketFunction, Count, DeviceFacts, IdType, KeyType, Range, Segments, SortComparatorKernel, SortInfo, Sorter,
    SorterInfo, SplitInfo, SplitMethod, SplitOutput, Splitter, SplitterInfo, Strategy, ValueType,
};

/// A sorter or a splitter.
enum Mover {
    Sorter(Sorter),
    Splitter(Splitter),
}

impl Mover {
    fn scratch_size(&self, max_count: u32) -> u64 {
        let size = match self {
            Self::Sorter(sorter) => sorter.scratch_size(max_count),
            Self::Splitter(splitter) => splitter.scratch_size(max_count),
        };
        size.expect("the count is allowed")
    }

    /// The plan with every optional part: a count on the device, a status, bucket information.
    fn describe(&self, max_count: u32) -> String {
        let at = |index: u64| index << 60;
        let array = |index| Range::new(at(index), 1 << 40);
        let segmented = match self {
            Self::Sorter(sorter) => sorter.info().segmented,
            Self::Splitter(splitter) => splitter.info().segmented,
        };
        let counted = Count::device(at(1), max_count);
        let (count, segments) = if segmented {
            (Count::host(max_count), Segments { count: Count::device(at(1), 5), offsets: array(2) })
        } else {
            (counted, Segments::default())
        };
        let [keys, values, keys_out, values_out] = [3, 4, 5, 6].map(array);
        let status = at(7);
        let text = match self {
            Self::Sorter(sorter) => sorter.describe(&SortInfo {
                count,
                segments,
                keys,
                values,
                keys_out,
                values_out,
                status,
                ..SortInfo::default()
            }),
            Self::Splitter(splitter) => {
                let given = match splitter.info().function {
                    BucketFunction::Ids(_) => SplitInfo { bucket_ids: array(8), ..SplitInfo::default() },
                    BucketFunction::Splitters => SplitInfo { splitters: array(8), ..SplitInfo::default() },
                    BucketFunction::Range => SplitInfo { width: 9, ..SplitInfo::default() },
                    _ => SplitInfo::default(),
                };
                let starts = if splitter.info().output == SplitOutput::Placed { array(9) } else { Range::NONE };
                let [offsets, counts, commands] = [10, 11, 12].map(array);
                let with_info = SplitInfo { offsets, counts, commands, command_items: 64, starts, ..given };
                splitter.describe(&SplitInfo {
                    count,
                    segments,
                    keys,
                    values,
                    keys_out,
                    values_out,
                    status,
                    ..with_info
                })
            }
        };
        text.expect("the count is allowed")
    }

    /// The end of the plan's last part of scratch.
    fn laid_out(&self, max_count: u32) -> u64 {
        let text = self.describe(max_count);
        let resources = text.lines().filter_map(|line| {
            let mut words = line.strip_suffix(" bytes")?.split_whitespace().skip(1);
            let begin = u64::from_str_radix(words.next()?.strip_prefix("scratch+0x")?, 16).ok()?;
            Some(begin + words.next()?.parse::<u64>().ok()?)
        });
        resources.max().unwrap_or(0)
    }
}

/// Maximum counts at which plans may change, by the profile.
fn ends(profile: &Profile) -> BTreeSet<u32> {
    let of_kind = |kind: ItemKind| -> Vec<u32> {
        let (sort, radix, split) = (&profile.sort[kind], &profile.radix[kind], &profile.split[kind]);
        let runs = |tile: u32| std::iter::successors(Some(tile), |items| items.checked_mul(profile.merge.fan)).take(12);
        let small = sort.small.iter().map(|small| small.tile()).chain([radix.segments.tile()]);
        let ranked = sort.ranked.iter().flat_map(|ranked| [ranked.above, ranked.above_in_place, ranked.up_to]);
        let merges = sort.merges.iter().chain([&sort.by_comparator]);
        let merges = merges.flat_map(|sized| runs(sized.run.tile()).chain([sized.up_to.min(1 << 30)]));
        let tiles = [&radix.tiles, &split.counted, &split.single_dispatch].into_iter().flatten();
        small.chain(ranked).chain(merges).chain(tiles.map(|sized| sized.up_to)).collect()
    };
    let thresholds = [profile.radix.direct_up_to, profile.radix.all_digits_up_to, profile.sort.prefixes_up_to];
    ItemKind::ALL.into_iter().flat_map(of_kind).chain(thresholds).collect()
}

/// A profile with ranges of counts in which both ends need less scratch than a count in between. A size that considers
/// only the ends is too small.
fn uneven(facts: &DeviceFacts) -> Profile {
    let with = |profile: Profile, (member, value)| profile.with_member(member, value).expect("a line");
    let lines = [
        ("ranked", "100,200..2000:512/32"),
        ("small", "64x1 256x16"),
        ("merges", "9000:256x2/128x4 15000:256x1/256x8"),
        ("tiles", "30000:64x1 400000:512x8 4294967295:256x16"),
        ("counted", "5000:64x1 4294967295:512x8"),
        ("single_dispatch", "1500:512x1"),
        ("fan", "4"),
        ("direct_up_to", "40000"),
        ("all_digits_up_to", "50000"),
        ("prefixes_up_to", "200000"),
    ];
    lines.into_iter().fold(Profile::for_device(facts), with)
}

/// Splits by a digit and by labels, with one and with two scatter passes, with every kind of output.
fn splits() -> [SplitterInfo; 8] {
    let by = SplitterInfo::pairs;
    let bits = BucketFunction::default();
    [
        by(8, bits),
        by(256, BucketFunction::Range),
        SplitterInfo { key: KeyType::F64, value: ValueType::Bytes(8), ..by(100, BucketFunction::Splitters) },
        SplitterInfo { drop_keys: true, ..by(65_536, BucketFunction::Ids(IdType::U32)) },
        by(33, bits).output(SplitOutput::Placed),
        SplitterInfo::keys(1000, bits).output(SplitOutput::Counts),
        by(256, bits).method(SplitMethod::Subgroup),
        SplitterInfo { segmented: true, ..by(300, BucketFunction::Ids(IdType::U16)) },
    ]
}

/// The size for a maximum count is exactly the largest layout of any count up to it.
#[test]
fn scratch_sizes_at_every_shape_end() {
    let [nvidia, least] = DEVICES;
    for (facts, profile) in
        [(nvidia, Profile::for_device(nvidia)), (least, Profile::for_device(least)), (&NVIDIA, uneven(&NVIDIA))]
    {
        let counts: BTreeSet<u32> =
            ends(&profile).into_iter().flat_map(|end| end.saturating_sub(1)..=end.saturating_add(1)).collect();
        let device =
            fake::device_with(facts, |info| info.profile = Some(profile)).expect("the facts are above the floor");
        device.make_pipelines_late();
        let segments = SorterInfo { segmented: true, ..SorterInfo::pairs() };
        let sorters = FORMATS.into_iter().chain([segments]).enumerate().flat_map(|(i, info)| {
            let strategies = [Strategy::Lookback, Strategy::ALL[1 + i % 4]];
            strategies.map(|strategy| {
                Mover::Sorter(Sorter::new(&device, &info.strategy(strategy).batches()).expect("a sorter"))
            })
        });
        let bytes = include_bytes!("../kernels/sort_masked_u32.spv");
        let words = words_of(bytes);
        let kernel = SortComparatorKernel::from_spirv(&words).expect("a kernel of this version");
        let by_comparator = [FORMATS[0], FORMATS[1], FORMATS[6]].map(|info| {
            // SAFETY: the compiler has created the module from a valid function.
            let sorter = unsafe { Sorter::with_comparator(&device, &info.batches(), &kernel) };
            Mover::Sorter(sorter.expect("a sorter"))
        });
        let splitters = splits().into_iter().flat_map(|info| {
            let waits = info.output != SplitOutput::Counts && info.method == SplitMethod::default();
            let strategies = [Strategy::Auto, if waits { Strategy::Lookback } else { Strategy::ReduceThenScan }];
            strategies.map(|strategy| {
                Mover::Splitter(Splitter::new(&device, &info.strategy(strategy).batches()).expect("a splitter"))
            })
        });
        for mover in sorters.chain(by_comparator).chain(splitters) {
            let mut most = 0;
            for count in counts.iter().copied().filter(|count| *count <= 1 << 30) {
                most = mover.laid_out(count).max(most);
                assert_eq!(mover.scratch_size(count), most, "for {count} items of {}", mover.describe(count));
            }
        }
    }
}
