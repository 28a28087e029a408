//! Inputs of every case: keys of several distributions and values, the same numbers that the CUDA peers draw.

use rayon::prelude::*;
use std::sync::Arc;
use trommel::host::{Buffer, Context};

/// How keys are distributed, as unsigned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Every bit uniform. Floats are any bits too, NaNs among them.
    Random,
    /// One value.
    Constant,
    /// Ascending.
    Sorted,
    /// Descending.
    Reversed,
    /// Ascending in either half. In the order of all keys, those of the halves alternate.
    Alternating,
    /// Ascending in either half, one of every four successive numbers: two sets of density 1/4.
    Quarter,
    /// Ascending, with this many copies of each number.
    Copies(u32),
    /// Distinct keys in a random order: all keys of these are numbered, and the first one has this number.
    Distinct(u32),
    /// The first so many keys of [`Keys::Distinct`] in another order. A case with fewer items has the first of these.
    Shuffled(u32),
    /// Three uniform draws combined by AND: 17.4 bits of entropy in 32.
    LowEntropy,
    /// Uniform low bits, this many of them. All keys share the bits above.
    LowBits(u32),
    /// `f32` or `f64` by the key's size, approximately normal: mean 0 and standard deviation 1.
    Normal,
    /// The range of the key is cut into this many buckets of equal width. Keys are uniform within a bucket; `Fill`
    /// sizes the buckets.
    Buckets(Fill, u32),
}

/// How many keys each bucket has. (Binomial as in Ashkiani, Davidson, Meyer and Owens, "GPU multisplit: an extended
/// study of a parallel algorithm", 2017.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// The middle bucket has all keys.
    One,
    /// Of m buckets, the bucket of a key is drawn from B(m - 1, 1/2): middle buckets are the largest.
    Binomial,
    /// Of m buckets, the key at index i lies in bucket i mod m: neighbors never share a bucket.
    Alternate,
}

/// Content of a member of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Keys(Keys),
    Values,
}

impl Content {
    /// Whether the number of items does not matter.
    fn depends_on_index_alone(self) -> bool {
        matches!(self, Self::Values | Self::Keys(Keys::Random | Keys::Distinct(_) | Keys::Shuffled(_)))
    }
}

/// A member of the items of an array: all of each or, interleaved, part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) content: Content,
    /// Bytes.
    pub(crate) size: u32,
}

/// Data on the host, and a copy on the device from which inputs are restored.
pub(crate) struct Source {
    /// Items side by side. Zeros pad the last word.
    pub(crate) host: Arc<Vec<u32>>,
    pub(crate) device: Buffer,
}

/// Caches two arrays, the last that begins with keys and the last of values: the next case often has the same input.
#[derive(Default)]
pub(crate) struct Sources {
    keys: Option<Cached>,
    values: Option<Cached>,
}

struct Cached {
    fields: Vec<Field>,
    sequences: Vec<u32>,
    n: u32,
    source: Arc<Source>,
}

impl Sources {
    /// Returns an array of at least `n` items of these fields. Sequences of these lengths, from the first item on, have
    /// their keys sorted as unsigned numbers. Those keys are the first field, of up to four words.
    pub(crate) fn get(
        &mut self,
        context: &Context,
        fields: &[Field],
        sequences: &[u32],
        n: u32,
    ) -> trommel::Result<Arc<Source>> {
        let is_values = fields.first().is_some_and(|field| field.content == Content::Values);
        let last = if is_values { &mut self.values } else { &mut self.keys };
        // Numbers that depend on their index alone serve every smaller size.
        let any_size = sequences.is_empty() && fields.iter().all(|field| field.content.depends_on_index_alone());
        if let Some(cached) = last
            && cached.fields == fields
            && cached.sequences == sequences
            && (cached.n == n || any_size && cached.n > n)
        {
            return Ok(cached.source.clone());
        }
        // Frees the old array first: memory need not hold both.
        *last = None;
        let mut host = generate(words(fields, n), |index| word(fields, index, n));
        sort_sequences(&mut host, fields, sequences);
        let device = context.upload(&host)?;
        let source = Arc::new(Source { host: Arc::new(host), device });
        *last = Some(Cached { fields: fields.to_vec(), sequences: sequences.to_vec(), n, source: source.clone() });
        Ok(source)
    }
}

