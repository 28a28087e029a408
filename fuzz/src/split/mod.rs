//! Splits.

mod buckets;
mod calls;
mod handle;
mod results;

use self::handle::Splitting;
use crate::items::value_size;
use crate::keys;
use crate::primitive::{
    Ask, CountAt, Handle, HandleInfo, Limits, Primitive, Segmentation, draw_max_count, draw_strategy,
};
use crate::profiles::{Draws, Line};
use crate::random::Random;
use trommel::{
    BucketFunction, Device, IdType, KeyType, Layout, SplitMethod, SplitOutput, Splitter, SplitterInfo, Strategy,
    ValueType,
};

/// The split.
#[derive(Clone, Copy, Debug)]
pub struct Splits;

pub(crate) static PRIMITIVE: Splits = Splits;

/// Most words of results of a request: segments times buckets.
const MOST_RESULTS: u32 = 1 << 18;

const WORDS: [KeyType; 11] = [
    KeyType::U32,
    KeyType::U64,
    KeyType::I32,
    KeyType::I64,
    KeyType::F32,
    KeyType::F64,
    KeyType::U32x2,
    KeyType::U32x3,
    KeyType::U32x4,
    KeyType::U32,
    KeyType::U32,
];

fn draw_info(limits: &Limits, random: &mut Random) -> SplitterInfo {
    let buckets = match random.below(16) {
        0..3 => random.between(1, 3),
        3 => random.pick(&[255, 256, 257]),
        4 => random.log_between(257, 65536),
        5 => random.pick(&[65535, 65536, 4096, 512]),
        6..9 => 1 << random.below(9),
        _ => random.log_between(1, 256),
    };
    let mut info = SplitterInfo::keys(buckets, BucketFunction::default()).batches();
    info.key = random.pick(&WORDS);
    let field = buckets.next_power_of_two().ilog2();
    info.function = match random.below(12) {
        0..4 => {
            if random.chance(1, 3) {
                info.key = random.pick(&KeyType::ALL);
            }
            let last = keys::bits(info.key).saturating_sub(field);
            let begin = random.between(0, last);
            // Within one word.
            BucketFunction::Bits { begin_bit: if begin % 32 + field > 32 { begin / 32 * 32 } else { begin } }
        }
        4 | 5 => {
            info.key = random.pick(&[KeyType::U32, KeyType::I32, KeyType::U64, KeyType::I64]);
            BucketFunction::Range
        }
        6 | 7 => BucketFunction::Splitters,
        8..11 => BucketFunction::Ids(random.pick(&[IdType::U8, IdType::U16, IdType::U32])),
        _ => {
            info.key = random.pick(&[KeyType::U32, KeyType::F32, KeyType::U32x2, KeyType::U32x3, KeyType::U32x4]);
            info.buckets = 1 << (keys::bits(info.key) / 32);
            BucketFunction::Signs
        }
    };
    info.value = match random.below(10) {
        0..3 => ValueType::None,
        3..6 => ValueType::U32,
        6..8 => ValueType::Bytes(4 * random.between(1, 4)),
        _ => ValueType::Index,
    };
    info.drop_keys = info.value != ValueType::None && random.chance(1, 6);
    info.layout =
        random.pick(&[Layout::Separate, Layout::Separate, Layout::Separate, Layout::Interleaved, Layout::Strided]);
    info.max_count = draw_max_count(limits, random);
    info.strategy = draw_strategy(random);
    info.segmented = random.chance(1, 6);
    if !info.segmented {
        info.output = match random.below(8) {
            0..4 => SplitOutput::Buckets,
            4 => SplitOutput::Bucket(random.below(info.buckets)),
            5 => SplitOutput::Placed,
            6 => SplitOutput::Counts,
            _ => SplitOutput::Ranks,
        };
        info.method = random.pick(&[
            SplitMethod::Workgroup,
            SplitMethod::Workgroup,
            SplitMethod::Workgroup,
            SplitMethod::Workgroup,
            SplitMethod::Workgroup,
            SplitMethod::Subgroup,
            SplitMethod::Direct,
        ]);
    }
    if matches!(info.output, SplitOutput::Counts | SplitOutput::Ranks) {
        (info.value, info.drop_keys) = (ValueType::None, false);
        if info.layout == Layout::Interleaved {
            info.layout = Layout::Separate;
        }
    }
    if info.output == SplitOutput::Counts || info.method != SplitMethod::Workgroup {
        info.strategy = random.pick(&[Strategy::Auto, Strategy::ReduceThenScan]);
    }
    info
}

