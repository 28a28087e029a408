//! Sorts by user-defined comparators.

use super::*;
use crate::common::problem::Problem;
use sort_problem::Compared;
use trommel::{Placement, SortComparatorKernel, SortInfo, Sorter, SorterInfo};

/// Comparators of tests/kernels, their key types, and their modules for sorts.
pub(crate) const COMPILED: [(&str, KeyType, &[u8]); 5] = [
    ("absolute", KeyType::F32, include_bytes!("../kernels/sort_absolute_f32.spv")),
    ("indexed", KeyType::U32, include_bytes!("../kernels/sort_indexed_u32.spv")),
    ("masked", KeyType::U32, include_bytes!("../kernels/sort_masked_u32.spv")),
    ("last_word", KeyType::U32x3, include_bytes!("../kernels/sort_last_word_u32x3.spv")),
    ("disorder", KeyType::U32, include_bytes!("../kernels/sort_disorder_u32.spv")),
];

fn kernel(name: &str, key: KeyType) -> SortComparatorKernel {
    let (.., bytes) =
        COMPILED.into_iter().find(|(known, of, _)| (*known, *of) == (name, key)).expect("a kernel of such keys");
    SortComparatorKernel::from_spirv(&words_of(bytes)).expect("a kernel of this version")
}

/// A sorter by a comparator in one setup.
struct Case {
    context: Context,
    sorter: Sorter,
    name: &'static str,
}

impl Case {
    fn new(setup: Setup, name: &'static str, info: &SorterInfo) -> Self {
        let context = context(setup);
        let (info, kernel) = (info.batches(), kernel(name, info.key));
        println!("{} {name} {info:?}", context.name());
        // SAFETY: the compiler has created the modules from valid functions.
        let sorter = unsafe { Sorter::with_comparator(context.device(), &info, &kernel) };
        Self { context, sorter: sorter.expect("a kernel for such keys"), name }
    }

    fn draw(&self, n: usize, seed: u64) -> Compared<'_> {
        let key = self.sorter.info().key;
        let keys = match self.name {
            "absolute" => small_floats(n, seed),
            "last_word" => few_words(Keys::Random.draw(key, n, seed), key),
            "indexed" => indices(Keys::Random.draw(key, n, seed)),
            _ => Keys::Random.draw(key, n, seed),
        };
        let comparator = comparator(self.name);
        Compared { job: sort_problem::Job::new(&self.sorter, keys), comparator, is_disorder: self.name == "disorder" }
    }

    fn counted(&self, n: usize, seed: u64, count: u32) -> Compared<'_> {
        let all = self.draw(n, seed);
        Compared { job: all.job.counted(Counted::Device(count)), ..all }
    }

    fn check(&self, jobs: &[Compared<'_>], seed: u64) {
        for together in [Together::Singles, Together::Batch] {
            run_and_check(&self.context, jobs, together, Poison::Random(seed));
        }
        assert_silence(&self.context);
    }
}

/// Keys that are indices of the table.
fn indices(keys: Vec<Bits>) -> Vec<Bits> {
    keys.into_iter().map(|key| key % RANKS).collect()
}

fn keyed(key: KeyType) -> SorterInfo {
    SorterInfo { key, ..SorterInfo::keys() }
}

/// Every comparator, placements, layouts, values of any size, counts on the device; alone and in batches. Values show
/// the order of equal keys. Counts around runs, and of up to four levels.
#[test]
fn sorts_by_comparators() {
    let cases = [
        ("indexed", SorterInfo::keys()),
        ("absolute", SorterInfo { value: ValueType::U32, ..keyed(KeyType::F32) }),
        ("indexed", SorterInfo { value: ValueType::Bytes(8), layout: Layout::Interleaved, ..SorterInfo::keys() }),
        ("last_word", SorterInfo { value: ValueType::Bytes(20), ..keyed(KeyType::U32x3) }),
        ("indexed", SorterInfo::argsort(KeyType::U32)),
        ("last_word", SorterInfo { placement: Placement::DoubleBuffer, ..keyed(KeyType::U32x3) }),
        ("absolute", SorterInfo { value: ValueType::Bytes(12), drop_keys: true, ..keyed(KeyType::F32) }),
        ("indexed", SorterInfo { layout: Layout::Strided, placement: Placement::Preserve, ..SorterInfo::pairs() }),
    ];
    let one_of = if very_brief() { 4 } else { 2 };
    for (i, (name, info)) in cases.into_iter().enumerate().filter(|(i, _)| full() || !brief() || i % one_of == 0) {
        let case = Case::new([Setup::Folded, Setup::Native][i % 2], name, &info);
        let run = case.context.device().profile().sort.keys.by_comparator.run.tile() as usize;
        let jobs = [
            case.draw(1, 1),
            case.draw(2, 2),
            case.draw(run - 1, 3),
            case.draw(run, 4),
            case.draw(run + 1, 5),
            case.draw(4 * run + 1, 6),
            case.counted(9000, 7, 8999),
            case.counted(300, 8, 0),
            case.counted(5000, 9, 6000),
            case.draw(17 * run + 3, 10),
            case.counted(0, 11, 3),
        ];
        case.check(&jobs, i as u64);
    }
}