/// Words of `n` items.
fn words(fields: &[Field], n: u32) -> u64 {
    let size: u32 = fields.iter().map(|field| field.size).sum();
    (u64::from(size) * u64::from(n)).div_ceil(4)
}

/// One word of an array of `n` items.
fn word(fields: &[Field], index: u64, n: u32) -> u32 {
    if let [field] = fields
        && field.size < 4
    {
        let items = u64::from(4 / field.size);
        let bits = field.size * 8;
        let item = |i: u64| low_word(field.number(index * items + i, n.into())) & ((1 << bits) - 1);
        return (0..items).rev().fold(0, |word, i| word << bits | item(i));
    }
    let step: u64 = fields.iter().map(|field| u64::from(field.size / 4)).sum();
    let (item, mut word) = (index / step, index % step);
    for field in fields {
        let words = u64::from(field.size / 4);
        if word < words {
            return field.word(item, word, n);
        }
        word -= words;
    }
    0
}

/// Seeds of the peers: 1 for keys, 2 for values.
const KEYS: u64 = 1;
const VALUES: u64 = 2;

impl Field {
    /// A word of an item, least significant first. Fields longer than one draw are drawn word by word.
    fn word(self, item: u64, word: u64, n: u32) -> u32 {
        let words = u64::from(self.size / 4);
        if words > 2 {
            let (field, item) = self.by_number(item);
            return low_word(field.number(item * words + word, u64::from(n) * words));
        }
        low_word(self.number(item, n.into()) >> (32 * word))
    }

    /// Returns the field of all numbered keys in order, and the number that the key of this item has there. Other
    /// fields and items stay as they are.
    fn by_number(self, item: u64) -> (Self, u64) {
        let number = match self.content {
            Content::Keys(Keys::Distinct(first)) => u64::from(first) + item,
            Content::Keys(Keys::Shuffled(of)) => shuffled(low_word(item), of).into(),
            _ => return (self, item),
        };
        (Self { content: Content::Keys(Keys::Distinct(0)), ..self }, number)
    }

    /// Item `i` of `n` in the low bits. Bits above the field's size are unused.
    fn number(self, i: u64, n: u64) -> u64 {
        // Rises linearly through the whole range.
        let rising = |i: u64| low_long((u128::from(i) << (self.size * 8).min(64)) / u128::from(n));
        let Content::Keys(keys) = self.content else { return draw(i, VALUES) };
        match keys {
            Keys::Random => draw(i, KEYS),
            Keys::Constant => 0x9e37_79b9_5bd1_e995,
            Keys::Sorted => rising(i),
            Keys::Reversed => rising(n - 1 - i.min(n - 1)),
            Keys::Alternating if i < n / 2 => rising(2 * i + 1),
            Keys::Alternating => rising(2 * (i - n / 2)),
            Keys::Quarter => 4 * if i < n / 2 { i } else { i - n / 2 } + (draw(i, KEYS) & 3),
            Keys::Copies(copies) => i / u64::from(copies),
            Keys::Distinct(first) => distinct(u64::from(first) + i, self.size),
            Keys::Shuffled(of) => distinct(shuffled(low_word(i), of).into(), self.size),
            Keys::LowEntropy => draw(i, KEYS) & draw(i, 3) & draw(i, 4),
            Keys::LowBits(bits) => draw(i, KEYS) & ((1 << bits) - 1),
            Keys::Normal if self.size == 4 => narrow(normal(i)).to_bits().into(),
            // Fills low bits that the sum of draws leaves zero.
            Keys::Normal => normal(i).to_bits() | draw(i, KEYS) >> 40,
            Keys::Buckets(fill, buckets) => in_bucket(fill.bucket(i, buckets), buckets, self.size * 8, draw(i, KEYS)),
        }
    }
}

impl Fill {
    /// The bucket of the key at index `i`. At most 256 buckets.
    fn bucket(self, i: u64, buckets: u32) -> u32 {
        match self {
            Self::One => buckets / 2,
            // The number of ones among m - 1 uniform bits.
            Self::Binomial => {
                let bits = |part: u32| (buckets - 1).saturating_sub(64 * part).min(64);
                let drawn = |part: u32| u128::from(draw(i, 5 + u64::from(part))) & ((1 << bits(part)) - 1);
                (0..4).map(|part| drawn(part).count_ones()).sum()
            }
            Self::Alternate => low_word(i % u64::from(buckets)),
        }
    }
}

