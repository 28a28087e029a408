//! Merges of more than two sequences: the items of each, and their merge by an oracle.

#[path = "../../../tests/merge/roles.rs"]
mod roles;

use super::Kind;
use super::sequences::{Source, disorder, gather};
use crate::arena::{Array, ArrayRanges};
use crate::items::{Items, Stream};
use crate::primitive::{Ask, CountAt};
use crate::random::Random;
use roles::ROLES;
use trommel::{MergeInfo, MergeSequence};

/// The sequences of a request.
pub(super) struct Several {
    /// As many items as the arrays hold.
    pub(super) items: Vec<Items>,
    maxima: Vec<u32>,
    counts: Vec<CountAt>,
    /// The items of the result; of sequences that are not sorted, all items of one after the other.
    pub(super) merged: Vec<Source>,
    pub(super) are_sorted: bool,
}

/// Draws the maxima of sequences of so many items in all: equal ones, a large one among others, or any.
fn draw_maxima(items: u32, sequences: u32, random: &mut Random) -> Vec<u32> {
    let kind = random.below(4);
    let large = random.below(sequences);
    let mut ends: Vec<u32> = (1..sequences)
        .map(|index| match kind {
            0 => u32::try_from(u64::from(items) * u64::from(index) / u64::from(sequences)).expect("at most all items"),
            1 if index <= large => index.min(items),
            1 => items.saturating_sub(sequences - index),
            _ => random.between(0, items),
        })
        .collect();
    ends.sort_unstable();
    ends.push(items);
    let mut start = 0;
    ends.into_iter().map(|end| end - std::mem::replace(&mut start, end)).collect()
}

impl Several {
    pub(super) fn new(kind: &Kind, ask: &Ask) -> Self {
        let info = &kind.info;
        let mut random = ask.stream(Stream::Buckets);
        let sequences = if random.chance(1, 2) { info.sequences } else { random.between(2, info.sequences) };
        let maxima = draw_maxima(ask.all_items(), sequences, &mut random);
        let counts: Vec<CountAt> = maxima.iter().map(|max| CountAt::draw(*max, &mut random)).collect();
        let all = Items::draw(&Ask { items: ask.all_items(), ..*ask }, info.key, info.value);
        let mut rest: Vec<usize> = (0..ask.all_items() as usize).collect();
        random.shuffle(&mut rest);
        let mut items = Vec::new();
        for (max, count) in maxima.iter().zip(&counts) {
            let mut own = rest.split_off(rest.len() - *max as usize);
            let used = &mut own[..count.get(*max) as usize];
            used.sort_by_key(|index| kind.rank(all.key(*index)));
            if ask.hostile && random.chance(1, 2) {
                disorder(used, &mut random);
            }
            items.push(gather(&all, &own));
        }
        let used = |of: usize| counts[of].get(maxima[of]) as usize;
        let key = |(of, index): &Source| kind.rank(items[*of].key(*index));
        let are_sorted = (0..items.len()).all(|of| (0..used(of)).is_sorted_by_key(|index| key(&(of, index))));
        let mut merged: Vec<Source> =
            (0..items.len()).flat_map(|of| (0..used(of)).map(move |index| (of, index))).collect();
        if are_sorted {
            merged.sort_by_key(key);
        }
        Self { items, maxima, counts, merged, are_sorted }
    }

    pub(super) fn is_clamped(&self) -> bool {
        self.counts.iter().zip(&self.maxima).any(|(count, max)| count.is_clamped(*max))
    }

    /// The read arrays. `sizes`: bytes of an item of keys and of values. `reads_values`: whether values have arrays.
    pub(super) fn inputs(&self, sizes: [usize; 2], is_interleaved: bool, reads_values: bool) -> Vec<Array> {
        let mut arrays = Vec::new();
        for ((items, count), [keys, values, word]) in self.items.iter().zip(&self.counts).zip(ROLES) {
            let bytes = if is_interleaved { items.interleaved() } else { items.keys.clone() };
            arrays.push(Array::input(keys, 4, sizes[0], bytes));
            if reads_values {
                arrays.push(Array::input(values, 4, sizes[1], items.values.clone()));
            }
            arrays.extend(count.array(word));
        }
        arrays
    }

    fn sequence(&self, of: usize, ranges: &ArrayRanges) -> MergeSequence {
        let [keys, values, count] = ROLES[of];
        let count = self.counts[of].of(self.maxima[of], count, ranges);
        MergeSequence { count, keys: ranges.range(keys), values: ranges.range(values) }
    }

    /// The sequences after A and B.
    pub(super) fn more(&self, ranges: &ArrayRanges) -> Vec<MergeSequence> {
        (2..self.items.len()).map(|of| self.sequence(of, ranges)).collect()
    }

    /// The members of the sequences A and B.
    pub(super) fn info(&self, ranges: &ArrayRanges) -> MergeInfo<'static> {
        let [a, b] = [0, 1].map(|of| self.sequence(of, ranges));
        MergeInfo {
            count_a: a.count,
            keys_a: a.keys,
            values_a: a.values,
            count_b: b.count,
            keys_b: b.keys,
            values_b: b.values,
            ..MergeInfo::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Data;
    use trommel::MergerInfo;

    #[test]
    fn sequences_have_all_items() {
        let mut random = Random::of(&[4]);
        for (items, sequences) in [(0, 2), (1, 16), (100, 3), (7, 9), (5000, 16)] {
            for _ in 0..30 {
                let maxima = draw_maxima(items, sequences, &mut random);
                assert_eq!((maxima.len(), maxima.iter().sum::<u32>()), (sequences as usize, items));
            }
        }
    }

    #[test]
    fn of_equal_keys_those_of_earlier_sequences_come_first() {
        let kind = Kind::of(MergerInfo::keys().sequences(5));
        let (mut clamped, mut numbers) = (0, [0; 6]);
        for seed in 0..100 {
            let ask = Ask {
                items: 90,
                count: CountAt::Host,
                segments: None,
                second: None,
                status: true,
                results: 0,
                hostile: false,
                data: Data::Few(4),
                seed,
            };
            let several = Several::new(&kind, &ask);
            assert!(several.are_sorted);
            let key = |source: &Source| kind.rank(several.items[source.0].key(source.1));
            let mut pairs = several.merged.windows(2);
            assert!(pairs.all(|pair| (key(&pair[0]), pair[0]) < (key(&pair[1]), pair[1])), "{:?}", several.merged);
            numbers[several.items.len()] += 1;
            clamped += u32::from(several.is_clamped());
            let hostile = Several::new(&kind, &Ask { hostile: true, data: Data::Random, ..ask });
            numbers[0] += u32::from(!hostile.are_sorted);
        }
        assert!(clamped > 10 && clamped < 90 && numbers[0] > 60 && numbers[2..].iter().all(|times| *times > 3));
    }
}
