//! Plans as text, compared with committed ones.

use super::primitives::Requests as _;
use super::problems::{Addresses, Problem, Sorts, formats, groups, segmented_splits, splits, tables};
use crate::core::plan::{Groups, Plan};
use crate::core::scratch::Layout;
use crate::core::tests::{NVIDIA, devices};
use crate::kernels::Kernel;
use crate::tuning::Profile;
use crate::{BucketFunction, DeviceFacts, KeyType, Placement, SorterInfo, SplitterInfo, Strategy, ValueType};

fn text(sorts: &[Sorts], facts: &DeviceFacts) -> String {
    tuned(sorts, facts, &Profile::for_device(facts))
}

fn tuned(sorts: &[Sorts], facts: &DeviceFacts, profile: &Profile) -> String {
    let mut layout = Layout::default();
    let groups = groups(sorts, facts, profile);
    let tables = tables(&groups, &mut layout);
    let plans = groups
        .iter()
        .zip(&tables)
        .map(|(group, table)| format!("{:?} {}", group.config.strategy, Plan::of(table).unwrap()));
    let plans: Vec<_> = plans.collect();
    format!("{}scratch {} bytes\n", plans.concat(), layout.size())
}

fn one(info: SorterInfo, problem: Problem) -> [Sorts; 1] {
    let mut sorts = Sorts::new(info);
    sorts.infos.push(Addresses::new().info(problem, &sorts.format()));
    [sorts]
}

fn assert_text(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../../../tests/snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, text);
    });
}

/// The built-in profile of each type of device, and the passes of a sort of a million pairs with a device count.
#[test]
fn devices_have_plans() {
    for (name, facts) in devices() {
        let profile = Profile::for_device(&facts);
        let problem = Problem { size: 1 << 20, count_on_device: true, status: true };
        let text =
            format!("{profile}\n{}", text(&one(SorterInfo::pairs().strategy(profile.strategy), problem), &facts));
        assert_text(&format!("device_{name}"), &text);
    }
}

#[test]
fn kinds_have_plans() {
    for (name, strategy) in [("lookback", Strategy::Lookback), ("reduce_then_scan", Strategy::ReduceThenScan)] {
        let (keys, pairs) = (SorterInfo::keys().strategy(strategy), SorterInfo::pairs().strategy(strategy));
        let host = Problem { size: 1 << 26, count_on_device: false, status: false };
        assert_text(&format!("{name}_host_count"), &text(&one(keys, host), &NVIDIA));
        let device = Problem { count_on_device: true, ..host };
        assert_text(&format!("{name}_device_count"), &text(&one(pairs, device), &NVIDIA));
        let status = Problem { status: true, ..host };
        assert_text(&format!("{name}_status"), &text(&one(keys, status), &NVIDIA));
        let direct = Problem { size: 100_000, count_on_device: true, status: true };
        assert_text(&format!("{name}_direct"), &text(&one(pairs, direct), &NVIDIA));
        let mut batch = Sorts::new(pairs);
        let mut addresses = Addresses::new();
        for size in [100_000, 0, 3, 100_000, 1000] {
            batch.infos.push(addresses.info(Problem { size, ..device }, &batch.format()));
        }
        assert_text(&format!("{name}_batch"), &text(&[batch], &NVIDIA));
    }
    let tiny = Problem { size: 1000, count_on_device: true, status: true };
    let [keys, pairs] = [SorterInfo::keys(), SorterInfo::pairs()].map(|info| info.strategy(Strategy::Lookback));
    assert_text("small", &text(&one(pairs, tiny), &NVIDIA));
    assert_text("ranked", &text(&one(keys, Problem { size: 6000, ..tiny }), &NVIDIA));
    let none = Problem { size: 0, count_on_device: false, status: false };
    assert_text("nothing", &text(&one(pairs, none), &NVIDIA));
    assert_text("nothing_but_status", &text(&one(pairs, Problem { status: true, ..none }), &NVIDIA));
}

/// Kinds of items and placements, each at a size that skips digits and, direct, at one that does not.
#[test]
fn formats_have_plans() {
    let keys = SorterInfo::keys().strategy(Strategy::Lookback);
    let twice = Placement::DoubleBuffer;
    for (name, info) in [
        ("long_keys_large_values", SorterInfo { key: KeyType::U64, value: ValueType::Bytes(16), ..keys }),
        ("narrow_keys", SorterInfo { key: KeyType::I16, ..keys }),
        ("values_apart", SorterInfo { value: ValueType::Bytes(28), ..keys }),
        ("argsort", SorterInfo::argsort(KeyType::U32).strategy(Strategy::Lookback)),
        ("double_buffer_of_three_digits", SorterInfo { placement: twice, end_bit: 24, value: ValueType::U32, ..keys }),
        ("twelve_bits_in_place", SorterInfo { begin_bit: 4, end_bit: 16, ..keys }),
        ("twenty_bits_in_place", SorterInfo { begin_bit: 4, end_bit: 24, ..keys }),
        ("segments", SorterInfo { segmented: true, value: ValueType::U32, ..keys }),
        (
            "segments_of_narrow_keys",
            SorterInfo { segmented: true, key: KeyType::U8, strategy: Strategy::ReduceThenScan, ..keys },
        ),
        ("ring", keys.strategy(Strategy::Ring)),
        ("chained_scan", keys.strategy(Strategy::ChainedScan)),
    ] {
        let text = [1 << 26, 100_000, 1000].map(|size| {
            let problem = Problem { size, count_on_device: false, status: false };
            text(&one(info, problem), &NVIDIA)
        });
        assert_text(name, &text.join("\n"));
    }
}