/// A key of `bits` bits in one of `buckets` ranges of equal width. `drawn` selects the key within its range.
fn in_bucket(bucket: u32, buckets: u32, bits: u32, drawn: u64) -> u64 {
    let end = 1u128 << bits.min(64);
    let width = end.div_ceil(buckets.into());
    let first = u128::from(bucket) * width;
    // The last range may be shorter.
    low_long(first + u128::from(drawn) % width.min(end - first))
}

fn draw(i: u64, seed: u64) -> u64 {
    splitmix64(i ^ (seed << 40))
}

/// A prime, so that its multiples modulo a smaller number are a permutation.
const SHUFFLE: u64 = 0x9e37_79b1;

/// The number of item `i` of [`Keys::Shuffled`].
pub(crate) fn shuffled(i: u32, of: u32) -> u32 {
    low_word(u64::from(i) * SHUFFLE % u64::from(of))
}

/// Key number `i` of `size` bytes, 4 or 8. Different numbers have different keys: both functions are bijections. For 32
/// bits, a function of Wellons, "Prospecting for hash functions", 2018. Words of longer keys are the lower halves of
/// keys of 8 bytes: these keys differ with near certainty.
fn distinct(i: u64, size: u32) -> u64 {
    if size != 4 {
        return draw(i, KEYS);
    }
    let h = low_word(i);
    let h = (h ^ h >> 16).wrapping_mul(0x21f0_aaad);
    let h = (h ^ h >> 15).wrapping_mul(0x735a_2d97);
    (h ^ h >> 15).into()
}

/// A sum of twelve draws of 16 bits, scaled to mean 0 and deviation 1. By the central limit theorem it is nearly
/// normal.
fn normal(i: u64) -> f64 {
    let sum: u64 = (0..12).map(|part| draw(i, KEYS + part / 4) >> (16 * (part % 4)) & 0xffff).sum();
    f64::from(low_word(sum)) / 65536.0 - 6.0
}

