//! Look-back over tiles that never publish, with look-back words in any state; and counts of two words.

use crate::core::tests::noise;
use crate::radix::cpu;
use crate::radix::tests::bench::{Bench, Problem, Way};
use crate::radix::tests::checks::{member, packed_pass};
use crate::radix::tests::contexts::{RING_ENTRIES, RING_REACH, assert_silence, tile_of};
use crate::radix::tests::look_back::{AGGREGATE, INVALID, PREFIX, Ring, look_back_word, ticket_words};
use crate::radix::tests::twins::{Move, Twin};
use crate::shared::PackedPass;
use crate::tuning::{ItemKind, Profile, Ranking};
use crate::{KeyType, Order, SorterInfo, Strategy};

/// Look-back words of tiles that have not published their inclusive prefix, in any state of the protocol.
fn unfinished_words(
    bench: &Bench,
    pass: PackedPass,
    twin: &Twin,
    to: Move,
    stalled: usize,
    round: u64,
    words: &mut [u32],
) {
    let index = pass.index();
    let (bins, prefixes) = (twin.bins(), twin.prefixes(bench.tile(), index));
    let own = cpu::count(&twin.keys, bench.tile(), twin.digit(index), bins);
    let tiles = prefixes.len() / bins;
    let chained = bench.sorts.info.strategy == Strategy::ChainedScan;
    let drawn = noise(round + 100, stalled * bins);
    let first = if bench.in_ring() { stalled - RING_ENTRIES as usize } else { 0 };
    for (t, digit) in (first..stalled).flat_map(|t| (0..bins).map(move |digit| (t, digit))) {
        let (count, prefix, drawn) = (own[digit * tiles + t], prefixes[t * bins + digit], drawn[t * bins + digit]);
        if bench.in_ring() {
            let ring = Ring::of(pass, tiles, bins);
            let tag = ring.tag(t);
            // Words of the preceding lap: those of the tile that used the entry then. Words of an earlier pass are
            // arbitrary.
            let stale = match t.checked_sub(RING_ENTRIES as usize) {
                // The upper half of an aggregate is arbitrary. Such small counts do not use it, so a use of it shows.
                Some(t) if drawn & 1 == 0 && t > 0 => {
                    Ring::halves(tag - 1, AGGREGATE, own[digit * tiles + t] | 0x5a5a << 16)
                }
                Some(t) => Ring::halves(tag - 1, PREFIX, prefixes[t * bins + digit]),
                None => Ring::halves(tag - 1, 1 + drawn % 2, drawn),
            };
            let ([counts, _], prefixes) = (Ring::halves(tag, AGGREGATE, count), Ring::halves(tag, PREFIX, prefix));
            let [low, high] = match (round, drawn >> 8 & 7) {
                (0, _) | (_, 0) => stale,
                (1, _) | (_, 1) => [counts, stale[1]],
                (_, 2) => [0, 0],
                // Only one half of the inclusive prefix is published.
                (_, 3) => [counts, prefixes[1]],
                (_, 4) => [prefixes[0], stale[1]],
                (_, 5) => [prefixes[0], 0],
                (_, 6) => [stale[0], prefixes[1]],
                _ => prefixes,
            };
            let [low_word, high_word] = ring.words_of(t, digit);
            (words[low_word], words[high_word]) = (low, high);
        } else {
            let counted = t > 0 && !chained;
            let (state, count) = match (round, drawn % 3) {
                // No tile has published.
                (0, _) => (INVALID, 0),
                // Aggregates alone.
                (1, _) | (_, 1) if counted => (AGGREGATE, count),
                (2.., 2) => (PREFIX, prefix),
                _ => (INVALID, 0),
            };
            words[t * bins + digit] = look_back_word(state, to.before, count);
        }
    }
}

