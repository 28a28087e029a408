//! The memory of a case: arrays and scratch at random offsets, random bytes between them, and the bytes expected
//! afterwards.

use crate::random::Random;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// An array of a request: the bytes before, and the bytes expected afterwards.
#[derive(Clone, Debug, Default)]
pub struct Array {
    /// Name of the array, unique within the request.
    pub role: &'static str,
    /// Alignment of the address, in bytes.
    pub alignment: usize,
    /// Bytes of an item.
    pub item: usize,
    /// Bytes from one item to the next.
    pub stride: usize,
    /// Content before the execution.
    pub before: Vec<u8>,
    /// Expected content after the execution, of the same length.
    pub expected: Vec<u8>,
    /// Bytes with undefined content after the execution.
    pub free: Vec<Range<usize>>,
    /// Bytes that hold the expected items in any order.
    pub permuted: Option<Range<usize>>,
    /// Bytes that hold some of the expected items, in any order and each any number of times.
    pub chosen: Option<Range<usize>>,
    /// A check of bytes that are not determined one by one.
    pub check: Option<Check>,
}

/// A check of what a request has written. The error says what is wrong.
#[derive(Clone)]
pub struct Check(pub Arc<CheckFn>);

type CheckFn = dyn Fn(&Found<'_>) -> Result<(), String> + Send + Sync;

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

/// The arrays of a request after the execution.
#[derive(Debug)]
pub struct Found<'a>(Vec<(&'static str, &'a [u8])>);

impl<'a> Found<'a> {
    /// The bytes of the array of this role; none if the request has no such array.
    pub fn bytes(&self, role: &str) -> &'a [u8] {
        self.0.iter().find(|(known, _)| *known == role).map_or(&[], |(_, bytes)| bytes)
    }
}

impl Array {
    /// An array that is only read.
    pub fn input(role: &'static str, alignment: usize, item: usize, bytes: Vec<u8>) -> Self {
        Self { role, alignment, item, stride: item, expected: bytes.clone(), before: bytes, ..Self::default() }
    }