#[expect(clippy::cast_possible_truncation, reason = "a draw has fewer bits than a float")]
fn narrow(wide: f64) -> f32 {
    wide as f32
}

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub(crate) fn splitmix64(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[expect(clippy::cast_possible_truncation, reason = "callers want the low word")]
fn low_word(wide: u64) -> u32 {
    wide as u32
}

#[expect(clippy::cast_possible_truncation, reason = "callers want the low half")]
fn low_long(wide: u128) -> u64 {
    wide as u64
}

/// `word(i)` for each i below `n`, on all cores.
fn generate(n: u64, word: impl Fn(u64) -> u32 + Sync) -> Vec<u32> {
    // An array larger than memory fails in the allocation.
    let mut words = vec![0; usize::try_from(n).unwrap_or(usize::MAX)];
    words.par_iter_mut().enumerate().for_each(|(index, slot)| *slot = word(index as u64));
    words
}

/// Sorts the keys of each sequence, on all cores: see [`Sources::get`]. Values stay at their indices.
fn sort_sequences(mut words: &mut [u32], fields: &[Field], lengths: &[u32]) {
    let Some(keys) = fields.first() else { return };
    let words_of = |bytes: u32| bytes as usize / 4;
    let (key, item) = (words_of(keys.size), words_of(fields.iter().map(|field| field.size).sum()));
    let mut sequences = Vec::new();
    for length in lengths {
        let (sequence, others) = words.split_at_mut(*length as usize * item);
        sequences.push(sequence);
        words = others;
    }
    sequences.into_par_iter().for_each(|sequence| sort_keys(sequence, key, item));
}

/// Sorts keys of `key` words at the begin of items of `item` words. The second of two words is the more significant
/// one; of more words, the first one is the most significant.
fn sort_keys(items: &mut [u32], key: usize, item: usize) {
    if key > 2 {
        let load = |words: &[u32]| std::array::from_fn(|index| words.get(index).copied().unwrap_or(0));
        return sort_keys_as(items, key, item, load, |sorted: [u32; 4], words| words.copy_from_slice(&sorted[..key]));
    }
    let load = |words: &[u32]| words.iter().rev().fold(0u64, |number, word| number << 32 | u64::from(*word));
    sort_keys_as(items, key, item, load, |number, words| {
        words.iter_mut().zip(0u32..).for_each(|(word, index)| *word = low_word(number >> (32 * index)));
    });
}

fn sort_keys_as<K: Ord + Copy + Send>(
    items: &mut [u32],
    key: usize,
    item: usize,
    load: impl Fn(&[u32]) -> K + Sync,
    store: impl Fn(K, &mut [u32]) + Sync,
) {
    let mut keys: Vec<K> = items.par_chunks(item).map(|item| load(&item[..key])).collect();
    keys.par_sort_unstable();
    items.par_chunks_mut(item).zip(keys).for_each(|(item, sorted)| store(sorted, &mut item[..key]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_gives_the_published_sequence() {
        // The generator's state rises by the golden gamma; these are its first outputs from state 0.
        let gamma = 0x9e37_79b9_7f4a_7c15u64;
        let outputs = [0, gamma, gamma.wrapping_mul(2)].map(splitmix64);
        assert_eq!(outputs, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn chunks_join_without_gaps() {
        let n = (1 << 18) + 3;
        assert!(generate(n, low_word).into_iter().eq(0..low_word(n)));
    }

    fn array(fields: &[Field], n: u32) -> Vec<u32> {
        generate(words(fields, n), |index| word(fields, index, n))
    }

    fn keys(keys: Keys, size: u32) -> Field {
        Field { content: Content::Keys(keys), size }
    }

    const VALUE: Field = Field { content: Content::Values, size: 4 };

    #[test]
    fn numbers_equal_those_of_the_peers() {
        // T(mix(i ^ seed << 40)) for each i.
        let drawn = |i: u64, seed: u64| splitmix64(i ^ seed << 40);
        assert_eq!(array(&[keys(Keys::Random, 4)], 3), [0, 1, 2].map(|i| low_word(drawn(i, 1))));
        assert_eq!(array(&[VALUE], 3), [0, 1, 2].map(|i| low_word(drawn(i, 2))));
        let long = array(&[keys(Keys::Random, 8)], 2);
        let long = long.chunks(2).map(|key| u64::from(key[1]) << 32 | u64::from(key[0]));
        assert!(long.eq([drawn(0, 1), drawn(1, 1)]));
    }

    #[test]
    fn narrow_keys_are_packed() {
        let full = array(&[keys(Keys::Random, 4)], 5);
        let bytes: Vec<u8> = array(&[keys(Keys::Random, 1)], 5).iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(full.iter().zip(&bytes).all(|(full, byte)| full.to_le_bytes()[0] == *byte));
        assert_eq!(bytes.len(), 8, "zeros pad the last word");
        let halves = array(&[keys(Keys::Random, 2)], 2);
        assert_eq!(halves, [full[0] & 0xffff | full[1] << 16]);
    }

    #[test]
    fn interleaved_fields_equal_separate_arrays() {
        let (long, value) = (keys(Keys::Random, 8), VALUE);
        let (keys, values) = (array(&[long], 4), array(&[value], 4));
        let items = array(&[long, value], 4);
        assert!(items.chunks(3).map(|item| &item[..2]).eq(keys.chunks(2)));
        assert!(items.chunks(3).map(|item| item[2]).eq(values));
    }

    #[test]
    fn sequences_are_sorted_each_by_itself() {
        let sorted = |fields: &[Field], lengths: &[u32]| {
            let mut array = array(fields, 100);
            sort_sequences(&mut array, fields, lengths);
            array
        };
        let drawn = array(&[keys(Keys::Random, 4)], 100);
        let words = sorted(&[keys(Keys::Random, 4)], &[40, 0, 59]);
        let (mut a, mut b) = (drawn[..40].to_vec(), drawn[40..99].to_vec());
        a.sort_unstable();
        b.sort_unstable();
        assert_eq!(words, [a, b, vec![drawn[99]]].concat(), "items after the last sequence stay");

        let items = sorted(&[keys(Keys::Random, 8), VALUE], &[100]);
        let long = items.chunks(3).map(|item| u64::from(item[1]) << 32 | u64::from(item[0]));
        let mut expected: Vec<u64> = (0..100).map(|i| draw(i, KEYS)).collect();
        expected.sort_unstable();
        assert!(long.eq(expected), "the second word of a key is the more significant one");
        assert!(items.chunks(3).map(|item| item[2]).eq(array(&[VALUE], 100)), "values stay");

        for words in [3, 4] {
            let of_many = [keys(Keys::Random, 4 * words)];
            let (sorted, drawn) = (sorted(&of_many, &[100]), array(&of_many, 100));
            let words = words as usize;
            let mut expected: Vec<_> = drawn.chunks(words).collect();
            expected.sort_unstable();
            assert!(sorted.chunks(words).eq(expected), "the first of {words} words is the most significant one");
        }
    }

    #[test]
    fn distributions_have_their_properties() {
        let made = |kind| array(&[keys(kind, 4)], 1000);
        assert!(made(Keys::Sorted).is_sorted());
        assert!(made(Keys::Reversed).iter().rev().is_sorted());
        let alternating = made(Keys::Alternating);
        let (a, b) = alternating.split_at(500);
        assert!(a.iter().zip(b).all(|(a, b)| b < a) && b[1..].iter().zip(a).all(|(b, a)| a < b));
        let sets = made(Keys::Quarter);
        for half in sets.chunks(500) {
            assert!(half.iter().zip(0..).all(|(key, i)| key / 4 == i), "distinct and ascending");
        }
        let both = sets[..500].iter().zip(&sets[500..]).filter(|(a, b)| a == b).count();
        assert!((80..170).contains(&both), "{both} of 500 numbers are in both sets, not a quarter");
        assert!(made(Keys::Copies(4)).iter().zip(0..).all(|(key, i)| *key == i / 4));
        let keys_of = |kind: Keys, size, n| {
            let mut keys: Vec<Vec<u32>> =
                array(&[keys(kind, size)], n).chunks(size as usize / 4).map(<[u32]>::to_vec).collect();
            keys.sort();
            keys
        };
        for size in [4, 8, 12] {
            let all = keys_of(Keys::Distinct(0), size, 2000);
            assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{size} bytes");
            let [first, others] = [0, 1000].map(|first| keys_of(Keys::Distinct(first), size, 1000));
            let mut both = [first.clone(), others].concat();
            both.sort();
            assert_eq!(both, all);
            assert_eq!(keys_of(Keys::Shuffled(1000), size, 1000), first);
            assert_ne!(array(&[keys(Keys::Shuffled(1000), size)], 9), array(&[keys(Keys::Distinct(0), size)], 9));
        }
        assert!(made(Keys::Constant).iter().all(|key| *key == 0x5bd1_e995));
        assert!(made(Keys::LowBits(16)).iter().all(|key| *key < 1 << 16));
        assert!(made(Keys::LowBits(20)).iter().any(|key| (1 << 16..1 << 20).contains(key)));
        let ones: u32 = made(Keys::LowEntropy).iter().map(|key| key.count_ones()).sum();
        assert!((3500..4500).contains(&ones), "an eighth of the bits is set, not {ones} of 32000");
        let fill = |fill, buckets: u32| {
            let mut counts = vec![0; buckets as usize];
            let keys = made(Keys::Buckets(fill, buckets));
            let width = u32::MAX / buckets + 1;
            keys.iter().for_each(|key| counts[(key / width) as usize] += 1);
            counts
        };
        assert_eq!(fill(Fill::One, 3), [0, 1000, 0]);
        assert_eq!(fill(Fill::Alternate, 3), [334, 333, 333]);
        let middle: u32 = fill(Fill::Binomial, 256)[112..144].iter().sum();
        assert!((930..980).contains(&middle), "two deviations hold 954 of 1000, not {middle}");
        assert!(fill(Fill::Binomial, 2).iter().all(|count| (450..550).contains(count)));
        let within = made(Keys::Normal).iter().filter(|key| f32::from_bits(**key).abs() < 1.0).count();
        assert!((640..730).contains(&within), "two thirds are within the deviation, not {within} of 1000");
        let long = array(&[keys(Keys::Normal, 8)], 1000);
        let close = long.chunks(2).zip(made(Keys::Normal)).all(|(long, key)| {
            (f64::from_bits(u64::from(long[1]) << 32 | u64::from(long[0])) - f64::from(f32::from_bits(key))).abs()
                < 1e-3
        });
        assert!(close, "both sizes draw the same numbers");
    }
}
