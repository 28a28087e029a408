//! Traits that a primitive implements for the tester, and the requests that the tester draws.

use crate::arena::{Array, ArrayRanges};
use crate::keys::Data;
use crate::profiles::Line;
use crate::random::Random;
use crate::second::Second;
use std::fmt;
use trommel::{Device, DeviceFacts, Profile, Request, Scratch, Strategy};

/// Limits of draws on a device with a profile.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The device.
    pub facts: DeviceFacts,
    /// The profile in use.
    pub profile: Profile,
    /// Fewest items of a request, where it has room for as many.
    pub least_items: u32,
    /// Most items of a request.
    pub max_items: u32,
    /// Most bytes of the items of a request.
    pub max_bytes: u64,
    /// Counts at which the profile takes another path.
    pub borders: Vec<u32>,
}

impl Limits {
    /// Draws the number of items of a request, with so many bytes each.
    pub fn draw_items(&self, bytes_each: usize, random: &mut Random) -> u32 {
        let fits = u32::try_from(self.max_bytes / bytes_each.max(1) as u64).unwrap_or(u32::MAX);
        let most = self.max_items.min(fits).max(1);
        if self.least_items != 0 {
            return random.between(self.least_items.min(most), most);
        }
        let typical = most.min(5000);
        let near = |items: u32, random: &mut Random| items.saturating_add(random.below(4)).saturating_sub(2);
        let items = match random.below(100) {
            0..6 => random.below(4),
            6..36 if !self.borders.is_empty() => {
                let border = random.pick(&self.borders);
                let times = if random.chance(1, 3) { random.between(1, 5) } else { 1 };
                near(border.saturating_mul(times), random)
            }
            6..46 => near(1 << random.between(0, most.ilog2()), random),
            46..62 => random.between(0, typical),
            62..94 => random.log_between(1, typical),
            _ => random.log_between(1, most),
        };
        if items <= most { items } else { random.log_between(1, most) }
    }
}

/// Source of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountAt {
    /// The count is the maximum, on the host.
    Host,
    /// The count is a word on the device.
    Device(u32),
}

impl CountAt {
    /// A count on the host, or one on the device that is below, at or above the maximum.
    pub fn draw(max: u32, random: &mut Random) -> Self {
        match random.below(12) {
            0..6 => Self::Host,
            6 => Self::Device(0),
            7 => Self::Device(max),
            8 => {
                Self::Device(random.pick(&[max.saturating_add(1), max.saturating_mul(2), u32::MAX, max | 0x8000_0000]))
            }
            _ => Self::Device(random.between(0, max)),
        }
    }

    /// The count, at most `max`.
    pub fn get(self, max: u32) -> u32 {
        match self {
            Self::Host => max,
            Self::Device(count) => count.min(max),
        }
    }

    /// Whether the count on the device exceeds the maximum.
    pub fn is_clamped(self, max: u32) -> bool {
        matches!(self, Self::Device(count) if count > max)
    }

    /// The count as an argument of the library. The array `role` holds the word.
    pub fn of(self, max: u32, role: &str, ranges: &ArrayRanges) -> trommel::Count {
        match self {
            Self::Host => trommel::Count::host(max),
            Self::Device(_) => trommel::Count::device(ranges.address(role), max),
        }
    }

    /// The array of the word, if the count is on the device.
    pub fn array(self, role: &'static str) -> Option<Array> {
        if let Self::Device(count) = self { Some(Array::words(role, &[count])) } else { None }
    }

    /// The count if the maximum is lowered from `max` to `fewer`. A clamped count stays clamped.
    pub fn of_fewer(self, max: u32, fewer: u32) -> Self {
        match self {
            Self::Device(count) if count <= max => Self::Device(count.min(fewer)),
            _ => self,
        }
    }
}

/// How the offsets of segments are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// Rising, drawn evenly.
    Even,
    /// Most segments empty.
    Empty,
    /// One segment with nearly all items.
    OneLarge,
    /// From the first item to the last.
    All,
    /// The last ones beyond the arrays, where they are cut off and flagged.
    Beyond,
    /// Descending in places: the content of the items is undefined, all other memory is defined.
    Falling,
}

