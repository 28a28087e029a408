//! The items of a request, and where the oracle expects them.

use crate::arena::Array;
use crate::primitive::{Ask, Segmentation};
use crate::random::Random;
use std::ops::Range;
use trommel::{Layout, ValueType};

/// Independent streams of random numbers of a request: draws from one stream never change another.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// Keys.
    Keys,
    /// Values.
    Values,
    /// Offsets of segments.
    Segments,
    /// Ids, splitters, ranges and starts of buckets; how items are dealt to two sequences.
    Buckets,
    /// Strides, spare room and command sizes.
    Layout,
    /// Content of arrays before they are written.
    Noise,
    /// Marks of items, and values with marks.
    Marks,
    /// Bits that select items.
    Selection,
}

impl Ask {
    /// A stream of the request.
    pub fn stream(&self, stream: Stream) -> Random {
        Random::of(&[self.seed, stream as u64])
    }

    /// The segment offsets of the request; empty without segments.
    pub fn offsets(&self) -> Vec<u32> {
        self.segments.map_or(Vec::new(), |segments| segments.offsets(self.items, &mut self.stream(Stream::Segments)))
    }

    /// The runs of items that are processed independently: the segments, or all items. None if offsets descend: the
    /// result is undefined then.
    pub fn runs(&self, offsets: &[u32]) -> Option<Vec<Range<usize>>> {
        let Some(segments) = self.segments else {
            return Some(std::iter::once(0..self.count.get(self.items) as usize).collect());
        };
        let end = |offset: u32| offset.min(self.items) as usize;
        let used = &offsets[..=segments.count.get(segments.max) as usize];
        Segmentation::is_determined(used).then(|| used.windows(2).map(|pair| end(pair[0])..end(pair[1])).collect())
    }

    /// Whether the status word reports a clamped count or offset.
    pub fn is_clamped(&self, offsets: &[u32]) -> bool {
        let Some(segments) = self.segments else { return self.count.is_clamped(self.items) };
        let end = offsets[segments.count.get(segments.max) as usize];
        segments.count.is_clamped(segments.max) || end > self.items
    }
}

/// The items of a request, dense.
#[derive(Clone, Debug)]
pub struct Items {
    /// Keys.
    pub keys: Vec<u8>,
    /// Bytes of a key.
    pub key_size: usize,
    /// Values; of indices, the numbers from 0 on.
    pub values: Vec<u8>,
    /// Bytes of a value.
    pub value_size: usize,
}

/// Bytes from one item to the next in inputs; 0: dense.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strides {
    /// Stride of keys.
    pub key: u32,
    /// Stride of values.
    pub value: u32,
}

/// The bytes of a value.
pub fn value_size(value: ValueType) -> usize {
    match value {
        ValueType::None => 0,
        ValueType::Bytes(bytes) => bytes as usize,
        _ => 4,
    }
}

impl Items {
    /// Draws the items of a request.
    pub fn draw(ask: &Ask, key: trommel::KeyType, value: ValueType) -> Self {
        let count = ask.items as usize;
        let keys = ask.data.keys(key, count, &mut ask.stream(Stream::Keys));
        let size = value_size(value);
        let base = if value == ValueType::Index { 0 } else { ask.stream(Stream::Values).word() };
        // Ascending, so that all values differ.
        let words =
            (0..ask.items.saturating_mul(u32::try_from(size / 4).unwrap_or(0))).map(|word| base.wrapping_add(word));
        let values = words.flat_map(u32::to_le_bytes).collect();
        Self { keys, key_size: crate::keys::size(key), values, value_size: size }
    }

    /// The bytes of a key.
    pub fn key(&self, index: usize) -> &[u8] {
        &self.keys[index * self.key_size..][..self.key_size]
    }

    /// All items, each as a key followed by its value.
    pub fn interleaved(&self) -> Vec<u8> {
        let values = self.values.chunks_exact(self.value_size.max(1));
        self.keys.chunks_exact(self.key_size).zip(values).flat_map(|(key, value)| [key, value].concat()).collect()
    }

    /// Strides of a strided layout, drawn from the request.
    pub fn strides(&self, layout: Layout, value: ValueType, ask: &Ask) -> Strides {
        if layout != Layout::Strided {
            return Strides::default();
        }
        let mut random = ask.stream(Stream::Layout);
        let mut stride = |size: usize, unit: usize| {
            let more = if random.chance(1, 8) { random.index(100) } else { random.index(9) };
            if random.chance(1, 8) { 0 } else { u32::try_from(size + more * unit).unwrap_or(0) }
        };
        let key = stride(self.key_size, self.key_size.min(4));
        let has_values = !matches!(value, ValueType::None | ValueType::Index);
        Strides { key, value: if has_values { stride(self.value_size, 4) } else { 0 } }
    }

