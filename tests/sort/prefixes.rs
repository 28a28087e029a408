//! Sorts of long keys by prefixes, end to end: with keys for which the device chooses prefixes, and with others.

use crate::Case;
use crate::common::arena::{Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence};
use crate::common::harness::note;
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys, Random};
use crate::common::{brief, full};
use crate::problem::Job;
use trommel::{KeyType, Layout, Order, Placement, SorterInfo, Strategy, ValueType};

/// Formats that may be sorted by prefixes: two words and more, every placement and layout, part of a key, dropped keys;
/// each strategy that waits.
const KINDS: [SorterInfo; 6] = {
    use KeyType::{F64, I64, U32x3, U32x4, U64};
    use Placement::{DoubleBuffer, Preserve};
    use ValueType::{Bytes, Index};
    const KEYS: SorterInfo = SorterInfo { key: U64, ..SorterInfo::keys() };
    [
        KEYS.strategy(Strategy::Lookback),
        SorterInfo { key: F64, order: Order::Descending, ..SorterInfo::pairs() }.strategy(Strategy::Lookback),
        SorterInfo {
            begin_bit: 5,
            end_bit: 43,
            value: Bytes(8),
            placement: DoubleBuffer,
            layout: Layout::Interleaved,
            ..KEYS
        }
        .strategy(Strategy::Ring),
        SorterInfo { key: U32x3, value: Bytes(12), placement: Preserve, ..KEYS }.strategy(Strategy::ChainedScan),
        SorterInfo { key: U32x4, value: Bytes(20), ..KEYS }.strategy(Strategy::RingInOrder),
        SorterInfo { key: I64, value: Index, drop_keys: true, layout: Layout::Strided, placement: Preserve, ..KEYS }
            .strategy(Strategy::Lookback),
    ]
};

/// Position in the array of the keys with an equal prefix.
#[derive(Clone, Copy, Debug)]
enum Shared {
    First,
    Middle,
    Last,
}

/// Random keys, of which `many` share a prefix: their top words differ in the lowest byte only. Every third of these
/// equals its predecessor.
fn keys_with_a_prefix(info: &SorterInfo, n: usize, many: usize, shared: Shared, seed: u64) -> Vec<Bits> {
    let mut random = Random::new(seed);
    // The encoded top word, without its lowest byte: its position in sort order.
    let first = match shared {
        Shared::First => 0,
        Shared::Middle => 0x5851_eb00,
        Shared::Last => 0xffff_ff00,
    };
    let top = |word: u32| {
        let encoded = match info.key {
            KeyType::I64 => word ^ 1 << 31,
            _ => word,
        };
        if info.order == Order::Descending { !encoded } else { encoded }
    };
    let mut keys = Keys::Random.draw(info.key, n, seed);
    let words = info.key.size() / 4;
    // The most significant word is the first in memory for keys of several words, the last for others.
    let shift = if matches!(info.key, KeyType::U32x3 | KeyType::U32x4) { 0 } else { 32 * (words - 1) };
    for i in 0..many {
        let key = &mut keys[i * n / many];
        *key = *key & !(0xffff_ffff << shift) | Bits::from(top(first | random.below(256))) << shift;
    }
    for i in (1..many).step_by(3) {
        keys[i * n / many] = keys[(i - 1) * n / many];
    }
    keys
}

/// Keys of which none or few share a prefix, many share the first or the last one, and keys for which passes over all
/// digits are chosen. With host and device counts, alone and in a batch.
fn by_prefixes(case: &Case) {
    let (profile, info) = (case.profile(), *case.sorter.info());
    let (up_to, tile) = (profile.sort.prefixes_up_to as usize, profile.sort.finish.tile() as usize);
    let kernels = |n: usize| {
        let info = trommel::SortInfo { count: trommel::Count::host(n as u32), ..Default::default() };
        case.sorter.describe(&info).expect("the count is small")
    };
    assert!(
        kernels(up_to).contains("sort_equal_prefixes") && !kernels(up_to + 1).contains("sort_equal_prefixes"),
        "{up_to} is the most: {info:?}"
    );
    // Steps per key: the squared number of keys of the prefix, divided by the number of all keys. Fewer than
    // MOST_STEPS.
    let many = ((trommel::shared::MOST_STEPS / 2) as f64 * up_to as f64).sqrt() as usize;
    assert!(many > 2, "keys share a prefix");
    let of = |shared, n: usize, seed| Job::new(&case.sorter, keys_with_a_prefix(&info, n, many, shared, seed));
    let draw = |keys, n: usize, seed| Job::draw(&case.sorter, keys, n, seed);
    let jobs = [
        draw(Keys::Random, up_to, 1),
        draw(Keys::Random, up_to, 2).counted(Counted::Device(up_to as u32 - tile as u32 - 7)),
        of(Shared::First, up_to, 3),
        of(Shared::Middle, up_to - 1, 4).counted(Counted::Device(u32::MAX)),
        of(Shared::Last, up_to - 5, 5),
        // Many keys have an equal prefix: the sort uses all digits.
        draw(Keys::Constant, up_to, 6),
        draw(Keys::LowEntropy, up_to, 7),
        draw(Keys::OneDigit, up_to, 8),
        draw(Keys::Special, up_to, 9),
        draw(Keys::Random, up_to, 10).counted(Counted::Device(0)),
        draw(Keys::Random, up_to, 11).counted(Counted::Device(1)),
        // Fewer keys than the smallest sort that skips constant digits.
        draw(Keys::Random, profile.radix.all_digits_up_to as usize - 9, 13),
        draw(Keys::Constant, profile.radix.all_digits_up_to as usize - 10, 14),
        // No prefixes.
        draw(Keys::Random, up_to + 1, 12),
    ];
    for together in [Together::Singles, Together::Batch] {
        run_and_check(&case.context, &jobs, together, Poison::Random(21));
    }
    assert_silence(&case.context);
}

/// A third of the kinds for each subgroup size; the first kind for all sizes.
pub(crate) fn long_keys_by_prefixes() {
    let width = crate::context(Setup::Native).device().facts().max_lanes.trailing_zeros() as usize;
    for (kind, info) in KINDS.iter().enumerate() {
        if kind == 0 || full() || !brief() && (kind + width).is_multiple_of(3) {
            note(format!("{info:?}"));
            by_prefixes(&Case::of(Setup::Prefixes, info));
        }
    }
}