impl Primitive for Splits {
    fn name(&self) -> &'static str {
        "split"
    }

    fn profile_lines(&self) -> &'static [Line] {
        &[
            ("split.*.counted", |draws, random| draws.sized_tiles(random, 0)),
            ("split.*.single_dispatch", |draws, random| draws.list(random, 2, Draws::single_dispatch)),
        ]
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Box<dyn HandleInfo> {
        Box::new(Info(draw_info(limits, random)))
    }
}

#[derive(Debug)]
struct Info(SplitterInfo);

impl HandleInfo for Info {
    fn create(&self, device: &Device) -> trommel::Result<Box<dyn Handle>> {
        Ok(Box::new(Splitting(Splitter::new(device, &self.0)?)))
    }

    fn describe(&self) -> String {
        format!("{:?}", self.0)
    }

    fn strategy(&self) -> Option<&'static str> {
        Some(self.0.strategy.name())
    }

    fn is_segmented(&self) -> bool {
        self.0.segmented
    }

    fn primitive(&self) -> &'static str {
        Splits.name()
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Ask {
        let most = if self.0.max_count == 0 { u32::MAX } else { self.0.max_count };
        // Commands of more workgroups than a dispatch has are refused.
        let limits = Limits { max_items: limits.max_items.min(most), ..limits.clone() };
        let mut ask =
            Ask::draw(&limits, 2 * (keys::size(self.0.key) + value_size(self.0.value)), self.0.segmented, random);
        if let Some(segments) = &mut ask.segments {
            let max = segments.max.min(MOST_RESULTS / self.0.buckets);
            let count = if max == segments.max { segments.count } else { CountAt::draw(max, random) };
            *segments = Segmentation { max, count, ..*segments };
        }
        ask
    }

    fn simpler(&self) -> Vec<Box<dyn HandleInfo>> {
        let (info, plain) = (self.0, SplitterInfo::default());
        let bits = BucketFunction::Bits { begin_bit: 0 };
        let all = [
            SplitterInfo { strategy: plain.strategy, ..info },
            SplitterInfo { max_count: 0, ..info },
            SplitterInfo { value: ValueType::None, drop_keys: false, ..info },
            SplitterInfo { value: ValueType::U32, ..info },
            SplitterInfo { drop_keys: false, ..info },
            SplitterInfo { layout: plain.layout, ..info },
            SplitterInfo { segmented: false, ..info },
            SplitterInfo { method: plain.method, ..info },
            SplitterInfo { output: plain.output, ..info },
            SplitterInfo { function: bits, ..info },
            SplitterInfo { key: KeyType::U32, ..info },
            SplitterInfo { buckets: 2, ..info },
            SplitterInfo { buckets: (info.buckets / 2).max(1), ..info },
            SplitterInfo { buckets: info.buckets.next_power_of_two(), ..info },
        ];
        let simpler = all.into_iter().filter(|simpler| *simpler != info);
        simpler.map(|info| Box::new(Self(info)) as Box<dyn HandleInfo>).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::keys::Data;
    use crate::primitive::{Ask, CountAt};

    /// A request of any items.
    pub(super) fn ask(items: u32) -> Ask {
        let (count, data) = (CountAt::Host, Data::Random);
        Ask { items, count, segments: None, second: None, status: true, results: 7, hostile: false, data, seed: 5 }
    }
}
