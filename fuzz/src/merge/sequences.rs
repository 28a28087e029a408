//! The items of two sequences, and their merge by an oracle.

use super::Kind;
use crate::items::{Items, Stream};
use crate::primitive::{Ask, Segmentation};
use crate::random::Random;
use crate::second::{Dealing, Second};
use std::ops::Range;
use trommel::{MergeOperation, ValueType};

/// The bit of an index that names the second sequence.
const SECOND: u32 = 1 << 31;

/// An item of a sequence: the number of the sequence, then the index of the item.
pub(super) type Source = (usize, usize);

/// Both sequences of a request.
pub(super) struct Sequences {
    /// As many items as the arrays hold.
    pub(super) items: [Items; 2],
    /// The offsets of the segments in both, if they have segments.
    pub(super) offsets: [Vec<u32>; 2],
    /// For updates: a bit for each item of the first sequence, or for each value.
    pub(super) marks: Vec<u32>,
    /// The items of the result; if it is not determined, all items of one sequence and then of the other.
    pub(super) merged: Vec<Source>,
    /// The index of each segment's first item in the result, and its end. Without segments, the result is one.
    pub(super) starts: Vec<u32>,
    /// Whether the output is determined: both are sorted, or may have any order, and offsets rise.
    pub(super) are_sorted: bool,
}

/// The maximum number of items of each sequence.
pub(super) fn maxima(ask: &Ask) -> [u32; 2] {
    [ask.items, ask.second.map_or(0, |second| second.items)]
}

/// The offsets of the segments in both sequences; empty without segments.
pub(super) fn offsets(ask: &Ask) -> [Vec<u32>; 2] {
    let mut random = ask.stream(Stream::Segments);
    maxima(ask).map(|items| ask.segments.map_or(Vec::new(), |segments| segments.offsets(items, &mut random)))
}

/// The offsets that the request uses, its number of segments and one; empty without segments.
fn used_offsets(ask: &Ask) -> [Vec<u32>; 2] {
    let Some(segments) = ask.segments else { return [Vec::new(), Vec::new()] };
    let used = segments.count.get(segments.max) as usize + 1;
    offsets(ask).map(|offsets| offsets[..used].to_vec())
}

/// The items of each segment in both sequences. The first segment begins with the first item. Without segments, all
/// items are one.
fn runs(ask: &Ask) -> Vec<[Range<usize>; 2]> {
    if ask.segments.is_none() {
        return vec![counts(ask).map(|count| 0..count)];
    }
    let (used, maxima) = (used_offsets(ask), maxima(ask));
    let end = |of: usize, segment: usize| match segment {
        0 => 0,
        _ => used[of][segment].min(maxima[of]) as usize,
    };
    let run = |segment: usize| [0, 1].map(|of| end(of, segment)..end(of, segment + 1));
    (0..used[0].len() - 1).map(run).collect()
}

/// The parts of a sequence that are sorted: its segments, up to the count. If offsets fall, segments overlap: an item
/// then belongs only to the first one, so that sorting millions of them does not take forever.
fn disjoint(runs: &[[Range<usize>; 2]], of: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    runs.iter().filter_map(move |run| {
        let part = run[of].start.max(end)..run[of].end.min(count);
        end = part.end.max(end);
        (!part.is_empty()).then_some(part)
    })
}

/// Whether the status word reports a clamped count or offset.
pub(super) fn is_clamped(ask: &Ask) -> bool {
    let maxima = maxima(ask);
    let Some(segments) = ask.segments else {
        let second = ask.second.is_some_and(|second| second.count.is_clamped(second.items));
        return ask.count.is_clamped(ask.items) || second;
    };
    let ends = used_offsets(ask).map(|used| if used.len() > 1 { used[used.len() - 1] } else { 0 });
    segments.count.is_clamped(segments.max) || ends[0] > maxima[0] || ends[1] > maxima[1]
}

/// The number of items of each sequence.
pub(super) fn counts(ask: &Ask) -> [usize; 2] {
    if ask.segments.is_some() {
        let last = |used: &[u32]| if used.len() > 1 { used[used.len() - 1] } else { 0 };
        let (used, [first, second]) = (used_offsets(ask), maxima(ask));
        return [last(&used[0]).min(first), last(&used[1]).min(second)].map(|count| count as usize);
    }
    let second = ask.second.map_or(0, |second| second.count.get(second.items));
    [ask.count.get(ask.items), second].map(|count| count as usize)
}