/// Keys of which all are equal, ascend, or descend.
#[test]
fn ordered_keys() {
    let case = Case::new(Setup::Folded, "indexed", &SorterInfo::pairs());
    let jobs = [Keys::Random; 3].into_iter().enumerate().map(|(i, keys)| {
        let mut drawn = indices(keys.draw(KeyType::U32, 3000, i as u64));
        let ranked = comparator("indexed");
        match i {
            0 => drawn.fill(7),
            1 => drawn.sort_by_key(|key| ranked.rank(*key)),
            _ => drawn.sort_by_key(|key| std::cmp::Reverse(ranked.rank(*key))),
        }
        Compared { job: sort_problem::Job::new(&case.sorter, drawn), ..case.draw(0, 0) }
    });
    case.check(&jobs.collect::<Vec<_>>(), 5);
}

/// Sorters that differ only in their comparators, sorters that are equal, and a sorter and a merger without one.
#[test]
fn several_comparators_in_a_batch() {
    let case = |name, seed| (Case::new(Setup::Folded, name, &SorterInfo::pairs()), seed);
    let cases = [case("indexed", 1), case("masked", 2), case("indexed", 3)];
    let device = cases[0].0.context.device();
    let sorter = Sorter::new(device, &SorterInfo::pairs().batches()).expect("a sorter");
    let merger = Merger::new(device, &MergerInfo::pairs().batches()).expect("a merger");
    let sorted = sort_problem::Job::draw(&sorter, Keys::Random, 2500, 4);
    let merged = Job::draw(&merger, Keys::Random, [700, 800], 5);
    let compared: Vec<_> = cases.iter().map(|(case, seed)| case.draw(2000 + *seed as usize, *seed)).collect();
    let mut jobs: Vec<&dyn Problem> = vec![&sorted, &merged];
    jobs.extend(compared.iter().map(|job| job as &dyn Problem));
    for together in [Together::Singles, Together::Batch] {
        run_and_check(&cases[0].0.context, jobs.iter().copied(), together, Poison::Random(6));
    }
    assert_silence(&cases[0].0.context);
}

/// A comparator without an order: nothing but the outputs is written, and every sort ends.
#[test]
fn comparators_without_an_order() {
    for info in [SorterInfo::pairs(), SorterInfo::argsort(KeyType::U32), SorterInfo::keys()] {
        let case = Case::new(Setup::Folded, "disorder", &info);
        case.check(&[case.draw(200, 1), case.draw(9000, 2), case.counted(5000, 3, 4800)], 4);
    }
}

#[test]
fn refusals() {
    let context = context(Setup::Native);
    let kernel = kernel("indexed", KeyType::U32);
    let refused = |info: &SorterInfo| {
        // SAFETY: every creation is refused before the kernel is used.
        unsafe { Sorter::with_comparator(context.device(), info, &kernel) }.map(drop).map_err(|error| error.to_string())
    };
    let keys = SorterInfo::keys();
    for (info, why) in [
        (keyed(KeyType::I32), "keyType is malformed: I32 is not the key type of the kernel"),
        (keyed(KeyType::U16), "keyType is malformed: keys narrower than a word have no comparator"),
        (SorterInfo { order: Order::Descending, ..keys }, "order is malformed: the comparator is the order"),
        (SorterInfo { begin_bit: 1, ..keys }, "beginBit is malformed: comparators are of whole keys"),
        (SorterInfo { end_bit: 31, ..keys }, "endBit is malformed: comparators are of whole keys"),
        (SorterInfo { segmented: true, ..keys }, "flags is malformed: sorts with a comparator have no segments"),
        (
            SorterInfo { max_count: (1 << 30) + 1, ..keys },
            "maxCount 1073741825 > 1073741824, the most keys with a comparator",
        ),
    ] {
        assert_eq!(refused(&info), Err(why.to_owned()));
    }

    // Kernels of merges and of sorts.
    let of_merges = super::kernel("ranked", KeyType::U32);
    assert_eq!(
        SortComparatorKernel::from_spirv(of_merges.spirv()).map(drop).map_err(|error| error.to_string()),
        Err("code is malformed: it is a kernel with another function than the trm_less of sorts".into())
    );
    assert_eq!(
        ComparatorKernel::from_spirv(kernel.spirv()).map(drop).map_err(|error| error.to_string()),
        Err("code is malformed: it is a kernel with another function than the trm_less of merges".into())
    );

    // Input for a comparator that does not exist.
    let plain = Sorter::new(context.device(), &keys).expect("a sorter");
    context
        .run(|commands| {
            let refused = |info: &SortInfo| {
                // SAFETY: every recording is refused.
                unsafe { plain.cmd_sort(commands, info) }.map_err(|error| error.to_string())
            };
            let why = |member| Err(format!("{member} is malformed: the sorter has no comparator"));
            assert_eq!(refused(&SortInfo { user_address: 64, ..SortInfo::default() }), why("userAddress"));
            assert_eq!(refused(&SortInfo { user_words: [0, 0, 0, 1], ..SortInfo::default() }), why("userWords"));
            Ok(())
        })
        .expect("nothing was recorded");
}

/// The first pass sorts runs. Each level of merging has two passes.
#[test]
fn levels_of_sorts() {
    let case = Case::new(Setup::Native, "indexed", &SorterInfo::keys());
    let shape = case.context.device().profile().sort.keys.by_comparator.run.tile();
    let fan = case.context.device().profile().merge.fan;
    let described = |count: u32| {
        let info = SortInfo { count: Count::host(count), ..SortInfo::default() };
        case.sorter.describe(&info).expect("a valid count")
    };
    for (count, levels) in [(1, 0), (shape, 0), (shape + 1, 1), (shape * fan, 1), (shape * fan + 1, 2)] {
        let text = described(count);
        let passes = |name: &str| text.lines().filter(|line| line.contains(name)).count();
        assert_eq!(["merge_sort_run", "merge_partition", "merge_join"].map(passes), [1, levels, levels], "{text}");
    }
}