impl Cuts {
    const ALL: [Self; 8] =
        [Self::Even, Self::Even, Self::All, Self::All, Self::Empty, Self::OneLarge, Self::Beyond, Self::Falling];
}

/// Segments of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    /// The most segments.
    pub max: u32,
    /// Number of segments.
    pub count: CountAt,
    /// Distribution of the offsets.
    pub cuts: Cuts,
}

impl Segmentation {
    /// Segments of `items` items.
    pub fn draw(items: u32, random: &mut Random) -> Self {
        let max = match random.below(6) {
            0 => random.below(4),
            1..4 => random.log_between(1, items.max(2)),
            4 => (items / random.log_between(1, 300)).max(1),
            _ => random.log_between(1, 2 * items.max(1)),
        };
        Self { max, count: CountAt::draw(max, random), cuts: random.pick(&Cuts::ALL) }
    }

    /// Draws the offsets: one more than segments.
    pub fn offsets(&self, items: u32, random: &mut Random) -> Vec<u32> {
        let len = self.max as usize + 1;
        let mut offsets: Vec<u32> = (0..len).map(|_| random.between(0, items)).collect();
        offsets.sort_unstable();
        match self.cuts {
            Cuts::Even => {}
            Cuts::Empty => {
                let few: Vec<u32> = (0..4).map(|_| random.between(0, items)).collect();
                offsets.iter_mut().for_each(|offset| *offset = random.pick(&few));
                offsets.sort_unstable();
            }
            Cuts::OneLarge => {
                let begin = random.index(len);
                let share = items / 50 + 1;
                for (index, offset) in offsets.iter_mut().enumerate() {
                    let small = random.below(share);
                    *offset = if index <= begin { small.min(items) } else { items - small.min(items) };
                }
                offsets.sort_unstable();
            }
            Cuts::All => {
                offsets[0] = 0;
                offsets[len - 1] = items;
            }
            Cuts::Beyond => {
                let from = random.index(len);
                for offset in &mut offsets[from..] {
                    *offset = items.saturating_add(random.pick(&[1, 7, 1000, 1 << 20, u32::MAX]));
                }
                offsets[from..].sort_unstable();
            }
            Cuts::Falling => {
                for _ in 0..=random.below(1 + self.max / 4) {
                    let index = random.index(len);
                    offsets[index] = random.pick(&[0, items, u32::MAX, random_offset(items, index)]);
                }
            }
        }
        offsets
    }

    /// Whether the offsets rise, as they must for the output to be determined.
    pub fn is_determined(offsets: &[u32]) -> bool {
        offsets.is_sorted()
    }
}

fn random_offset(items: u32, index: usize) -> u32 {
    let index = u32::try_from(index % 1024).unwrap_or(0);
    items.wrapping_mul(index.wrapping_mul(0x9e37_79b1)) % items.saturating_add(1).max(1)
}

/// One request to a handle. All its other content is drawn from its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The maximum count. The arrays hold so many items.
    pub items: u32,
    /// The number of items. Unused with segments: their offsets determine the items.
    pub count: CountAt,
    /// The segments, of a handle that takes them.
    pub segments: Option<Segmentation>,
    /// The second sequence, of a handle that takes two. Then `items` and `count` are those of the first sequence.
    pub second: Option<Second>,
    /// The status word is wanted.
    pub status: bool,
    /// Optional results that are wanted, a bit each.
    pub results: u32,
    /// Data on the device that breaks the rules, where the handle knows any.
    pub hostile: bool,
    /// How keys are distributed.
    pub data: Data,
    /// Seed of keys and all other content.
    pub seed: u64,
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { items, count, segments, second, status, results, hostile, data, seed } = self;
        write!(f, "{items} items ({count:?}), {data}")?;
        if let Some(Second { items, count, dealing }) = second {
            write!(f, ", second sequence {items} items ({count:?}), {dealing:?}")?;
        }
        if let Some(Segmentation { max, count, cuts }) = segments {
            write!(f, ", {max} segments ({count:?}, {cuts:?})")?;
        }
        write!(f, ", status {status}, results {results:#b}, hostile {hostile}, data seed {seed:#x}")
    }
}