/// The item of the first sequence with which the second one begins, if the first one's memory holds the second one.
pub(super) fn within(ask: &Ask) -> Option<usize> {
    let ([first, second], counts) = (maxima(ask), counts(ask));
    let is_within = ask.segments.is_none() && matches!(ask.second, Some(Second { dealing: Dealing::Within, .. }));
    let room = first.checked_sub(second)?;
    let sorted = u32::try_from(counts[0].checked_sub(counts[1])?).ok()?;
    is_within.then(|| ask.stream(Stream::Layout).between(0, room.min(sorted)) as usize)
}

/// Puts items of a sorted sequence into another order.
pub(super) fn disorder(items: &mut [usize], random: &mut Random) {
    let len = items.len();
    match random.below(5) {
        0 => random.shuffle(items),
        1 => items.reverse(),
        2 => items.rotate_left(random.index(len)),
        3 => items.chunks_mut(1 + random.index(len.max(1))).for_each(<[usize]>::reverse),
        _ if len == 0 => {}
        _ => (0..=random.below(3)).for_each(|_| items.swap(random.index(len), random.index(len))),
    }
}

impl Sequences {
    pub(super) fn new(kind: &Kind, ask: &Ask) -> Self {
        let info = &kind.info;
        let (maxima, counts) = (maxima(ask), counts(ask));
        // All items have values of their own, whichever sequence they go to.
        let mut all = Items::draw(&Ask { items: ask.all_items(), ..*ask }, info.key, info.value);
        let marks = draw_marks(info.operation, ask, &mut all);
        let sequences = deal(kind, ask, &all);
        let items = [0, 1].map(|of| {
            let mut items = gather(&all, &sequences[of]);
            if info.value == ValueType::Index {
                let source = if of == 0 { 0 } else { SECOND };
                items.values = (0..maxima[of]).flat_map(|index| (index | source).to_le_bytes()).collect();
            }
            items
        });
        let key = |(of, index): Source| kind.rank(items[of].key(index));
        let is_left = |index: usize| !is_marked(info.operation, &marks, &items[0], index);
        let mut are_sorted = used_offsets(ask).iter().all(|used| Segmentation::is_determined(used));
        let (mut merged, mut starts) = (Vec::new(), vec![0]);
        let takes_any_order = info.operation == MergeOperation::Unique;
        for run in runs(ask) {
            let is_sorted = |of: usize| takes_any_order || run[of].clone().is_sorted_by_key(|index| key((of, index)));
            are_sorted = are_sorted && is_sorted(0) && is_sorted(1);
            if !are_sorted {
                break;
            }
            merged.extend(match info.operation {
                MergeOperation::Unique => first_of_runs(counts[0], key),
                operation if operation.is_set_operation() => operate(operation, counts, key),
                _ => merge([run[0].clone().filter(|index| is_left(*index)).collect(), run[1].clone().collect()], key),
            });
            starts.push(u32::try_from(merged.len()).expect("counts are 32-bit"));
        }
        if !are_sorted {
            merged = [0, 1].into_iter().flat_map(|of| (0..counts[of]).map(move |index| (of, index))).collect();
        }
        Self { items, offsets: offsets(ask), marks, merged, starts, are_sorted }
    }
}

/// Draws the marks of an update, and values with marks. Empty for other operations.
fn draw_marks(operation: MergeOperation, ask: &Ask, all: &mut Items) -> Vec<u32> {
    let mut random = ask.stream(Stream::Marks);
    let words = match operation {
        MergeOperation::Update => ask.items.div_ceil(32),
        MergeOperation::UpdateByValue => random.between(0, ask.items / 16 + 1),
        _ => 0,
    };
    if operation == MergeOperation::UpdateByValue {
        // Some values have no mark.
        let values = 32 * words + random.below(100) + 1;
        for value in all.values.chunks_exact_mut(4) {
            let drawn = if random.below(50) == 0 { random.word() } else { random.below(values) };
            value.copy_from_slice(&drawn.to_le_bytes());
        }
    }
    let density = random.pick(&[0, 1, 1, 16, 31, 32]);
    let mut bits = |_| (0..32).fold(0, |bits, bit| bits | u32::from(random.below(32) < density) << bit);
    (0..words).map(&mut bits).collect()
}