/// Stalled tiles, which no workgroup takes. Later tiles find words in every state of the protocol, stop waiting at an
/// invalid word, and count by themselves. The ticket begins behind the stalled tiles. In the ring, the tail passes
/// stalled tiles only if the counters of their groups are complete.
fn stalled_tiles(emulated: bool, wrong_ranks: bool, info: SorterInfo) {
    let tile = tile_of(emulated);
    let (tiles, stalled) = (19, 13);
    let tune = |mut profile: Profile| {
        for kind in ItemKind::ALL {
            let tile = &mut profile.radix[kind].tiles[0].shape;
            // With verified ranks, workgroups are persistent, if the strategy has such kernels.
            (tile.ranking, tile.groups) =
                if wrong_ranks { (Ranking::VerifiedBySourceIndex, 2) } else { (Ranking::Ballots, 0) };
        }
        profile.hooks.wrong_ranks = wrong_ranks;
        profile
    };
    let problem = Problem::new(21, tiles * tile - 3, None).varied(0b1_0111);
    let bench = Bench::tuned(emulated, Way::SkippingDigits, tune, info, vec![problem]);
    bench.with_plan(|plan, mut memory, rows| {
        let (mut twin, row) = (bench.twins().remove(0), &rows[0]);
        let (digits, bins) = (twin.format.digits() as usize, twin.bins());
        for pass in &plan.passes {
            let packed = packed_pass(pass, &twin.format);
            let index = packed.index();
            let before = memory.clone();
            memory = bench.run(&before, plan, pass);
            let to = bench.move_of(&twin, packed).filter(|_| pass.kernel.name().starts_with("radix_onesweep"));
            let Some(to) = to else { continue };
            let source = twin.clone();
            let targets = twin.reorder(tile, index);
            let mut taken = vec![false; twin.len()];
            targets[stalled * tile..].iter().for_each(|target| taken[*target] = true);
            let (tickets, words) = (
                member(pass, "tickets").unwrap(),
                if bench.in_ring() { RING_ENTRIES as usize * 2 } else { tiles } * bins,
            );
            for round in 0..8 {
                // The state that the stalled tiles leave: published words and, in the ring, the counters of their
                // groups. In some rounds, no tile has read these counters.
                let mut state = before.clone();
                let mut set = |part: u32, words: &[u32]| {
                    let start = bench.offset_of(bench.scratch_address() + u64::from(part) * 256);
                    state[start..start + words.len() * 4].copy_from_slice(bytemuck::cast_slice(words));
                };
                let mut line = bench.part(&before, tickets, ticket_words(digits));
                line[index as usize] = stalled as u32;
                let finished = [0, stalled, stalled - 2, 5][round as usize % 4];
                let counters = Ring::counters(packed);
                line[counters..].iter_mut().zip(Ring::counted(0..finished)).for_each(|(word, counted)| *word = counted);
                let in_order = bench.sorts.info.strategy == Strategy::RingInOrder;
                line[digits + index as usize] =
                    if in_order { finished } else { [0, finished & !1][round as usize / 4] } as u32;
                set(tickets, &line);
                let mut published = bench.part(&before, row.tile_words, words);
                unfinished_words(&bench, packed, &source, to, stalled, round, &mut published);
                set(row.tile_words, &published);
                let after = bench.run(&state, plan, pass);

                // The target lacks the items of stalled tiles and has all others.
                for (address, expected) in twin.written(row, to) {
                    let (found, old) =
                        (bench.bytes(&after, address, expected.len()), bench.bytes(&state, address, expected.len()));
                    let step = expected.len() / twin.len();
                    let wrong =
                        (0..found.len()).find(|i| found[*i] != if taken[*i / step] { expected[*i] } else { old[*i] });
                    assert_eq!(wrong, None, "digit {index} of round {round}");
                }
                if bench.sorts.info.strategy == Strategy::Ring {
                    let [before, since] = [0..finished, stalled..tiles].map(Ring::counted);
                    let found = bench.part(&after, tickets, ticket_words(digits));
                    let expected: Vec<u32> = before.iter().zip(since).map(|(before, since)| before + since).collect();
                    assert_eq!(found[counters..][..before.len()], expected, "each tile that runs counts itself once");
                    let (tail, whole) = (found[digits + index as usize] as usize, finished & !1);
                    assert!(tail >= whole, "a waiting tile moves the tail over complete groups, not to {tail}");
                }
                let prefixes = source.prefixes(tile, index);
                let published = bench.part(&after, row.tile_words, words);
                if bench.in_ring() {
                    let sure = if in_order { finished } else { finished & !1 } + (RING_ENTRIES - RING_REACH) as usize;
                    Ring::of(packed, tiles, bins).check(
                        &published,
                        &prefixes,
                        stalled..tiles,
                        stalled..sure.min(tiles),
                    );
                } else {
                    let expected =
                        prefixes[stalled * bins..].iter().map(|prefix| look_back_word(PREFIX, to.before, *prefix));
                    assert_eq!(
                        published[stalled * bins..],
                        expected.collect::<Vec<_>>(),
                        "prefixes are right all the same"
                    );
                }
            }
        }
    });
    assert_silence(&bench.context);
}

/// Stalled tiles of keys, of pairs, and of doubles. The sign bit, by which a double is decoded, may be in another word
/// than the digit.
fn stalled_tiles_by(strategy: Strategy) {
    let doubles =
        SorterInfo { key: KeyType::F64, order: Order::Descending, begin_bit: 20, end_bit: 45, ..SorterInfo::pairs() };
    stalled_tiles(false, false, SorterInfo::pairs().strategy(strategy));
    stalled_tiles(false, false, doubles.strategy(strategy));
    stalled_tiles(true, false, SorterInfo::keys().strategy(strategy));
    // With verified ranks, which tiles compute again after they have stopped waiting.
    stalled_tiles(true, true, SorterInfo::pairs().strategy(strategy));
}

/// More items than 16 bits count: prefixes need both halves of a descriptor.
#[test]
fn prefixes_of_two_words() {
    for strategy in [Strategy::Ring, Strategy::RingInOrder] {
        let info = SorterInfo { end_bit: 12, ..SorterInfo::keys() }.strategy(strategy);
        let bench = Bench::new(false, Way::EveryDigit, info, vec![Problem::new(51, (1 << 16) + 999, None)]);
        bench.follow(|memory, plan, pass| bench.run(memory, plan, pass));
    }
}

#[test]
fn tiles_that_never_publish() {
    stalled_tiles_by(Strategy::Lookback);
}

#[test]
fn tiles_that_never_publish_in_a_chain() {
    stalled_tiles_by(Strategy::ChainedScan);
}

#[test]
fn tiles_that_never_publish_in_a_ring() {
    stalled_tiles_by(Strategy::Ring);
}

#[test]
fn tiles_that_never_publish_in_an_orderly_ring() {
    stalled_tiles_by(Strategy::RingInOrder);
}