impl Ask {
    /// Draws a request with items of so many bytes.
    pub fn draw(limits: &Limits, bytes_each: usize, segmented: bool, random: &mut Random) -> Self {
        let items = limits.draw_items(bytes_each, random);
        Self {
            items,
            count: if segmented { CountAt::Host } else { CountAt::draw(items, random) },
            segments: segmented.then(|| Segmentation::draw(items, random)),
            second: None,
            status: random.chance(1, 2),
            results: random.word() & random.pick(&[0, 7, 7, u32::MAX]),
            hostile: random.chance(1, 12),
            data: Data::draw(random),
            seed: random.draw(),
        }
    }

    /// Items of all sequences.
    pub fn all_items(&self) -> u32 {
        self.items.saturating_add(self.second.map_or(0, |second| second.items))
    }

    /// The same request for a handle with or without segments.
    pub fn fitting(&self, segmented: bool) -> Self {
        let whole = Segmentation { max: 1, count: CountAt::Host, cuts: Cuts::All };
        match (segmented, self.segments) {
            (true, None) => Self { segments: Some(whole), count: CountAt::Host, ..*self },
            (false, Some(_)) => Self { segments: None, ..*self },
            _ => *self,
        }
    }

    /// Returns simpler requests, the simplest first. Each leaves out or reduces one property.
    pub fn simpler(&self) -> Vec<Self> {
        let with_items = |items: u32| Self {
            items,
            count: self.count.of_fewer(self.items, items),
            segments: self.segments.map(|segments| Segmentation { max: segments.max.min(2 * items), ..segments }),
            ..*self
        };
        let mut all: Vec<Self> = fewer(self.items).into_iter().map(with_items).collect();
        if let CountAt::Device(count) = self.count
            && count < self.items
        {
            all.push(Self { items: count, count: CountAt::Host, ..*self });
        }
        all.push(Self { count: CountAt::Host, ..*self });
        if let Some(segments) = self.segments {
            for max in [1, segments.max / 2, segments.max.saturating_sub(1)] {
                all.push(Self { segments: Some(Segmentation { max, count: CountAt::Host, ..segments }), ..*self });
            }
            all.push(Self { segments: Some(Segmentation { count: CountAt::Host, ..segments }), ..*self });
            all.push(Self { segments: Some(Segmentation { cuts: Cuts::All, ..segments }), ..*self });
        }
        if let Some(second) = self.second {
            all.extend(second.simpler().into_iter().map(|second| Self { second: Some(second), ..*self }));
        }
        all.extend([Self { status: false, ..*self }, Self { hostile: false, ..*self }]);
        all.extend((0..5).map(|bit| Self { results: self.results & !(1 << bit), ..*self }));
        all.extend([Data::Zeros, Data::Sorted, Data::Random].map(|data| Self { data, ..*self }));
        all.retain(|ask| ask != self);
        all
    }
}

/// Fewer items, the fewest first.
pub(crate) fn fewer(items: u32) -> [u32; 6] {
    [0, items / 8, items / 2, items - items / 4, items - items / 16, items.saturating_sub(1)]
}

/// A strategy; half of the draws leave it to the library.
pub(crate) fn draw_strategy(random: &mut Random) -> Strategy {
    if random.chance(1, 2) { Strategy::Auto } else { random.pick(&Strategy::ALL) }
}

/// The largest count of a handle: mostly the library's, now and then the least that will do or one that takes 64-bit
/// addresses.
pub(crate) fn draw_max_count(limits: &Limits, random: &mut Random) -> u32 {
    match random.below(12) {
        0 => random.pick(&[(1 << 30) + 1, u32::MAX, 1 << 31]),
        1 => limits.max_items,
        2 => random.log_between(1, limits.max_items),
        3 => 1 << 30,
        _ => 0,
    }
}