/// Whether an item of the first sequence is marked.
fn is_marked(operation: MergeOperation, marks: &[u32], items: &Items, index: usize) -> bool {
    let bit = match operation {
        MergeOperation::Update => index,
        MergeOperation::UpdateByValue => {
            let value = &items.values[4 * index..][..4];
            u32::from_le_bytes(value.try_into().expect("four bytes")) as usize
        }
        _ => return false,
    };
    marks.get(bit / 32).is_some_and(|word| word >> (bit % 32) & 1 != 0)
}

/// The bound of each key of the first sequence in the second one, by the standard library. None: the second one is not
/// sorted.
pub(super) fn bounds(kind: &Kind, ask: &Ask, sequences: &Sequences) -> Option<Vec<u32>> {
    let ranks = |of: usize| -> Vec<u128> {
        (0..counts(ask)[of]).map(|index| kind.rank(sequences.items[of].key(index))).collect()
    };
    let [needles, keys] = [ranks(0), ranks(1)];
    if !keys.is_sorted() {
        return None;
    }
    let bound = |needle: u128| match kind.info.operation {
        MergeOperation::LowerBound => keys.partition_point(|key| *key < needle),
        _ => keys.partition_point(|key| *key <= needle),
    };
    Some(needles.into_iter().map(|needle| u32::try_from(bound(needle)).expect("counts are 32-bit")).collect())
}

/// The items of each sequence, by their indices in `all`. Those behind the count of a sequence are in no order.
fn deal(kind: &Kind, ask: &Ask, all: &Items) -> [Vec<usize>; 2] {
    let (maxima, counts, mut random) = (maxima(ask), counts(ask), ask.stream(Stream::Buckets));
    let counted = counts[0] + counts[1];
    // Once for each item: a rank takes longer than the comparison of two.
    let ranks: Vec<u128> = (0..counted).map(|index| kind.rank(all.key(index))).collect();
    let mut order: Vec<usize> = (0..counted).collect();
    order.sort_by_key(|index| ranks[*index]);
    let mut sequences = [Vec::new(), Vec::new()];
    let dealing = ask.second.map_or(Dealing::Random, |second| second.dealing);
    for (item, to_second) in order.into_iter().zip(dealing.deal(counts, &mut random)) {
        sequences[usize::from(to_second)].push(item);
    }
    if ask.segments.is_some() {
        // Each segment has keys of its own.
        let runs = runs(ask);
        for (of, sequence) in sequences.iter_mut().enumerate() {
            random.shuffle(sequence);
            for part in disjoint(&runs, of, counts[of]) {
                sequence[part].sort_by_key(|index| ranks[*index]);
            }
        }
    }
    if ask.hostile {
        let of = random.below(3);
        sequences.iter_mut().zip([of != 1, of != 0]).for_each(|(sequence, chosen)| {
            if chosen {
                disorder(sequence, &mut random);
            }
        });
    }
    let mut rest = counted..all.keys.len() / all.key_size;
    for (sequence, max) in sequences.iter_mut().zip(maxima) {
        sequence.extend(rest.by_ref().take(max as usize - sequence.len()));
    }
    if let Some(start) = within(ask) {
        sequences[1] = sequences[0][start..][..maxima[1] as usize].to_vec();
    }
    sequences
}

/// The items at these indices.
pub(super) fn gather(all: &Items, indices: &[usize]) -> Items {
    let bytes = |from: &[u8], size: usize| {
        indices.iter().flat_map(|index| &from[index * size..][..size]).copied().collect::<Vec<u8>>()
    };
    let (keys, values) = (bytes(&all.keys, all.key_size), bytes(&all.values, all.value_size));
    Items { keys, values, ..*all }
}

/// The stable merge of sorted items of two sequences: of equal keys, those of the first sequence come first.
fn merge<K: Ord>(items: [Vec<usize>; 2], key: impl Fn(Source) -> K) -> Vec<Source> {
    let counts = [items[0].len(), items[1].len()];
    let (mut next, mut merged) = ([0, 0], Vec::with_capacity(counts[0] + counts[1]));
    while next != counts {
        let is_before = |a: usize, b: usize| key((1, b)) < key((0, a));
        let takes_second =
            next[0] == counts[0] || next[1] < counts[1] && is_before(items[0][next[0]], items[1][next[1]]);
        let of = usize::from(takes_second);
        merged.push((of, items[of][next[of]]));
        next[of] += 1;
    }
    merged
}

