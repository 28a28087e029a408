//! Memory of an operation: arrays with guards between them, and the words that an operation may have written.

use crate::common::keys::Random;
use crate::model::{Batch, Item};
use crate::types::Words;
use std::ops::Range as Bytes;
use trommel::HashInfo;
use trommel::host::{Buffer, Context};

/// Words of arrays.
pub(crate) struct Memory<'r> {
    pub(crate) words: Vec<u32>,
    random: &'r mut Random,
}

impl<'r> Memory<'r> {
    pub(crate) fn new(random: &'r mut Random) -> Self {
        Self { words: random.words(3), random }
    }

    /// An array of any words, with words on either side that belong to none: three or four, so arrays are sometimes
    /// aligned to two words and sometimes not.
    pub(crate) fn place(&mut self, words: usize) -> Bytes<usize> {
        let start = self.words.len();
        let behind = 3 + self.random.below(2) as usize;
        self.words.extend(self.random.words(words + behind));
        start..start + words
    }

    /// An array of these words.
    pub(crate) fn input(&mut self, words: &[u32]) -> Bytes<usize> {
        let place = self.place(words.len());
        self.words[place.clone()].copy_from_slice(words);
        place
    }

    /// An array of these bits, with any behind them in the last word.
    pub(crate) fn bits(&mut self, bits: &[bool]) -> Bytes<usize> {
        let place = self.place(bits.len().div_ceil(32));
        for (i, bit) in bits.iter().enumerate() {
            let word = &mut self.words[place.start + i / 32];
            *word = *word & !(1 << (i % 32)) | u32::from(*bit) << (i % 32);
        }
        place
    }
}

/// The words of each array.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) keys: Bytes<usize>,
    pub(crate) values: Bytes<usize>,
    pub(crate) values_out: Bytes<usize>,
    pub(crate) found: Bytes<usize>,
    pub(crate) stencil: Bytes<usize>,
    pub(crate) offsets: Bytes<usize>,
    pub(crate) counts: Bytes<usize>,
    pub(crate) opcodes: Bytes<usize>,
    pub(crate) leftover_keys: Bytes<usize>,
    pub(crate) leftover_values: Bytes<usize>,
    pub(crate) leftover_count: Bytes<usize>,
    pub(crate) status: Bytes<usize>,
    pub(crate) count: Bytes<usize>,
    pub(crate) reserve: Bytes<usize>,
    pub(crate) count_out: Bytes<usize>,
}

/// A request with its memory.
pub(crate) struct Prepared {
    pub(crate) before: Vec<u32>,
    pub(crate) buffer: Buffer,
    pub(crate) _scratch: Buffer,
    pub(crate) places: Places,
    pub(crate) info: HashInfo,
}

impl Prepared {
    /// All words, after the batch.
    fn words(&self, context: &Context) -> Vec<u32> {
        context.download(&self.buffer, self.before.len()).expect("memory")
    }

    /// Whether no byte has changed.
    pub(crate) fn is_untouched(&self, context: &Context) -> bool {
        self.words(context) == self.before
    }

    /// The words after the batch, and those that are expected: none has changed yet.
    pub(crate) fn outputs(&self, context: &Context) -> Outputs {
        Outputs { found: self.words(context), expected: self.before.clone(), places: self.places.clone() }
    }
}

/// The words of all arrays after an operation, and those that are expected.
pub(crate) struct Outputs {
    found: Vec<u32>,
    expected: Vec<u32>,
    pub(crate) places: Places,
}

impl Outputs {
    /// The word of an array with one.
    pub(crate) fn word(&self, place: &Bytes<usize>) -> u32 {
        self.found[place.start]
    }

    /// Element `i` of an array with so many words for each element.
    pub(crate) fn element(&self, place: &Bytes<usize>, words: usize, i: usize) -> Words {
        assert!(words * (i + 1) <= place.len(), "element {i} is inside of the array");
        self.found[place.start + words * i..][..words].to_vec()
    }

    /// The items of two arrays. Without values, these are empty.
    pub(crate) fn items(&self, [keys, values]: [&Bytes<usize>; 2], words: [usize; 2], count: usize) -> Vec<Item> {
        (0..count).map(|i| (self.element(keys, words[0], i), self.element(values, words[1], i))).collect()
    }

    /// Expects these words from element `i` on, as for `element`.
    pub(crate) fn expect(&mut self, place: &Bytes<usize>, i: usize, words: &[u32]) {
        assert!(words.len() * (i + 1) <= place.len(), "element {i} is inside of the array");
        self.expected[place.start + words.len() * i..][..words.len()].copy_from_slice(words);
    }

    /// Expects the first words of an array as they are: the caller has checked them.
    pub(crate) fn accept(&mut self, place: &Bytes<usize>, words: usize) {
        assert!(words <= place.len(), "{words} words are inside of the array");
        let all = place.start..place.start + words;
        self.expected[all.clone()].copy_from_slice(&self.found[all]);
    }

    /// Compares all words with those that are expected.
    pub(crate) fn compare(&self, batch: &Batch) {
        let wrong = (0..self.expected.len()).find(|word| self.found[*word] != self.expected[*word]);
        let wrong = wrong.map(|word| (word, self.found[word], self.expected[word]));
        assert_eq!(wrong, None, "{:?}, word, found, expected; arrays at {:?}", batch.operation, self.places);
    }
}