/// Few and many buckets, direct and prepared, with look-back and without; a batch in which some problems request bucket
/// information.
#[test]
fn splits_have_plans() {
    let problem = |size| Problem { size, count_on_device: true, status: true };
    for (name, strategy) in
        [("split_lookback", Strategy::Lookback), ("split_reduce_then_scan", Strategy::ReduceThenScan)]
    {
        let text = [(0, 100_000), (1, 1 << 26), (2, 1 << 26), (4, 0)].map(|(index, size)| {
            let mut one = Sorts::splits(splits()[index].strategy(strategy));
            one.push(&mut Addresses::new(), problem(size));
            text(&[one], &NVIDIA)
        });
        let mut segments = Sorts::splits(segmented_splits()[2].strategy(strategy));
        segments.push(&mut Addresses::new(), problem(1 << 20));
        let segments = self::text(&[segments], &NVIDIA);
        let mut batch = Sorts::splits(splits()[1].strategy(strategy));
        let mut addresses = Addresses::new();
        for problem in [problem(100_000), Problem { status: false, ..problem(3) }, problem(0)] {
            batch.push(&mut addresses, problem);
        }
        assert_text(name, &format!("{}\n{}\n{segments}", text.join("\n"), self::text(&[batch], &NVIDIA)));
    }
}

/// Splits that read keys once, with look-back: one bucket, buckets at given starts, ranks. One problem, two problems,
/// and no items.
#[test]
fn other_outputs_by_look_back_have_plans() {
    let plans = |index: usize, strategy, sizes: &[u32]| {
        let mut split = Sorts::splits(splits()[index].strategy(strategy));
        let mut addresses = Addresses::new();
        sizes
            .iter()
            .for_each(|size| split.push(&mut addresses, Problem { size: *size, count_on_device: true, status: true }));
        text(&[split], &NVIDIA)
    };
    let two = [1 << 24, 1 << 25];
    let texts = [
        plans(12, Strategy::Lookback, &[1 << 26]),
        plans(16, Strategy::Lookback, &[1 << 26]),
        plans(16, Strategy::Lookback, &two),
        plans(14, Strategy::Ring, &two),
        plans(12, Strategy::Ring, &[0]),
    ];
    assert_text("split_outputs_lookback", &texts.join("\n"));
}

/// Merge sorts of one level, of two, and in a batch. Items that are too large are sorted by digits instead.
#[test]
fn merging_has_plans() {
    let merges =
        || ["16384:256x2/128x8", "1048576:256x4/256x10"].map(|merge| merge.parse().unwrap()).into_iter().collect();
    let mut profile = Profile::for_device(&NVIDIA);
    (profile.sort.keys.merges, profile.sort.long.merges) = (merges(), merges());
    let keys = SorterInfo::keys().strategy(Strategy::Lookback);
    let long = SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() }.strategy(Strategy::Lookback);
    let problem = |size| Problem { size, count_on_device: false, status: false };
    let once = tuned(&one(keys, problem(10_000)), &NVIDIA, &profile);
    let twice =
        tuned(&one(long, Problem { count_on_device: true, status: true, ..problem(100_000) }), &NVIDIA, &profile);
    let mut batch = Sorts::new(SorterInfo { key: KeyType::I16, ..keys });
    let mut addresses = Addresses::new();
    batch.infos.extend([20_000, 100_000, 17_000].map(|size| addresses.info(problem(size), &batch.format())));
    let together = tuned(&[batch], &NVIDIA, &profile);
    let too_large = SorterInfo { key: KeyType::U32x4, ..long };
    let digits = tuned(&one(too_large, problem(20_000)), &NVIDIA, &profile);
    assert!(!digits.contains("merge_join"), "five words of 2560 items are too many:\n{digits}");
    assert_text("merging", &format!("{once}\n{twice}\n{together}"));
}

/// A profile with sorts by prefixes up to 2^20, and a prepare pass for every size.
fn with_prefixes() -> Profile {
    let mut profile = Profile::for_device(&NVIDIA);
    (profile.sort.prefixes_up_to, profile.radix.direct_up_to) = (1 << 20, 0);
    profile
}

