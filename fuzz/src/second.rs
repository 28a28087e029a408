//! The second sequence of a request that takes two.

use crate::primitive::{Ask, CountAt, fewer};
use crate::random::Random;

/// How sorted items are dealt to two sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dealing {
    /// At random.
    Random,
    /// The first items to the first sequence.
    FirstBefore,
    /// The first items to the second sequence.
    FirstAfter,
    /// In turn, as long as both have room.
    Alternating,
    /// Runs in turn, of about so many items.
    Runs(u32),
    /// At random. If the first sequence has enough items, the second one is a part of its memory.
    Within,
}

impl Dealing {
    fn draw(random: &mut Random) -> Self {
        match random.below(10) {
            0..4 => Self::Random,
            4 => Self::FirstBefore,
            5 => Self::FirstAfter,
            6 => Self::Alternating,
            7 | 8 => Self::Runs(random.log_between(2, 1000)),
            _ => Self::Within,
        }
    }

    /// Deals items to two sequences of these sizes. Returns for each item whether it goes to the second sequence.
    pub fn deal(self, items: [usize; 2], random: &mut Random) -> Vec<bool> {
        let mut room = items;
        let mut turn = random.chance(1, 2);
        let mut next = |_| {
            match self {
                Self::Random | Self::Within => turn = random.index(room[0] + room[1]) >= room[0],
                Self::FirstBefore => turn = false,
                Self::FirstAfter => turn = true,
                Self::Alternating => turn = !turn,
                Self::Runs(length) => turn ^= random.below(length) == 0,
            }
            let to_second = if room[usize::from(turn)] == 0 { !turn } else { turn };
            room[usize::from(to_second)] -= 1;
            to_second
        };
        (0..items[0] + items[1]).map(&mut next).collect()
    }
}

/// A second sequence of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second {
    /// The maximum count. The arrays hold so many items.
    pub items: u32,
    /// The number of items.
    pub count: CountAt,
    /// How items are dealt to both sequences.
    pub dealing: Dealing,
}

impl Second {
    /// Simpler ones, the simplest first.
    pub fn simpler(&self) -> Vec<Self> {
        let with_items = |items| Self { items, count: self.count.of_fewer(self.items, items), ..*self };
        let mut all: Vec<Self> = fewer(self.items).into_iter().map(with_items).collect();
        all.extend([Self { count: CountAt::Host, ..*self }, Self { dealing: Dealing::Random, ..*self }]);
        all
    }
}

impl Ask {
    /// The request with its items divided among two sequences.
    #[must_use]
    pub fn divided(&self, random: &mut Random) -> Self {
        let few = random.below(4).min(self.items);
        let items = match random.below(8) {
            0 => random.pick(&[0, self.items]),
            1 => random.pick(&[few, self.items - few]),
            2 => self.items / 2,
            _ => random.between(0, self.items),
        };
        let count = CountAt::draw(items, random);
        let second = self.items - items;
        let is_shared = count != CountAt::Host && random.chance(1, 3);
        let second_count = if is_shared { count } else { CountAt::draw(second, random) };
        let second = Second { items: second, count: second_count, dealing: Dealing::draw(random) };
        Self { items, count, second: Some(second), ..*self }
    }

    /// Whether both sequences read their count at the same address: equal words on the device are one word.
    pub fn shares_count(&self) -> bool {
        self.count != CountAt::Host && self.second.is_some_and(|second| second.count == self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Data;

    fn ask(items: u32) -> Ask {
        let (count, data) = (CountAt::Host, Data::Random);
        Ask { items, count, segments: None, second: None, status: true, results: 0, hostile: false, data, seed: 5 }
    }

    #[test]
    fn each_sequence_gets_as_many_items_as_it_has() {
        let mut random = Random::of(&[2]);
        for items in [[0, 0], [0, 3], [5, 0], [7, 40], [60, 60]] {
            for dealing in [
                Dealing::Random,
                Dealing::FirstBefore,
                Dealing::FirstAfter,
                Dealing::Alternating,
                Dealing::Runs(4),
                Dealing::Within,
            ] {
                let dealt = dealing.deal(items, &mut random);
                let second = dealt.iter().filter(|second| **second).count();
                assert_eq!([dealt.len() - second, second], items, "{dealing:?}");
            }
        }
        assert_eq!(Dealing::FirstBefore.deal([2, 1], &mut random), [false, false, true]);
        assert_eq!(Dealing::FirstAfter.deal([2, 1], &mut random), [true, false, false]);
        let turns = Dealing::Alternating.deal([2, 2], &mut random);
        assert!(turns.windows(2).all(|pair| pair[0] != pair[1]), "{turns:?}");
    }

    #[test]
    fn items_are_divided_in_every_way() {
        let mut random = Random::of(&[3]);
        let drawn: Vec<Ask> = (0..600).map(|_| ask(100).divided(&mut random)).collect();
        assert!(drawn.iter().all(|ask| ask.all_items() == 100));
        for items in [0, 1, 50, 99, 100] {
            assert!(drawn.iter().any(|ask| ask.items == items), "{items} items first");
        }
        let is = |wanted: fn(&Ask, &Second) -> bool| {
            drawn.iter().filter(|ask| ask.second.is_some_and(|second| wanted(ask, &second))).count()
        };
        for times in [
            is(|ask, _| ask.shares_count()),
            is(|ask, second| ask.count == CountAt::Host && second.count != CountAt::Host),
            is(|ask, second| ask.count != CountAt::Host && second.count == CountAt::Host),
            is(|ask, second| ask.count.is_clamped(ask.items) && !second.count.is_clamped(second.items)),
            is(|ask, second| !ask.count.is_clamped(ask.items) && second.count.is_clamped(second.items)),
            is(|_, second| second.dealing == Dealing::Within),
        ] {
            assert!(times > 10, "{times}");
        }
    }

    #[test]
    fn simpler_requests_have_fewer_items_in_either_sequence() {
        let second = Second { items: 40, count: CountAt::Device(50), dealing: Dealing::Alternating };
        let ask = Ask { count: CountAt::Device(9), second: Some(second), ..ask(10) };
        let simpler = ask.simpler();
        let has = |first: (u32, CountAt), second: (u32, CountAt)| {
            let found = |ask: &Ask| ask.second.map(|second| (second.items, second.count)) == Some(second);
            simpler.iter().any(|ask| (ask.items, ask.count) == first && found(ask))
        };
        assert!(has((5, CountAt::Device(5)), (40, CountAt::Device(50))));
        assert!(has((10, CountAt::Device(9)), (20, CountAt::Device(50))), "a count that is clamped stays so");
        assert!(has((10, CountAt::Device(9)), (40, CountAt::Host)));
        assert!(!simpler.contains(&ask));
    }
}
