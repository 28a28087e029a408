//! Look-back where tiles never come, in any state of its words; and where counts take two of them.

use crate::radix::cpu;
use crate::shared::PackedPass;
use crate::tests::bench::{Bench, Problem, Way};
use crate::tests::checks::{member, packed_pass};
use crate::tests::contexts::{RING_ENTRIES, RING_REACH, assert_silence, tile_of};
use crate::tests::look_back::{COUNT, EMPTY, PREFIX, Ring, look_back_word, ticket_words};
use crate::tests::twins::{Move, Twin, noise};
use crate::tuning::{Profile, Ranking};
use crate::{KeyType, Order, SorterInfo, Strategy};

/// Look-back words of tiles that nobody has finished, in any state that the protocol knows.
fn unfinished_words(
    bench: &Bench,
    pass: PackedPass,
    twin: &Twin,
    to: Move,
    lost: usize,
    round: u64,
    words: &mut [u32],
) {
    let index = pass.index();
    let (bins, prefixes) = (twin.bins(), twin.prefixes(bench.tile(), index));
    let own = cpu::count(&twin.keys, bench.tile(), twin.digit(index), bins);
    let tiles = prefixes.len() / bins;
    let chained = bench.sorts.info.strategy == Strategy::ChainedScan;
    let drawn = noise(round + 100, lost * bins);
    let first = if bench.in_ring() { lost - RING_ENTRIES as usize } else { 0 };
    for (t, digit) in (first..lost).flat_map(|t| (0..bins).map(move |digit| (t, digit))) {
        let (count, prefix, drawn) = (own[digit * tiles + t], prefixes[t * bins + digit], drawn[t * bins + digit]);
        if bench.in_ring() {
            let ring = Ring::of(pass, tiles, bins);
            let tag = ring.tag(t);
            // Left by the lap before: the tile's that had the entry then, or, of an earlier pass, of no use, whatever
            // it says.
            let stale = match t.checked_sub(RING_ENTRIES as usize) {
                // The upper half of what is no prefix means nothing. (No place of so few items has one: what is taken
                // for one shows.)
                Some(t) if drawn & 1 == 0 && t > 0 => {
                    Ring::halves(tag - 1, COUNT, own[digit * tiles + t] | 0x5a5a << 16)
                }
                Some(t) => Ring::halves(tag - 1, PREFIX, prefixes[t * bins + digit]),
                None => Ring::halves(tag - 1, 1 + drawn % 2, drawn),
            };
            let ([counts, _], prefixes) = (Ring::halves(tag, COUNT, count), Ring::halves(tag, PREFIX, prefix));
            let [low, high] = match (round, drawn >> 8 & 7) {
                (0, _) | (_, 0) => stale,
                (1, _) | (_, 1) => [counts, stale[1]],
                (_, 2) => [0, 0],
                // One half is there and the other is not.
                (_, 3) => [counts, prefixes[1]],
                (_, 4) => [prefixes[0], stale[1]],
                (_, 5) => [prefixes[0], 0],
                (_, 6) => [stale[0], prefixes[1]],
                _ => prefixes,
            };
            let places = ring.places(t, digit);
            (words[places[0]], words[places[1]]) = (low, high);
        } else {
            let counted = t > 0 && !chained;
            let (state, count) = match (round, drawn % 3) {
                // None of them anything.
                (0, _) => (EMPTY, 0),
                // None of them anything but their counts.
                (1, _) | (_, 1) if counted => (COUNT, count),
                (2.., 2) => (PREFIX, prefix),
                _ => (EMPTY, 0),
            };
            words[t * bins + digit] = look_back_word(state, to.before, count);
        }
    }
}