/// A primitive of the library, as the tester draws from it.
pub trait Primitive: Sync {
    /// The name of the primitive, in summaries.
    fn name(&self) -> &'static str;

    /// A handle of any kind that a device with these limits may take. One that it refuses is drawn again.
    fn draw(&self, limits: &Limits, random: &mut Random) -> Box<dyn HandleInfo>;

    /// The lines of a profile that only this primitive reads.
    fn profile_lines(&self) -> &'static [Line] {
        &[]
    }

    /// Values of lines, without lists of shapes, that every device can run.
    fn plain_lines(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// The create info of a handle.
pub trait HandleInfo: fmt::Debug + Send + Sync {
    /// The handle on a device.
    ///
    /// # Errors
    /// The library's.
    fn create(&self, device: &Device) -> trommel::Result<Box<dyn Handle>>;

    /// The info as text, with every member that differs from its default.
    fn describe(&self) -> String;

    /// The requested strategy. None for primitives without strategies.
    fn strategy(&self) -> Option<&'static str> {
        None
    }

    /// Whether its requests have segments.
    fn is_segmented(&self) -> bool {
        false
    }

    /// The primitive's name.
    fn primitive(&self) -> &'static str;

    /// Draws a request.
    fn draw(&self, limits: &Limits, random: &mut Random) -> Ask;

    /// Returns infos that differ in one simpler member, the simplest first.
    fn simpler(&self) -> Vec<Box<dyn HandleInfo>>;
}

/// Owns the memory that a request borrows.
pub trait Prepared {
    /// The request.
    fn request(&self) -> Request<'_>;
}

/// Most requests borrow no more than their handle.
impl Prepared for Request<'_> {
    fn request(&self) -> Request<'_> {
        *self
    }
}

/// A handle on a device.
pub trait Handle: fmt::Debug {
    /// The arrays of a request, with their content before and after the execution.
    fn arrays(&self, ask: &Ask, limits: &Limits) -> Vec<Array>;

    /// Prepares the request, once its arrays have addresses.
    fn prepare<'a>(&'a self, ask: &Ask, ranges: &ArrayRanges) -> Box<dyn Prepared + 'a>;

    /// Bytes of scratch of a request by itself.
    ///
    /// # Errors
    /// The library's.
    fn scratch_size(&self, ask: &Ask) -> trommel::Result<u64>;

    /// Records a request by itself.
    ///
    /// # Errors
    /// The library's.
    ///
    /// # Safety
    /// As for the library's own call.
    unsafe fn record(
        &self,
        commands: ash::vk::CommandBuffer,
        ask: &Ask,
        ranges: &ArrayRanges,
        scratch: Scratch,
    ) -> trommel::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_segments_are_as_said() {
        let mut random = Random::of(&[4]);
        for _ in 0..500 {
            let items = random.log_between(1, 3000);
            let segments = Segmentation::draw(items, &mut random);
            let offsets = segments.offsets(items, &mut random);
            assert_eq!(offsets.len(), segments.max as usize + 1);
            assert!(segments.cuts == Cuts::Falling || Segmentation::is_determined(&offsets), "{segments:?}");
            let within = offsets.iter().all(|offset| *offset <= items);
            assert!(within || matches!(segments.cuts, Cuts::Beyond | Cuts::Falling), "{segments:?}");
        }
    }

    #[test]
    fn counts_on_the_device_are_clamped() {
        assert_eq!([CountAt::Host.get(7), CountAt::Device(3).get(7), CountAt::Device(9).get(7)], [7, 3, 7]);
        assert!(CountAt::Device(8).is_clamped(7) && !CountAt::Device(7).is_clamped(7) && !CountAt::Host.is_clamped(0));
        let mut random = Random::of(&[1]);
        let drawn: Vec<_> = (0..300).map(|_| CountAt::draw(100, &mut random)).collect();
        for expected in
            [CountAt::Host, CountAt::Device(0), CountAt::Device(100), CountAt::Device(101), CountAt::Device(u32::MAX)]
        {
            assert!(drawn.contains(&expected), "{expected:?}");
        }
    }
}