    /// Words that are only read.
    pub fn words(role: &'static str, words: &[u32]) -> Self {
        Self::input(role, 4, 4, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// Words that are written: random before.
    pub fn results(role: &'static str, words: &[u32], random: &mut Random) -> Self {
        Self { before: random.bytes(words.len() * 4), ..Self::words(role, words) }
    }

    /// A strided input: random bytes fill the gaps between items.
    pub fn strided(
        role: &'static str,
        alignment: usize,
        item: usize,
        stride: usize,
        dense: &[u8],
        random: &mut Random,
    ) -> Self {
        let count = dense.len() / item.max(1);
        let mut bytes = random.bytes(if count == 0 { 0 } else { (count - 1) * stride + item });
        for (index, item_bytes) in dense.chunks_exact(item.max(1)).enumerate() {
            bytes[index * stride..][..item].copy_from_slice(item_bytes);
        }
        Self { stride, ..Self::input(role, alignment, item, bytes) }
    }

    /// An array with room for `count` items, random before and expected to stay so.
    pub fn room(role: &'static str, alignment: usize, item: usize, count: usize, random: &mut Random) -> Self {
        Self::input(role, alignment, item, random.bytes(item * count))
    }

    /// Expects `from`'s item `source` at index `target`.
    pub fn expect(&mut self, target: usize, from: &[u8], source: usize) {
        let item = self.item;
        self.expected[target * self.stride..][..item].copy_from_slice(&from[source * item..][..item]);
    }

    /// Marks the content of a range of items as undefined after the execution.
    pub fn free_items(&mut self, items: Range<usize>) {
        if !items.is_empty() {
            self.free.push(items.start * self.stride..items.end * self.stride);
        }
    }

    /// Whether the content of every byte is defined after the execution, up to the order of items.
    fn is_determined(&self) -> bool {
        self.free.is_empty() && self.chosen.is_none()
    }

    /// Marks the content of all bytes as undefined after the execution.
    pub fn free_all(&mut self) {
        self.free = std::iter::once(0..self.before.len()).collect();
    }
}

/// The arrays of a request: role, first byte from the beginning of the arena, and bytes.
#[derive(Clone, Debug, Default)]
pub struct ArrayRanges {
    /// The device address of the arena.
    pub base: u64,
    arrays: Vec<(&'static str, u64, u64)>,
}

impl ArrayRanges {
    /// The array of this role; [`trommel::Range::NONE`] if the request has none.
    pub fn range(&self, role: &str) -> trommel::Range {
        let found = self.arrays.iter().find(|(known, ..)| *known == role);
        found.map_or(trommel::Range::NONE, |(_, offset, size)| trommel::Range::new(self.base + offset, *size))
    }

    /// The address of the array of this role; 0 if the request has none.
    pub fn address(&self, role: &str) -> u64 {
        self.range(role).address
    }
}

/// Content of scratch before the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poison {
    /// Random bytes.
    Random,
    /// One word.
    Fill(u32),
    /// Small numbers, which look like counts and states.
    Small,
}

impl Poison {
    /// Draws a content.
    pub fn draw(random: &mut Random) -> Self {
        match random.below(5) {
            0..3 => Self::Random,
            3 => Self::Fill(random.pick(&[0, u32::MAX, 1, 0x8000_0000, 0x4000_0000])),
            _ => Self::Small,
        }
    }

    fn bytes(self, count: usize, random: &mut Random) -> Vec<u8> {
        match self {
            Self::Random => random.bytes(count),
            Self::Fill(word) => word.to_le_bytes().into_iter().cycle().take(count).collect(),
            Self::Small => {
                let mut bytes = random.bytes(count);
                for word in bytes.chunks_mut(4) {
                    let (states, low) = (random.pick(&[0, 0x40, 0x80, 0xc0]), word[0]);
                    word.fill(0);
                    word[0] = low;
                    word[word.len() - 1] |= states;
                }
                bytes
            }
        }
    }
}

/// A run of bytes with a name.
#[derive(Clone, Debug)]
struct Part {
    /// The request of the part; none for guards and scratch.
    member: Option<usize>,
    role: &'static str,
    bytes: Range<usize>,
    array: Array,
}

/// The memory of a case.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// Content before the execution.
    pub before: Vec<u8>,
    /// Expected content after the execution. Undefined content is not compared.
    pub expected: Vec<u8>,
    /// The arrays of each request.
    pub ranges: Vec<ArrayRanges>,
    /// First byte of scratch.
    pub scratch: usize,
    parts: Vec<Part>,
}

/// The largest alignment of an array. The size of an image is a multiple of it: images are contiguous.
const ALIGNMENT: usize = 16;
const GUARD: &str = "guard";
const SCRATCH: &str = "scratch";

impl Image {
    /// Places the arrays of each request and `scratch_size` bytes of scratch: in a random order if `shuffled`, else
    /// request by request.
    pub fn new(
        members: Vec<Vec<Array>>,
        scratch_size: usize,
        poison: Poison,
        shuffled: bool,
        random: &mut Random,
    ) -> Self {
        let mut image = Self { ranges: vec![ArrayRanges::default(); members.len()], ..Self::default() };
        let scratch = poison.bytes(scratch_size, random);
        let scratch =
            Array { free: std::iter::once(0..scratch_size).collect(), ..Array::input(SCRATCH, 4, 4, scratch) };
        let mut all: Vec<_> = std::iter::once((None, scratch)).collect();
        for (member, arrays) in members.into_iter().enumerate() {
            all.extend(arrays.into_iter().map(|array| (Some(member), array)));
        }
        if shuffled {
            random.shuffle(&mut all);
        }
        image.guard(256, 4, random);
        for (member, array) in all {
            image.guard(1, array.alignment, random);
            let start = image.before.len();
            match member {
                Some(member) if !array.before.is_empty() => {
                    image.ranges[member].arrays.push((array.role, start as u64, array.before.len() as u64));
                }
                Some(_) => {}
                None => image.scratch = start,
            }
            image.push(member, array);
        }
        image.guard(256, ALIGNMENT, random);
        image
    }

