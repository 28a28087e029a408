//! Pipelines and algorithms: a handle creates every pipeline that its plans need.

use super::sorts;
use crate::core::pipelines::Variant;
use crate::core::plan::Plan;
use crate::core::scratch::Layout;
use crate::core::tests::{NVIDIA, SCRATCH};
use crate::radix::tests::primitives::{Algorithm, AnyTable, Primitive, Requests as _, Selection as _};
use crate::radix::tests::problems::{Addresses, Problem, Sorts, formats, groups, splits};
use crate::radix::{Config, Format, Method as _};
use crate::shared::FLAG_EVEN;
use crate::sort;
use crate::split;
use crate::tuning::{Hooks, ItemKind, Profile};
use crate::{DeviceFacts, SorterInfo, SplitMethod, SplitOutput, Strategy};
use std::cell::RefCell;
use std::rc::Rc;

/// The key of a set of variants.
type Made = (DeviceFacts, Profile, Primitive, Format, Strategy, Option<Strategy>, bool);

thread_local! {
    static MADE: RefCell<Vec<(Made, Rc<[Variant]>)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the variants that a sorter or splitter creates. The latest are cached, since consecutive cases share them.
pub(super) fn made_by(primitive: Primitive, config: Config<'_>, of_few: Option<Strategy>) -> Rc<[Variant]> {
    let key =
        (config.facts.clone(), config.profile.clone(), primitive, config.format, config.strategy, of_few, config.alone);
    MADE.with_borrow_mut(|made| {
        if let Some((_, variants)) = made.iter().find(|(known, _)| *known == key) {
            return variants.clone();
        }
        let variants: Rc<[Variant]> = primitive.variants(config, of_few, !config.alone).unwrap().into();
        made.truncate(16);
        made.insert(0, (key, variants.clone()));
        variants
    })
}

/// A splitter has the pipelines of the strategy for few items that are recorded alone.
#[test]
fn pipelines_of_few_items_are_made() {
    let profile = Profile::for_device(&NVIDIA);
    for info in splits().map(|info| info.strategy(Strategy::Lookback)) {
        let sorts = Sorts::splits(info);
        let Primitive::Split(by) = sorts.primitive() else { panic!("a split") };
        if by.strategies(&sorts.format(), Strategy::Lookback).1.is_none() {
            continue;
        }
        for size in [0, 1, 1 << 14, (1 << 16) + 1, 1 << 17, profile.radix.direct_up_to] {
            let mut sorts = Sorts::splits(info);
            sorts.push(&mut Addresses::new(), Problem { size, count_on_device: true, status: true });
            let config = Config { alone: true, ..sorts.config(&NVIDIA, &profile) };
            let made = made_by(
                sorts.primitive(),
                Config { strategy: Strategy::ReduceThenScan, ..config },
                Some(Strategy::Lookback),
            );
            let mut layout = Layout::default();
            let table = AnyTable::new(config, config.algorithm(size), &sorts, SCRATCH, &mut layout).unwrap();
            let plan = Plan::of(&table).unwrap();
            let missing = plan.variants.iter().find(|variant| !made.contains(variant));
            assert!(missing.is_none(), "{size} of {info:?} miss {missing:?}");
        }
    }
}

/// Pipelines that only sums over a batch need, or segments longer than a workgroup holds. The profile makes such cases
/// small.
#[test]
fn pipelines_of_unequal_problems_and_of_long_segments_are_made() {
    let hooks = Hooks { ring_entries: 4, ring_reach: 1, ..Hooks::default() };
    let mut profile = Profile { hooks, ..Profile::for_device(&NVIDIA) };
    for member in ["ring", "few_bins", "counted", "single_dispatch", "small", "ranked", "merges"] {
        profile = profile.with_member(member, "").unwrap();
    }
    profile = profile.with_member("tiles", "4294967295:64x1").unwrap();
    profile.sort.prefixes_up_to = 0;
    let problem = |size| Problem { size, count_on_device: false, status: false };
    let segmented = SorterInfo { segmented: true, ..SorterInfo::keys() };
    for (info, max_groups_x, all_digits_up_to, sizes) in [
        (SorterInfo::keys().strategy(Strategy::Ring), i32::MAX as u32, 600_000, &[600_001, 5000][..]),
        (SorterInfo::keys().strategy(Strategy::Lookback), 1, 2_500_000, &[2_500_001, 5000]),
        (segmented.strategy(Strategy::Lookback), 1, 0, &[10_000]),
    ] {
        let mut profile = Profile { max_groups_x, ..profile.clone() };
        profile.radix.all_digits_up_to = all_digits_up_to;
        let batch = [sorts(info, sizes.iter().copied().map(problem))];
        for group in &groups(&batch, &NVIDIA, &profile) {
            let made = made_by(group.primitive(), group.config, None);
            let table = AnyTable::new(group.config, group.algorithm, group, SCRATCH, &mut Layout::default()).unwrap();
            let missing = Plan::of(&table).unwrap().variants.into_iter().find(|variant| !made.contains(variant));
            assert!(missing.is_none(), "{sizes:?} of {info:?} miss {missing:?}");
        }
    }
}

/// Splits by one digit are single-dispatch splits up to the size in the profile, except placed outputs and methods
/// other than the default.
#[test]
fn small_splits_are_single_dispatch() {
    let profile = Profile::for_device(&NVIDIA);
    for info in splits() {
        let sorts = Sorts::splits(info.strategy(Strategy::Lookback));
        let config = Config { alone: true, ..sorts.config(&NVIDIA, &profile) };
        let one_digit =
            info.buckets <= 256 && info.method == SplitMethod::default() && info.output != SplitOutput::Placed;
        for size in [0, 1, 1 << 11, 1 << 12, (1 << 12) + 1, 1 << 13, (1 << 13) + 1, 1 << 15, (1 << 15) + 1, 1 << 20] {
            // The sizes of all kinds of items are equal.
            let expected = profile.split.keys.single_dispatch.iter().find(|sized| size <= sized.up_to && one_digit);
            let expected = expected.map(|sized| Algorithm::Split(split::Algorithm::SingleDispatch(sized.shape.shape)));
            assert_eq!(
                Some(config.algorithm(size)).filter(|algorithm| algorithm.is_single_dispatch()),
                expected,
                "{size} of {info:?}"
            );
            // At most four tiles in a batch, where other requests share the dispatches.
            let together = Config { alone: false, ..config }.algorithm(size);
            assert_eq!(together.is_single_dispatch(), one_digit && size <= 4 * 1024, "{size} of {info:?} with others");
        }
    }
}

/// `range_ends` has every size at which the algorithm changes: scratch for all smaller sizes is the maximum over these.
#[test]
fn classes_change_at_known_sizes() {
    let mut odd = Profile::for_device(&NVIDIA);
    odd = odd.with_member("ranked", "100,5000..8192:512/64").unwrap();
    for profile in [Profile::for_device(&NVIDIA), odd] {
        let sorters = formats().into_iter().map(|(_, info)| Sorts::new(info.strategy(Strategy::Lookback)));
        let splitters = splits().map(|info| Sorts::splits(info.strategy(Strategy::ReduceThenScan)));
        let all = sorters.into_iter().chain(splitters).flat_map(|sorts| [(sorts.clone(), false), (sorts, true)]);
        for (sorts, alone) in all {
            let info = sorts.info;
            let config = Config { alone, ..sorts.config(&NVIDIA, &profile) };
            let ends = config.range_ends();
            for size in (1..40_000).filter(|size| config.algorithm(*size) != config.algorithm(size + 1)) {
                assert!(ends.contains(&size), "{size} is an end of {info:?}");
            }
        }
    }
}

/// The algorithm of each size is one that the profile has for it.
#[test]
fn algorithms_are_distinguished() {
    let profile = Profile::for_device(&NVIDIA);
    for ((_, info), alone) in formats().into_iter().flat_map(|format| [(format, false), (format, true)]) {
        let sorts = sorts(info.strategy(Strategy::Lookback), []);
        let (config, format) = (Config { alone, ..sorts.config(&NVIDIA, &profile) }, sorts.format());
        let kind = ItemKind::of(format.key_words, format.value_words);
        let (shapes, radix) = (&profile.sort[kind], &profile.radix[kind]);
        for size in
            [0, 1, 1024, 1025, 2048, 2049, 4096, 4097, 8192, 8193, 1 << 14, 1 << 16, 1 << 19, (1 << 19) + 1, 1 << 30]
        {
            let Algorithm::Sort(algorithm) = config.algorithm(size) else { panic!("a sort") };
            let holds = match algorithm {
                sort::Algorithm::Segments { .. } => false,
                sort::Algorithm::Ranked(ranked) => shapes.ranked.contains(&ranked),
                sort::Algorithm::Small(small) => size <= small.tile() && shapes.small.contains(&small),
                sort::Algorithm::Merged(merging) => {
                    size > shapes.small.last().unwrap().tile()
                        && shapes.merges.contains(&merging.sized)
                        && size <= merging.sized.up_to
                        && merging.run_items(merging.levels) >= u64::from(size)
                }
                sort::Algorithm::Tiled(shape, ..) => {
                    size > shapes.small.last().unwrap().tile().max(shapes.merges.last().map_or(0, |sized| sized.up_to))
                        && (radix.tiles.iter().any(|sized| sized.shape == shape && size <= sized.up_to)
                            || format.bins() <= 32
                                && size > profile.radix.direct_up_to
                                && radix.few_bins == Some(shape))
                }
            };
            let least = if format.rule() == FLAG_EVEN { 4097 } else { 2049 };
            let ranked = alone && format.key_words == 1 && (least..=8192).contains(&size);
            assert!(holds && ranked == matches!(algorithm, sort::Algorithm::Ranked(_)), "{size} in {algorithm:?}");
        }
    }
}
