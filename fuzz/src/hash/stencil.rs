//! Stencils: the bits that select keys of a batch.

use super::outputs::{bytes, word};
use super::table::Words;
use crate::arena::{Array, ArrayRanges};
use crate::items::Stream;
use crate::primitive::Ask;
use crate::random::Random;
use trommel::Range;

const ROLE: &str = "stencil";

/// A bit for each key of a batch. Those beyond the batch are random.
#[derive(Clone, Debug)]
pub(super) struct Stencil {
    words: Vec<u32>,
    /// Whether the words are those that the array of keys begins with.
    is_keys: bool,
}

/// Whether the array of keys of a request is its stencil, too.
fn is_keys(random: &mut Random) -> bool {
    random.chance(1, 16)
}

impl Stencil {
    /// Draws the bits of the first `len` keys of an array.
    pub(super) fn draw(len: usize, keys: &[Words], ask: &Ask) -> Self {
        let (mut random, size) = (ask.stream(Stream::Selection), keys.len().div_ceil(32));
        if is_keys(&mut random) {
            return Self { words: keys.iter().flatten().take(size).copied().collect(), is_keys: true };
        }
        let mut words: Vec<u32> = (0..size).map(|_| random.word()).collect();
        // Of 64 keys, so many are selected.
        let share = random.pick(&[0, 1, 16, 32, 32, 48, 63, 64]);
        // Keys side by side are mostly alike.
        let most_run = if random.chance(1, 3) { random.log_between(1, word(len).max(1)) } else { 1 };
        let (mut run, mut bit) = (0, 0);
        for index in 0..len {
            if run == 0 {
                (run, bit) = (random.between(1, most_run), random.chance(share, 64).into());
            }
            run -= 1;
            words[index / 32] = words[index / 32] & !(1 << (index % 32)) | bit << (index % 32);
        }
        Self { words, is_keys: false }
    }

    /// Whether the key with an index is selected.
    pub(super) fn selects(&self, index: usize) -> bool {
        self.words[index / 32] >> (index % 32) & 1 != 0
    }

    /// The array of the bits, unless the keys are the bits.
    pub(super) fn array(&self) -> Option<Array> {
        (!self.is_keys).then(|| Array::input(ROLE, 4, 4, bytes(&self.words)))
    }

    /// The memory of the bits. Hashers without a stencil do not use it, even if it is that of the keys.
    pub(super) fn range(ask: &Ask, ranges: &ArrayRanges) -> Range {
        ranges.range(if is_keys(&mut ask.stream(Stream::Selection)) { "keys" } else { ROLE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Data, words};
    use crate::primitive::CountAt;

    fn ask(seed: u64) -> Ask {
        let (count, data) = (CountAt::Host, Data::Random);
        Ask { items: 100, count, segments: None, second: None, status: false, results: 0, hostile: false, data, seed }
    }

    #[test]
    fn bits_are_drawn() {
        let keys: Vec<Words> = (0..100).map(|key| vec![key]).collect();
        let (mut all, mut none, mut both, mut garbage) = (0, 0, 0, 0);
        for seed in 0..500 {
            let stencil = Stencil::draw(70, &keys, &ask(seed));
            assert_eq!(stencil.words.len(), 4);
            assert_eq!(stencil.array().is_none(), stencil.is_keys);
            if stencil.is_keys {
                assert_eq!(stencil.words, [0, 1, 2, 3]);
                assert!(stencil.selects(32) && !stencil.selects(0) && stencil.selects(65));
                continue;
            }
            match (0..70).filter(|index| stencil.selects(*index)).count() {
                0 => none += 1,
                70 => all += 1,
                _ => both += 1,
            }
            garbage += usize::from((70..128).any(|index| stencil.selects(index)));
            assert_eq!(words(&stencil.array().unwrap().before), stencil.words);
        }
        assert!(all > 40 && none > 40 && both > 200 && garbage > 400, "{all} {none} {both} {garbage}");
        assert_eq!(Stencil::draw(0, &[], &ask(1)).words, []);
    }
}