/// A set operation on two sorted multisets: for each key, the numbers of its copies decide.
fn operate<K: Ord>(operation: MergeOperation, counts: [usize; 2], key: impl Fn(Source) -> K) -> Vec<Source> {
    let (mut next, mut chosen) = ([0, 0], Vec::new());
    while next != counts {
        let firsts = [0, 1].map(|of| (next[of] < counts[of]).then(|| key((of, next[of]))));
        let [first, second] = firsts;
        let least = if first.is_some() && (second.is_none() || first <= second) { first } else { second };
        // The numbers of copies of this key.
        let copies = [0, 1].map(|of| {
            let rest = next[of]..counts[of];
            rest.take_while(|index| Some(key((of, *index))) == least).count()
        });
        let [m, n] = copies;
        let (of_first, of_second) = match operation {
            MergeOperation::Intersection => (0..m.min(n), n..n),
            MergeOperation::Difference => (m.min(n)..m, n..n),
            MergeOperation::SymmetricDifference => (m.min(n)..m, m.min(n)..n),
            _ => (0..m, m.min(n)..n),
        };
        chosen.extend(of_first.map(|copy| (0, next[0] + copy)));
        chosen.extend(of_second.map(|copy| (1, next[1] + copy)));
        next = [next[0] + m, next[1] + n];
    }
    chosen
}