    /// Appends `least` to `least + 63` random bytes, up to a multiple of the alignment.
    fn guard(&mut self, least: usize, alignment: usize, random: &mut Random) {
        let bytes = least + random.index(64);
        let end = (self.before.len() + bytes).next_multiple_of(alignment.max(1));
        let guard = random.bytes(end - self.before.len());
        self.push(None, Array::input(GUARD, 1, 1, guard));
    }

    fn push(&mut self, member: Option<usize>, mut array: Array) {
        let start = self.before.len();
        self.before.append(&mut array.before);
        self.expected.append(&mut array.expected);
        let bytes = start..self.before.len();
        self.parts.push(Part { member, role: array.role, bytes, array });
    }

    /// Sets the device address of the arena.
    pub fn bind(&mut self, base: u64) {
        self.ranges.iter_mut().for_each(|ranges| ranges.base = base);
    }

    /// Returns every part with unexpected content.
    pub fn compare(&self, found: &[u8]) -> Vec<Difference> {
        let parts = self.parts.iter().enumerate();
        let compared = parts.filter_map(|(index, part)| self.compare_part(index, part, found));
        compared.chain(self.parts.iter().filter_map(|part| self.check_part(part, found))).collect()
    }

    fn check_part(&self, part: &Part, found: &[u8]) -> Option<Difference> {
        let check = part.array.check.as_ref()?;
        let own = self.parts.iter().filter(|other| other.member == part.member);
        let arrays = Found(own.map(|other| (other.role, &found[other.bytes.clone()])).collect());
        let why = (check.0)(&arrays).err()?;
        Some(Difference { member: part.member, role: part.role, why: Some(why), wrong: 1, ..Difference::default() })
    }

    fn compare_part(&self, index: usize, part: &Part, found: &[u8]) -> Option<Difference> {
        let (found, expected) = (&found[part.bytes.clone()], &self.expected[part.bytes.clone()]);
        if found == expected {
            return None;
        }
        let mut wrong = Vec::new();
        let mut from = 0;
        let mut free: Vec<_> =
            part.array.free.iter().chain(&part.array.permuted).chain(&part.array.chosen).cloned().collect();
        free.sort_by_key(|range| range.start);
        let end = found.len();
        for range in free.into_iter().chain(std::iter::once(end..end)) {
            if from < range.start && found[from..range.start] != expected[from..range.start] {
                wrong.extend((from..range.start).filter(|byte| found[*byte] != expected[*byte]));
            }
            from = from.max(range.end);
        }
        let (item, stride) = (part.array.item.max(1), part.array.stride.max(1));
        let items = |bytes: &[u8]| {
            let mut items: Vec<Vec<u8>> =
                bytes.chunks(stride).map(|chunk| chunk[..item.min(chunk.len())].to_vec()).collect();
            items.sort();
            items
        };
        let permuted = part.array.permuted.as_ref();
        let lost = permuted.is_some_and(|range| items(&found[range.clone()]) != items(&expected[range.clone()]));
        let mut foreign = false;
        if let Some(range) = &part.array.chosen {
            let known = items(&expected[range.clone()]);
            let chunks = found[range.clone()].chunks(stride).enumerate();
            let strange = chunks.filter(|(_, chunk)| {
                known.binary_search_by(|one| one[..].cmp(&chunk[..item.min(chunk.len())])).is_err()
            });
            let before = wrong.len();
            wrong.extend(strange.map(|(index, _)| range.start + index * stride));
            foreign = wrong.len() != before;
            wrong.sort_unstable();
        }
        let first_byte = match wrong.first() {
            Some(first) => *first,
            None if lost => permuted.map_or(0, |range| range.start),
            None => return None,
        };
        let mut wrong_items: Vec<usize> = wrong.iter().map(|byte| byte / stride).collect();
        wrong_items.dedup();
        let first = first_byte / stride;
        let window = |bytes: &[u8]| bytes[first * stride..].iter().take(item.clamp(16, 64)).copied().collect();
        let name = |index: Option<usize>| {
            let near = index.and_then(|index| self.parts.get(index))?;
            Some(near.member.map_or(near.role.to_owned(), |member| format!("{} of request {member}", near.role)))
        };
        let neighbors = (part.role == GUARD).then(|| {
            let [before, after] =
                [name(index.checked_sub(1)), name(Some(index + 1))].map(|name| name.unwrap_or("the edge".into()));
            format!("between {before} and {after}")
        });
        Some(Difference {
            member: part.member,
            role: part.role,
            neighbors,
            first,
            wrong: wrong_items.len(),
            items: found.len().div_ceil(stride),
            expected: window(expected),
            found: window(found),
            is_permutation: items(found) == items(expected),
            lost,
            foreign,
            why: None,
        })
    }

