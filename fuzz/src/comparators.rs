//! Comparators of tests/kernels, and the same orders of keys by the tester. Primitives have the modules.

use crate::keys::words;
use crate::random::Random;
use trommel::KeyType;

/// An order of keys that a shader defines.
#[derive(Debug)]
pub struct Comparator {
    /// The name in tests/kernels.
    pub name: &'static str,
    /// The key type of the modules.
    pub key: KeyType,
    /// The input of the comparator with each request.
    pub words: [u32; 4],
    /// Keys are compared by this number. The words are those of the input.
    rank: fn(key: &[u32], words: &[u32; 4]) -> u128,
}

/// Compares some bits of the keys.
const fn masked(mask: u32) -> Comparator {
    Comparator {
        name: "masked",
        key: KeyType::U32,
        words: [7, 7, 7, mask],
        rank: |key, words| (key[0] & words[3]).into(),
    }
}

static ALL: [Comparator; 5] = [
    masked(0),
    masked(0xff),
    masked(0xf00f_0ff0),
    masked(u32::MAX),
    Comparator {
        name: "last_word",
        key: KeyType::U32x3,
        words: [0; 4],
        rank: |key, _| u128::from(!key[2]) << 32 | u128::from(key[0]),
    },
];

impl Comparator {
    /// One of all.
    pub fn draw(random: &mut Random) -> &'static Self {
        &ALL[random.index(ALL.len())]
    }

    /// The number of a key by which it is compared.
    pub fn rank(&self, key: &[u8]) -> u128 {
        (self.rank)(&words(key), &self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn ranks_are_those_of_the_shaders() {
        let [.., all, last_word] = &ALL;
        let of = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        assert_eq!(ALL[0].rank(&of(&[5])), ALL[0].rank(&of(&[77])), "no bit is compared");
        assert_eq!((ALL[1].rank(&of(&[0x101])), all.rank(&of(&[0x101]))), (1, 0x101));
        // The greatest last word first, then the first word; the second one is not compared.
        let sorted = [[1, 0, 9], [2, 0, 9], [0, 0, 8]];
        assert!(sorted.is_sorted_by_key(|words| last_word.rank(&of(words))));
        assert_eq!(last_word.rank(&of(&[1, 2, 3])), last_word.rank(&of(&[1, 4, 3])));
    }
}