/// Tiles that nobody takes: those after them find words in every state of the protocol, give up waiting where one is
/// empty, and count for themselves. The ticket begins behind the lost ones; in the ring, the tail gets past them only
/// where others tell in their stead.
fn lost_tiles(emulated: bool, wrong_ranks: bool, info: SorterInfo) {
    let tile = tile_of(emulated);
    let (tiles, lost) = (19, 13);
    let tune = |mut profile: Profile| {
        for shapes in profile.sort_shapes_mut() {
            let tile = &mut shapes.tiles[0].shape;
            // Those that prove their ranks take one tile after the other, too, where there are such.
            (tile.ranking, tile.groups) =
                if wrong_ranks { (Ranking::VerifiedBySourceIndex, 2) } else { (Ranking::Ballots, 0) };
        }
        profile.hooks.wrong_ranks = wrong_ranks;
        profile
    };
    let problem = Problem::new(21, tiles * tile - 3, None).varied(0b1_0111);
    let bench = Bench::tuned(emulated, Way::PassingOver, tune, info, vec![problem]);
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
            let places = twin.reorder(tile, index);
            let mut taken = vec![false; twin.len()];
            places[lost * tile..].iter().for_each(|place| taken[*place] = true);
            let (tickets, words) = (
                member(pass, "tickets").unwrap(),
                if bench.in_ring() { RING_ENTRIES as usize * 2 } else { tiles } * bins,
            );
            for round in 0..8 {
                // What the lost tiles have published, if anything, and how many of them have told that they have looked
                // back: in a ring to the counters of their groups, which nobody has looked at in some rounds.
                let mut state = before.clone();
                let mut set = |part: u32, words: &[u32]| {
                    let start = bench.place(bench.scratch_address() + u64::from(part) * 256);
                    state[start..start + words.len() * 4].copy_from_slice(bytemuck::cast_slice(words));
                };
                let mut line = bench.part(&before, tickets, ticket_words(digits));
                line[index as usize] = lost as u32;
                let told = [0, lost, lost - 2, 5][round as usize % 4];
                let counters = Ring::counters(packed);
                line[counters..].iter_mut().zip(Ring::counted(0..told)).for_each(|(word, counted)| *word = counted);
                let in_order = bench.sorts.info.strategy == Strategy::RingInOrder;
                line[digits + index as usize] = if in_order { told } else { [0, told & !1][round as usize / 4] } as u32;
                set(tickets, &line);
                let mut published = bench.part(&before, row.tile_words, words);
                unfinished_words(&bench, packed, &source, to, lost, round, &mut published);
                set(row.tile_words, &published);
                let after = bench.run(&state, plan, pass);

                // Items of lost tiles are missing from the target, all others are there.
                for (address, expected) in twin.written(row, to) {
                    let (found, old) =
                        (bench.bytes(&after, address, expected.len()), bench.bytes(&state, address, expected.len()));
                    let step = expected.len() / twin.len();
                    let wrong =
                        (0..found.len()).find(|i| found[*i] != if taken[*i / step] { expected[*i] } else { old[*i] });
                    assert_eq!(wrong, None, "digit {index} of round {round}");
                }
                if bench.sorts.info.strategy == Strategy::Ring {
                    let [before, since] = [0..told, lost..tiles].map(Ring::counted);
                    let found = bench.part(&after, tickets, ticket_words(digits));
                    let expected: Vec<u32> = before.iter().zip(since).map(|(before, since)| before + since).collect();
                    assert_eq!(found[counters..][..before.len()], expected, "those that have come have told, no other");
                    let (tail, whole) = (found[digits + index as usize] as usize, told & !1);
                    assert!(tail >= whole, "who waits moves the tail over groups that are whole, not to {tail}");
                }
                let prefixes = source.prefixes(tile, index);
                let published = bench.part(&after, row.tile_words, words);
                if bench.in_ring() {
                    let sure = if in_order { told } else { told & !1 } + (RING_ENTRIES - RING_REACH) as usize;
                    Ring::of(packed, tiles, bins).check(&published, &prefixes, lost..tiles, lost..sure.min(tiles));
                } else {
                    let expected =
                        prefixes[lost * bins..].iter().map(|prefix| look_back_word(PREFIX, to.before, *prefix));
                    assert_eq!(
                        published[lost * bins..],
                        expected.collect::<Vec<_>>(),
                        "prefixes are right all the same"
                    );
                }
            }
        }
    });
    assert_silence(&bench.context);
}

/// Pairs, and doubles, whose digits take another word to be told.
fn lost_tiles_by(strategy: Strategy) {
    let doubles =
        SorterInfo { key: KeyType::F64, order: Order::Descending, begin_bit: 20, end_bit: 45, ..SorterInfo::pairs() };
    lost_tiles(false, false, SorterInfo::pairs().strategy(strategy));
    lost_tiles(false, false, doubles.strategy(strategy));
    lost_tiles(true, false, SorterInfo::keys().strategy(strategy));
    // Those that give up rank once more, too.
    lost_tiles(true, true, SorterInfo::pairs().strategy(strategy));
}

/// More items than half a word counts.
#[test]
fn prefixes_of_two_words() {
    for strategy in [Strategy::Ring, Strategy::RingInOrder] {
        let info = SorterInfo { end_bit: 12, ..SorterInfo::keys() }.strategy(strategy);
        let bench = Bench::new(false, Way::EveryDigit, info, vec![Problem::new(51, (1 << 16) + 999, None)]);
        bench.follow(|memory, plan, pass| bench.run(memory, plan, pass));
    }
}

#[test]
fn tiles_that_never_come() {
    lost_tiles_by(Strategy::Lookback);
}

#[test]
fn tiles_that_never_come_in_a_chain() {
    lost_tiles_by(Strategy::ChainedScan);
}

#[test]
fn tiles_that_never_come_in_a_ring() {
    lost_tiles_by(Strategy::Ring);
}

#[test]
fn tiles_that_never_come_in_an_orderly_ring() {
    lost_tiles_by(Strategy::RingInOrder);
}