/// The first item of each run of equal keys in the first sequence.
fn first_of_runs<K: Ord>(count: usize, key: impl Fn(Source) -> K) -> Vec<Source> {
    let mut items: Vec<Source> = (0..count).map(|index| (0, index)).collect();
    items.dedup_by_key(|item| key(*item));
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Data;
    use crate::primitive::{CountAt, Cuts};
    use trommel::{KeyType, MergerInfo, Order};

    const KEYS: [KeyType; 4] = [KeyType::U32, KeyType::I64, KeyType::F32, KeyType::U32x3];

    fn ask(items: [u32; 2], dealing: Dealing) -> Ask {
        let second = Some(Second { items: items[1], count: CountAt::Host, dealing });
        let (count, data) = (CountAt::Host, Data::Few(9));
        Ask { items: items[0], count, segments: None, second, status: true, results: 0, hostile: false, data, seed: 7 }
    }

    #[test]
    fn equal_keys_of_the_first_sequence_come_first() {
        let keys = [vec![1, 3, 3, 7], vec![0, 3, 7, 7, 9]];
        let all = |counts: [usize; 2]| counts.map(|count| (0..count).collect());
        let merged = merge(all([4, 5]), |(of, index)| keys[of][index]);
        let expected = [(1, 0), (0, 0), (0, 1), (0, 2), (1, 1), (0, 3), (1, 2), (1, 3), (1, 4)];
        assert_eq!(merged, expected);
        assert_eq!(merge(all([2, 0]), |(of, index)| keys[of][index]), [(0, 0), (0, 1)]);
        assert_eq!(merge(all([0, 1]), |(of, index)| keys[of][index]), [(1, 0)]);
        assert!(merge(all([0, 0]), |(of, index)| keys[of][index]).is_empty());
        let some = merge([vec![1, 3], vec![2, 3]], |(of, index)| keys[of][index]);
        assert_eq!(some, [(0, 1), (0, 3), (1, 2), (1, 3)]);
    }

    #[test]
    fn sets_are_multisets() {
        // Two copies of 3 in the first sequence and one in the second; one of 7 and two.
        let keys = [vec![1, 3, 3, 7], vec![0, 3, 7, 7, 9]];
        let of = |operation| operate(operation, [4, 5], |(of, index)| keys[of][index]);
        let [a, b] = [|index| (0, index), |index| (1, index)];
        assert_eq!(of(MergeOperation::Intersection), [a(1), a(3)]);
        assert_eq!(of(MergeOperation::Difference), [a(0), a(2)]);
        assert_eq!(of(MergeOperation::SymmetricDifference), [b(0), a(0), a(2), b(3), b(4)]);
        assert_eq!(of(MergeOperation::Union), [b(0), a(0), a(1), a(2), a(3), b(3), b(4)]);
    }

    #[test]
    fn the_first_item_of_each_run_is_unique() {
        let keys = [4, 4, 1, 4, 4, 4];
        assert_eq!(first_of_runs(6, |(_, index)| keys[index]), [(0, 0), (0, 2), (0, 3)]);
        assert_eq!(first_of_runs(0, |(_, index)| keys[index]), []);
        let kind = Kind::of(MergerInfo::pairs().operation(MergeOperation::Unique));
        for hostile in [false, true] {
            let sequences = Sequences::new(&kind, &Ask { second: None, hostile, ..ask([50, 0], Dealing::Random) });
            assert!(sequences.are_sorted && sequences.merged.len() >= 9 && sequences.merged.len() < 50);
        }
    }

    #[test]
    fn sequences_are_sorted_unless_they_are_hostile() {
        let mut unsorted = 0;
        for (seed, key) in (0..60).zip(KEYS.into_iter().cycle()) {
            let order = if seed % 3 == 0 { Order::Ascending } else { Order::Descending };
            let kind = Kind::of(MergerInfo { order, key, ..MergerInfo::pairs() });
            for hostile in [false, true] {
                let dealing = if seed % 5 == 0 { Dealing::Within } else { Dealing::Runs(5) };
                let ask = Ask { seed, hostile, data: Data::Random, ..ask([40, 30], dealing) };
                let sequences = Sequences::new(&kind, &ask);
                assert!(hostile || sequences.are_sorted);
                unsorted += usize::from(!sequences.are_sorted);
                assert_eq!(sequences.merged.len(), 70);
                let ranks = |of: usize| (0..30).map(|index| kind.rank(sequences.items[of].key(index))).is_sorted();
                assert!(!sequences.are_sorted || ranks(0) && ranks(1));
            }
        }
        assert!(unsorted > 40, "{unsorted}");
    }

    #[test]
    fn each_segment_is_sorted_and_no_item_twice() {
        for cuts in [Cuts::Even, Cuts::OneLarge, Cuts::Beyond, Cuts::Falling] {
            let segments = Some(Segmentation { max: 50, count: CountAt::Host, cuts });
            let ask = Ask { segments, seed: 9, data: Data::Random, ..ask([400, 300], Dealing::Random) };
            let sequences = Sequences::new(&Kind::of(MergerInfo::pairs()), &ask);
            assert_eq!(sequences.are_sorted, cuts != Cuts::Falling, "{cuts:?}");
            assert!(!sequences.are_sorted || sequences.starts.len() == 51, "{cuts:?}");
            let (runs, counts) = (runs(&ask), counts(&ask));
            for of in [0, 1] {
                let parts: Vec<_> = disjoint(&runs, of, counts[of]).collect();
                assert!(counts[of] > 50 && !parts.is_empty(), "{cuts:?}: {counts:?}");
                assert!(parts.windows(2).all(|pair| pair[0].end <= pair[1].start), "{cuts:?}: {parts:?}");
                let sorted: usize = parts.iter().map(ExactSizeIterator::len).sum();
                assert!(sorted <= counts[of] && (cuts == Cuts::Falling || sorted == counts[of]), "{cuts:?}");
                let all: usize = runs.iter().map(|run| run[of].len()).sum();
                assert_eq!(cuts == Cuts::Falling, all > counts[of], "{cuts:?}: segments overlap");
            }
        }
    }

    #[test]
    fn items_keep_their_values_and_indices_name_their_sequence() {
        let info = MergerInfo { value: ValueType::Bytes(8), ..MergerInfo::keys() };
        let drawn = ask([3, 5], Dealing::Random);
        let all = Items::draw(&Ask { items: 8, ..drawn }, info.key, info.value).interleaved();
        let Sequences { items, merged, .. } = Sequences::new(&Kind::of(info), &drawn);
        for (of, index) in &merged {
            let item = &items[*of].interleaved()[index * 12..][..12];
            assert!(all.chunks_exact(12).any(|known| known == item));
        }
        let of = |info: &MergerInfo, ask| {
            let words = |items: Items| -> Vec<u32> {
                items
                    .values
                    .chunks_exact(4)
                    .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                    .collect()
            };
            Sequences::new(&Kind::of(*info), ask).items.map(words)
        };
        let indices = MergerInfo { value: ValueType::Index, ..info };
        assert_eq!(of(&indices, &drawn), [vec![0, 1, 2], (0..5).map(|index| index | 1 << 31).collect()]);
        let [first, second] = of(&MergerInfo::pairs(), &ask([30, 10], Dealing::Within));
        let start = within(&ask([30, 10], Dealing::Within)).unwrap();
        assert_eq!(first[start..][..10], second);
        assert_eq!(within(&ask([9, 10], Dealing::Within)), None, "there is no room");
        assert_eq!(within(&ask([30, 10], Dealing::Random)), None);
    }
}