    /// The inputs of keys and of values, which are only read.
    pub fn inputs(&self, layout: Layout, strides: Strides, has_values: bool, ask: &Ask) -> Vec<Array> {
        let mut noise = ask.stream(Stream::Noise);
        if layout == Layout::Interleaved {
            return vec![Array::input("keys", 4, self.key_size + self.value_size, self.interleaved())];
        }
        let distance = |stride: u32, size: usize| if stride == 0 { size } else { stride as usize };
        let mut all = Vec::new();
        let mut add = |role, alignment: usize, size: usize, stride: u32, dense: &[u8]| {
            all.push(Array::strided(role, alignment, size, distance(stride, size), dense, &mut noise));
        };
        add("keys", self.key_size.min(4), self.key_size, strides.key, &self.keys);
        if has_values {
            add("values", 4, self.value_size, strides.value, &self.values);
        }
        all
    }
}

/// The stable order of the items of each run: the index of the item at each output index.
pub fn stable_order<K: Ord + Copy>(runs: &[Range<usize>], items: usize, rank: impl Fn(usize) -> K) -> Vec<u32> {
    let mut order: Vec<u32> = (0..u32::try_from(items).unwrap_or(u32::MAX)).collect();
    for run in runs.iter().filter(|run| run.len() > 1) {
        let mut ranked: Vec<(K, u32)> =
            order[run.clone()].iter().map(|index| (rank(*index as usize), *index)).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        order[run.clone()].iter_mut().zip(ranked).for_each(|(target, (_, index))| *target = index);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Data;
    use crate::primitive::{CountAt, Cuts};
    use trommel::KeyType;

    fn ask(items: u32) -> Ask {
        let (count, data) = (CountAt::Host, Data::Random);
        Ask { items, count, segments: None, second: None, status: false, results: 0, hostile: false, data, seed: 1 }
    }

    #[test]
    fn equal_items_keep_their_order_within_their_run() {
        let ranks = [2, 1, 2, 1, 0, 3, 0, 3];
        assert_eq!(stable_order(&[0..4, 5..8], 8, |index| ranks[index]), [1, 3, 0, 2, 4, 6, 5, 7]);
        assert!(stable_order(&[], 0, |_| 0).is_empty());
    }

    #[test]
    fn runs_are_the_segments_that_there_are() {
        let segments = |max, count, cuts| Ask { segments: Some(Segmentation { max, count, cuts }), ..ask(10) };
        let three = segments(3, CountAt::Host, Cuts::Even);
        assert_eq!(three.runs(&[1, 1, 4, 12]), Some(vec![1..1, 1..4, 4..10]));
        assert!(three.is_clamped(&[1, 1, 4, 12]) && !three.is_clamped(&[1, 1, 4, 10]));
        assert_eq!(three.runs(&[1, 4, 3, 12]), None);
        let two = segments(3, CountAt::Device(2), Cuts::Even);
        assert_eq!(two.runs(&[1, 1, 4, 2]), Some(vec![1..1, 1..4]), "offsets behind the last segment are not used");
        assert!(!two.is_clamped(&[1, 1, 4, 12]));
        assert!(segments(3, CountAt::Device(4), Cuts::Even).is_clamped(&[0, 0, 0, 0]));
        assert_eq!(Ask { count: CountAt::Device(3), ..ask(10) }.runs(&[]), Some(std::iter::once(0..3).collect()));
    }

    #[test]
    fn items_lie_as_the_layout_says() {
        let items = Items::draw(&ask(3), KeyType::U16, ValueType::Bytes(8));
        assert_eq!((items.keys.len(), items.values.len()), (6, 24));
        let arrays = items.inputs(Layout::Strided, Strides { key: 6, value: 0 }, true, &ask(3));
        assert_eq!((arrays[0].before.len(), arrays[1].before.len()), (2 * 6 + 2, 24));
        assert_eq!(arrays[0].before[6..8], items.keys[2..4]);
        let long = Items::draw(&ask(2), KeyType::U64, ValueType::U32);
        let both = long.interleaved();
        assert_eq!((&both[..8], &both[8..12], &both[12..20]), (long.key(0), &long.values[..4], long.key(1)));
        assert_eq!(Items::draw(&ask(3), KeyType::U32, ValueType::Index).values, [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
    }
}