    /// Changes a byte with defined content, as an error of the library would. For tests of the tester.
    pub fn plant(&self, found: &mut [u8], random: &mut Random) {
        let fixed: Vec<_> =
            self.parts.iter().filter(|part| !part.bytes.is_empty() && part.array.is_determined()).collect();
        if !fixed.is_empty() {
            let bytes = &fixed[random.index(fixed.len())].bytes;
            found[bytes.start + random.index(bytes.len())] ^= 1 << random.below(8);
        }
    }
}

/// A part with unexpected content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The request of the part; none for guards.
    pub member: Option<usize>,
    /// The array's name.
    pub role: &'static str,
    /// The parts beside a guard; none for other parts.
    pub neighbors: Option<String>,
    /// Index of the first wrong item.
    pub first: usize,
    /// Number of wrong items.
    pub wrong: usize,
    /// Number of items of the part.
    pub items: usize,
    /// Expected bytes from the first wrong item on.
    pub expected: Vec<u8>,
    /// Found bytes from the first wrong item on.
    pub found: Vec<u8>,
    /// The part holds the expected items in another order.
    pub is_permutation: bool,
    /// The part may hold its items in any order, but they are not the expected items.
    pub lost: bool,
    /// The part holds an item that is none of the expected items.
    pub foreign: bool,
    /// The error of the array's check.
    pub why: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        match (&self.member, &self.neighbors) {
            (Some(member), _) => write!(f, "{} of request {member}", self.role)?,
            (None, Some(neighbors)) => write!(f, "{} {neighbors}", self.role)?,
            (None, None) => write!(f, "{}", self.role)?,
        }
        if let Some(why) = &self.why {
            return write!(f, ": {why}");
        }
        write!(f, ": {} of {} items wrong, first at {}", self.wrong, self.items, self.first)?;
        write!(f, ", expected {}, found {}", hex(&self.expected), hex(&self.found))?;
        if self.lost {
            write!(f, "; items are lost")?;
        } else if self.foreign {
            write!(f, "; items come from elsewhere")?;
        } else if self.is_permutation {
            write!(f, "; the expected items in another order")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let mut random = Random::of(&[9]);
        let mut sorted = Array::words("keys", &[3, 1, 2, 9]);
        (0..3).for_each(|index| sorted.expect(index, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0], index));
        let mut other = Array::room("values", 4, 8, 5, &mut random);
        other.free_items(1..3);
        let mut mixed = Array::words("mixed", &[1, 2, 3, 4]);
        mixed.permuted = Some(0..12);
        let mut chosen = Array::words("chosen", &[5, 6, 7, 8]);
        chosen.chosen = Some(0..12);
        Image::new(vec![vec![sorted], vec![other, mixed, chosen]], 100, Poison::Random, true, &mut random)
    }

    #[test]
    fn checks_read_all_arrays_of_their_request() {
        let mut random = Random::of(&[3]);
        let mut table = Array::words("table", &[1, 2]);
        table.free_all();
        table.check = Some(Check(Arc::new(|found| {
            if found.bytes("table")[..4] == *found.bytes("count") { Ok(()) } else { Err("the counts differ".into()) }
        })));
        let arrays = vec![table, Array::words("count", &[1])];
        let other = vec![Array::words("count", &[2])];
        let image = Image::new(vec![other, arrays], 4, Poison::Random, true, &mut random);
        let mut found = image.expected.clone();
        assert_eq!(image.compare(&found), []);
        let word = offset_of(&image, 1, "table");
        found[word + 4] ^= 1;
        assert_eq!(image.compare(&found), [], "the check does not read it");
        found[word] ^= 4;
        assert_eq!(image.compare(&found)[0].to_string(), "table of request 1: the counts differ");
    }

    fn offset_of(image: &Image, member: usize, role: &str) -> usize {
        usize::try_from(image.ranges[member].range(role).address).unwrap()
    }

    #[test]
    fn what_is_expected_passes_and_scratch_is_free() {
        let image = image();
        let mut found = image.expected.clone();
        found[image.scratch..][..100].fill(7);
        let free = offset_of(&image, 1, "values") + 8;
        found[free..][..16].fill(1);
        let mixed = offset_of(&image, 1, "mixed");
        found[mixed..][..12].copy_from_slice(&[2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0]);
        let chosen = offset_of(&image, 1, "chosen");
        found[chosen..][..12].copy_from_slice(&[7, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(image.compare(&found), []);
        assert_ne!(image.compare(&image.before), [], "nothing was sorted");
    }

    #[test]
    fn any_other_byte_that_changes_is_found_and_named() {
        let image = image();
        let free = |byte: usize| {
            let values = offset_of(&image, 1, "values");
            (image.scratch..image.scratch + 100).contains(&byte) || (values + 8..values + 24).contains(&byte)
        };
        for byte in (0..image.expected.len()).filter(|byte| !free(*byte)) {
            let mut found = image.expected.clone();
            found[byte] ^= 0x10;
            let differences = image.compare(&found);
            assert_eq!(differences.len(), 1, "byte {byte}");
            let part = image.parts.iter().find(|part| part.bytes.contains(&byte)).unwrap();
            assert_eq!((differences[0].role, differences[0].member), (part.role, part.member));
        }
    }

    #[test]
    fn differences_say_which_item_and_how() {
        let image = image();
        let keys = offset_of(&image, 0, "keys");
        let mut found = image.expected.clone();
        found[keys..][..12].copy_from_slice(&[2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
        let text = image.compare(&found)[0].to_string();
        for part in
            ["keys of request 0: 2 of 4 items wrong, first at 0, expected 01 00", "found 02 00", "in another order"]
        {
            assert!(text.contains(part), "{text} should say: {part}");
        }
        let mut found = image.expected.clone();
        found[offset_of(&image, 1, "mixed")] = 9;
        assert!(image.compare(&found)[0].to_string().ends_with("items are lost"));
        found = image.expected.clone();
        found[offset_of(&image, 1, "chosen") + 4] = 8;
        let text = image.compare(&found)[0].to_string();
        assert!(text.contains("1 of 4 items wrong, first at 1, ") && text.ends_with("come from elsewhere"), "{text}");
        found = image.expected.clone();
        found[keys - 1] ^= 1;
        assert!(image.compare(&found)[0].to_string().starts_with("guard between "));
    }

    #[test]
    fn a_planted_error_is_found() {
        let image = image();
        let mut random = Random::of(&[5]);
        for _ in 0..50 {
            let mut found = image.expected.clone();
            image.plant(&mut found, &mut random);
            assert_eq!(image.compare(&found).len(), 1);
        }
    }

    #[test]
    fn arrays_are_aligned_and_apart() {
        for seed in 0..40 {
            let mut random = Random::of(&[seed]);
            let arrays: Vec<_> = [1, 2, 4, 4].map(|align| Array::room("a", align, align, 3, &mut random)).into();
            let image = Image::new(vec![arrays], 40, Poison::draw(&mut random), seed % 2 == 0, &mut random);
            let parts = &image.parts;
            assert!(parts.windows(2).all(|pair| pair[0].bytes.end == pair[1].bytes.start));
            assert!(parts.windows(2).all(|pair| pair.iter().any(|part| part.role == GUARD && !part.bytes.is_empty())));
            assert!(parts.iter().all(|part| part.bytes.start % part.array.alignment == 0));
            assert_eq!(image.before.len(), image.expected.len());
        }
    }
}
