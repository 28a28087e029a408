//! Merges of segments, and updates.

use crate::common::arena::Together;
use crate::common::contexts::{EMULATED, Setup, assert_silence, is_shared_here, share};
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys};
use crate::common::{brief, very_brief};
use crate::problem::{Job, Segments};
use crate::results::ITEMS;
use crate::{Case, SETUPS};
use trommel::{KeyType, MergeOperation, MergerInfo, Order};

/// Offsets of `segments` segments of any length: many are empty, some are longer than a tile.
fn cut(items: usize, segments: usize, seed: u64) -> Vec<u32> {
    let mut ends: Vec<u32> = (0..segments as u64)
        .map(|segment| (seed * 0x9e37 + segment * segment * 0x85eb + segment * 7919) % (items as u64 + 1))
        .map(|end| end as u32)
        .collect();
    ends.sort_unstable();
    // A few segments have most of the items.
    let shift = |end: u32| if end.is_multiple_of(3) { end } else { end / 8 };
    let mut offsets: Vec<u32> = std::iter::once(0).chain(ends.into_iter().map(shift)).collect();
    offsets.sort_unstable();
    *offsets.last_mut().expect("the first offset") = items as u32;
    offsets
}

/// Segments of any number and length, with the offsets of the output; also empty ones, one alone and none, with their
/// number on the device. Offsets that fall or exceed the arrays change nothing but the outputs.
pub(crate) fn segments() {
    let kinds = [
        (SETUPS[1], ITEMS[0]),
        (SETUPS[0], ITEMS[1]),
        (SETUPS[1], ITEMS[3]),
        (SETUPS[1], MergerInfo { key: KeyType::I64, order: Order::Descending, ..ITEMS[5] }),
        (SETUPS[0], MergerInfo { key: KeyType::F32, ..ITEMS[0] }),
    ];
    let most = if very_brief() { 1 } else { 2 };
    for (nth, (setup, items)) in kinds.into_iter().enumerate().take(if brief() { most } else { kinds.len() }) {
        let case = Case::new(setup, &items.segmented());
        let (n, device) = (3 * case.tile()[0] + 5, Counted::Device);
        let draw = |keys: Keys, counts: [usize; 2], seed: u64| case.draw(keys, counts, seed);
        let mut jobs = vec![
            draw(Keys::Random, [n, n / 2], 1).cut([cut(n, 40, 1), cut(n / 2, 40, 2)], Counted::Host),
            draw(Keys::LowEntropy, [n, n], 2).cut([cut(n, 3 * n, 3), cut(n, 3 * n, 4)], device(3 * n as u32)),
            draw(Keys::Special, [n / 3, n], 3).cut([vec![0, n as u32 / 3], vec![0, n as u32]], Counted::Host),
            draw(Keys::Constant, [n, 3], 4).cut([cut(n, 7, 5), vec![0, 0, 1, 1, 1, 2, 3, 3]], device(9)),
            draw(Keys::Random, [n, n], 5).cut([cut(n, 64, 6), cut(n, 64, 7)], device(33)),
            draw(Keys::Random, [n, n], 6).cut([cut(n, 4, 8), cut(n, 4, 9)], device(0)),
            draw(Keys::Random, [0, n], 7).cut([vec![0; 4], cut(n, 3, 1)], Counted::Host),
            draw(Keys::Random, [0, 0], 8).cut([vec![0; 70], vec![0; 70]], Counted::Host),
            draw(Keys::Random, [5, 9], 9).cut([vec![3], vec![4]], Counted::Host),
            // The last segment ends before the arrays do, or past their end.
            draw(Keys::Random, [n, n], 10).cut([vec![0, 7, n as u32 - 9], vec![0, 9, 10]], Counted::Host),
            Job {
                status: true,
                ..draw(Keys::Random, [n, n], 11).cut([vec![0, 7, u32::MAX], vec![0, 9, n as u32]], Counted::Host)
            },
            Job { status: true, ..draw(Keys::Random, [n, n], 12).cut([cut(n, 9, 1), cut(n, 9, 2)], device(10)) },
        ];
        let falling: Vec<u32> = cut(n, 50, 3).into_iter().rev().collect();
        let noise: Vec<u32> = (0..51).map(|i: u32| i.wrapping_mul(0x9e37_79b9) >> (i % 25)).collect();
        for offsets in [[falling.clone(), falling.clone()], [noise.clone(), falling], [noise.clone(), noise]] {
            let job = draw(Keys::Random, [n, n], 13);
            let segments = Some(Segments { offsets, count: device(50) });
            jobs.push(Job { segments, unsorted: true, ..job });
        }
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
}

/// Updates without marks, with few, many and all items marked, by index and by value, also of segments and with counts
/// on the device. Sequences that are not sorted change nothing but the outputs.
pub(crate) fn updates() {
    use MergeOperation::{Update, UpdateByValue};
    let emulated = Setup::Emulated(EMULATED[share().unwrap_or(1)]);
    let kinds = [
        (SETUPS[1], ITEMS[1].operation(UpdateByValue)),
        (Setup::Late(16), ITEMS[0].operation(Update)),
        (SETUPS[0], ITEMS[1].operation(UpdateByValue).segmented()),
        (SETUPS[1], MergerInfo { key: KeyType::F64, ..ITEMS[4] }.operation(Update).segmented()),
        (emulated, ITEMS[3].operation(UpdateByValue)),
        (SETUPS[1], MergerInfo { key: KeyType::I64, order: Order::Descending, ..ITEMS[7] }.operation(Update)),
        (emulated, ITEMS[0].operation(Update)),
        (Setup::Late(16), ITEMS[8].operation(UpdateByValue)),
    ];
    for (nth, (setup, info)) in kinds.into_iter().enumerate() {
        // The drivers share all but the first.
        let first = if very_brief() { 1 } else { 3 };
        if nth >= first && (brief() || !is_shared_here(nth)) {
            continue;
        }
        let case = Case::new(setup, &info);
        let n = if very_brief() { 3000 } else { 5 * case.tile()[0].max(2000) + 3 };
        let words = n.div_ceil(32);
        let noise = |word: usize, seed: u32| (word as u32 + 1).wrapping_mul(0x9e37_79b9 ^ seed).rotate_left(seed);
        let random = |seed: u32| (0..words).map(|word| noise(word, seed)).collect::<Vec<_>>();
        let few: Vec<u32> = (0..words).map(|word| if word % 5 == 2 { 1 << (word % 32) } else { 0 }).collect();
        let parts: Vec<u32> = (0..words).map(|word| if word / 40 % 2 == 0 { u32::MAX } else { 0 }).collect();
        let (none, all) = (vec![0; words], vec![u32::MAX; words]);
        let draw = |keys: Keys, counts: [usize; 2], seed: u64| case.draw(keys, counts, seed);
        let mut jobs = vec![
            draw(Keys::Random, [n, n / 50], 1).marked(few.clone()),
            draw(Keys::LowEntropy, [n, n], 2).marked(random(3)),
            draw(Keys::Random, [n, 700], 3).marked(none),
            draw(Keys::Random, [n, 700], 4).marked(all.clone()),
            draw(Keys::Random, [n, 0], 5).marked(parts),
            draw(Keys::Random, [0, 9], 6).marked(if info.operation == Update { vec![] } else { few }),
            draw(Keys::Random, [1, 0], 7).marked(vec![1]),
            draw(Keys::Constant, [32, 64], 8).marked(vec![0x8000_0001]),
        ];
        if info.operation == UpdateByValue {
            // Most values have no mark.
            jobs.push(draw(Keys::Random, [n, n], 9).marked(random(7)[..words / 3].to_vec()));
        }
        if info.segmented {
            for (segments, job) in [1, 40, 9, 2 * n, 3, 0, 5, 2, 77].into_iter().zip(&mut jobs) {
                let offsets = [0, 1].map(|side| match segments {
                    0 => vec![0],
                    _ => cut(job.keys[side].len(), segments, side as u64),
                });
                *job = job.clone().cut(offsets, Counted::Host);
            }
        } else {
            let device = Counted::Device;
            for counts in [[device(0), device(9)], [device(n as u32 / 3), Counted::Host], [device(u32::MAX); 2]] {
                jobs.push(draw(Keys::LowEntropy, [n, n], 10).marked(random(1)).counted(counts));
            }
            let falling = || (0..n).rev().map(|i| i as Bits).collect::<Vec<_>>();
            let unsorted = draw(Keys::Random, [0, 0], 11).unsorted([falling(), falling()]);
            jobs.push(unsorted.marked(random(5)));
        }
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
}