/// Sorts by prefixes or by every digit, as the device chooses: alone, and in a batch.
#[test]
fn prefixes_have_plans() {
    let profile = with_prefixes();
    let info = SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() }.strategy(Strategy::Lookback);
    let problem = Problem { size: 1_000_000, count_on_device: true, status: false };
    let alone = tuned(&one(info, problem), &NVIDIA, &profile);
    let mut batch = Sorts::new(SorterInfo { end_bit: 40, ..info });
    let mut addresses = Addresses::new();
    batch.infos.extend([1_000_000, 600_000].map(|size| addresses.info(Problem { size, ..problem }, &batch.format())));
    assert_text("prefixes", &format!("{alone}\n{}", tuned(&[batch], &NVIDIA, &profile)));
}

/// Each problem of a batch has its own workgroup, even if there are more problems than the target number of workgroups
/// of a kernel.
#[test]
fn every_problem_of_a_batch_has_a_workgroup() {
    // Tiles are counted by chunks, which may hold tiles of several problems.
    let by_chunks = [Kernel::RadixHistogram, Kernel::RadixCount, Kernel::SplitClearLookBack];
    let profile = with_prefixes();
    let long = SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() };
    let prefixes = Sorts::new(long.strategy(Strategy::Lookback));
    let kinds = ["narrow_pairs", "large_values", "twice_odd", "argsort"];
    let sorts = formats()
        .into_iter()
        .filter(|(name, _)| kinds.contains(name))
        .map(|(_, info)| Sorts::new(info.strategy(Strategy::Lookback)));
    let splits = [1, 6, 11].map(|index| Sorts::splits(splits()[index].strategy(Strategy::ReduceThenScan)));
    let mut finishing = 0;
    for config in std::iter::once(prefixes).chain(sorts).chain(splits) {
        for (size, problems) in [(300_000, 1), (300_000, 65_535), (300_000, 65_536), (300_000, 70_000), (1000, 70_000)]
        {
            let (mut batch, mut addresses) = (config.clone(), Addresses::new());
            (0..problems)
                .for_each(|_| batch.push(&mut addresses, Problem { size, count_on_device: false, status: true }));
            let (batch, mut layout) = ([batch], Layout::default());
            let groups = groups(&batch, &NVIDIA, &profile);
            for table in &tables(&groups, &mut layout) {
                for pass in &Plan::of(table).unwrap().passes {
                    let kernel = pass.kernel;
                    finishing += u32::from(kernel == Kernel::SortEqualPrefixes && problems > 65_535);
                    let Groups::Fixed(groups) = pass.groups else { continue };
                    let enough = groups >= problems || by_chunks.contains(&kernel);
                    assert!(enough, "{groups} workgroups of {} for {problems} problems of {size}", kernel.name());
                }
            }
        }
    }
    assert_eq!(finishing, 2, "both batches of long keys may go by prefixes");
}

/// The number of specializations of each kernel in a handle, with and without batches, on a device with a measured
/// profile.
#[test]
fn handles_have_the_pipelines_of_their_plans() {
    let profile = Profile::for_device(&NVIDIA);
    let sorter = |info: SorterInfo| (Sorts::new(info.strategy(Strategy::Lookback)), None);
    // The strategy that Strategy::Auto selects on this device.
    let splitter =
        |info: SplitterInfo| (Sorts::splits(info.strategy(Strategy::ReduceThenScan)), Some(Strategy::Lookback));
    let field = BucketFunction::Bits { begin_bit: 0 };
    let handles = [
        ("keys", sorter(SorterInfo::keys())),
        ("pairs", sorter(SorterInfo::pairs())),
        ("pairs up to 2^20", sorter(SorterInfo { max_count: 1 << 20, ..SorterInfo::pairs() })),
        ("pairs in segments", sorter(SorterInfo { segmented: true, ..SorterInfo::pairs() })),
        ("doubles", sorter(SorterInfo { key: KeyType::F64, ..SorterInfo::keys() })),
        ("pairs into 64 buckets", splitter(SplitterInfo::pairs(64, field))),
        ("keys into 4096 buckets", (splitter(SplitterInfo::keys(4096, field)).0, None)),
    ];
    let mut text = String::new();
    for ((name, (sorts, of_few)), batches) in handles.iter().flat_map(|handle| [(handle, false), (handle, true)]) {
        let made = sorts.primitive().variants(sorts.config(&NVIDIA, &profile), *of_few, batches).unwrap();
        let mut kernels: Vec<_> = made.iter().map(|variant| variant.kernel.name()).collect();
        kernels.sort_unstable();
        let kernels: Vec<_> =
            kernels.chunk_by(|a, b| a == b).map(|same| format!("{} {}", same.len(), same[0])).collect();
        let together = if batches { ", batches" } else { "" };
        text += &format!("{name}{together}: {} pipelines\n    {}\n", made.len(), kernels.join(", "));
    }
    assert_text("pipelines", &text);
}
