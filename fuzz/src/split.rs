//! Splits.

use crate::arena::{Array, Places};
use crate::items::{Items, Stream, Strides, stable_order, value_size};
use crate::keys;
use crate::primitive::{Ask, CountAt, Handle, HandleInfo, Limits, Primitive, Segmentation};
use crate::random::Random;
use crate::sort::{draw_max_count, draw_strategy};
use ash::vk;
use std::ops::Range;
use trommel::{
    BucketFunction, Count, Device, IdType, KeyType, Layout, Request, STATUS_COUNT_CLAMPED, STATUS_NO_BUCKET, Scratch, Segments,
    SplitInfo, SplitMethod, SplitOutput, Splitter, SplitterInfo, Strategy, ValueType,
};

/// The split.
#[derive(Clone, Copy, Debug)]
pub struct Splits;

/// Most words of results of a request: segments times buckets.
const MOST_RESULTS: u32 = 1 << 18;

/// The command of a bucket without items.
const EMPTY_COMMAND: [u32; 3] = [0, 1, 1];

/// The status bit of a placed split: items have no room where buckets are said to begin, and stay where they are.
const STATUS_OUTPUT_CLAMPED: u32 = 4;

/// Rows of a dispatch that every device takes.
const MOST_ROWS: u32 = 65535;

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
    info.layout = random.pick(&[Layout::Separate, Layout::Separate, Layout::Separate, Layout::Interleaved, Layout::Strided]);
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

    fn strategy(&self) -> &'static str {
        self.0.strategy.name()
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
        let mut ask = Ask::draw(&limits, 2 * (keys::size(self.0.key) + value_size(self.0.value)), self.0.segmented, random);
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

#[derive(Debug)]
struct Splitting(Splitter);

/// What takes an item to its bucket, evaluated for every item.
struct Buckets {
    /// The bucket of each item; as many as there are buckets: none.
    of: Vec<u32>,
    count: usize,
    /// Ids or splitters, as the library is given them.
    given: Option<Array>,
    low: u64,
    width: u64,
    /// Splitters fall somewhere: every item has some bucket, but nobody says which.
    unsorted: bool,
}

/// Distributions of ids.
fn draw_ids(info: &SplitterInfo, id: IdType, ask: &Ask) -> Vec<u32> {
    let mut random = ask.stream(Stream::Buckets);
    let most = match id {
        IdType::U8 => u32::from(u8::MAX),
        IdType::U16 => u32::from(u16::MAX),
        IdType::U32 => u32::MAX,
    };
    let last = info.buckets - 1;
    let beyond = random.pick(&[0, 0, 1, info.buckets / 8 + 1, u32::MAX]);
    let limit = last.saturating_add(if ask.hostile { u32::MAX } else { beyond }).min(most);
    let (one, few) = (random.between(0, limit), random.log_between(1, 16));
    let way = random.below(6);
    let mut id = one;
    let mut next = |index: u32| match way {
        0 => one,
        1 => {
            if random.chance(1, few) {
                id = random.between(0, limit);
            }
            id
        }
        2 => index % (limit / few).saturating_add(1),
        3 => random.log_between(0, limit),
        _ => random.between(0, limit),
    };
    (0..ask.items).map(&mut next).collect()
}

impl Buckets {
    fn new(info: &SplitterInfo, items: &Items, ask: &Ask) -> Self {
        let (count, position) = (info.buckets as usize, |index: usize| keys::position(info.key, items.key(index)));
        let mut random = ask.stream(Stream::Buckets);
        let all = 0..ask.items as usize;
        let mut buckets = Self { of: Vec::new(), count, given: None, low: 0, width: 0, unsorted: false };
        let none = u128::from(info.buckets);
        let number = |bucket: u128| u32::try_from(bucket.min(none)).unwrap_or(info.buckets);
        match info.function {
            BucketFunction::Bits { begin_bit } => {
                let values = u128::from(info.buckets).next_power_of_two();
                buckets.of = all.map(|index| number((position(index) >> begin_bit) % values)).collect();
            }
            BucketFunction::Range => {
                let (low, width) = draw_range(info, items, &mut random);
                let bytes = &low.to_le_bytes()[..items.key_size];
                let first = keys::position(info.key, bytes);
                let bucket = |index| position(index).saturating_sub(first) / u128::from(width);
                buckets.of = all.map(|index| number(bucket(index).min(none - 1))).collect();
                (buckets.low, buckets.width) = (low, width);
            }
            BucketFunction::Splitters => {
                let bytes = ask.data.keys(info.key, count - 1, &mut random);
                let mut splitters: Vec<_> =
                    bytes.chunks_exact(items.key_size).map(|bytes| (keys::position(info.key, bytes), bytes)).collect();
                if !ask.hostile {
                    splitters.sort();
                }
                buckets.unsorted = !splitters.is_sorted_by_key(|(position, _)| *position);
                let bucket = |index| splitters.partition_point(|(splitter, _)| *splitter <= position(index));
                buckets.of = all.map(|index| number(bucket(index) as u128)).collect();
                let bytes = splitters.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
                buckets.given = Some(Array::input("splitters", 4, items.key_size, bytes));
            }
            BucketFunction::Ids(id) => {
                let ids = draw_ids(info, id, ask);
                buckets.of = ids.iter().map(|id| number((*id).into())).collect();
                let size = id.size() as usize;
                let bytes = ids.iter().flat_map(|id| id.to_le_bytes().into_iter().take(size)).collect();
                buckets.given = Some(Array::input("bucket ids", size, size, bytes));
            }
            _ => {
                let signs = |key: &[u8]| key.chunks(4).rev().fold(0, |all, word| 2 * all + u32::from(word[3] >> 7));
                buckets.of = all.map(|index| signs(items.key(index))).collect();
            }
        }
        buckets
    }

    /// Items of each bucket of a run, and behind them those of none.
    fn counts(&self, run: &Range<usize>) -> Vec<u32> {
        let mut counts = vec![0; self.count + 1];
        self.of[run.clone()].iter().for_each(|bucket| counts[*bucket as usize] += 1);
        counts
    }
}

/// The first key of the first range and the width of a range: often so that keys fall into several.
fn draw_range(info: &SplitterInfo, items: &Items, random: &mut Random) -> (u64, u64) {
    let bits = keys::bits(info.key);
    let most = u64::MAX >> (64 - bits);
    let count = items.keys.len() / items.key_size;
    let low = match random.below(4) {
        0 if count != 0 => {
            let key = items.key(random.index(count));
            key.iter().rev().fold(0, |low, byte| low << 8 | u64::from(*byte))
        }
        1 => random.draw() & most,
        2 => random.pick(&[0, most, most / 2, most / 2 + 1]),
        _ => 0,
    };
    let even = most / u64::from(info.buckets);
    let width = match random.below(4) {
        0 => 1 + random.draw() % even.max(1),
        1 => 1 + (random.draw() & most) % (1 << random.below(bits)),
        2 => random.pick(&[1, most, most / 2 + 1, even]),
        _ => even,
    };
    (low, width.clamp(1, most))
}

/// Items that a placed output has more room for than there are.
fn more_room(ask: &Ask) -> usize {
    ask.stream(Stream::Layout).index(70)
}

/// Whether items may belong to no bucket.
fn may_stray(info: &SplitterInfo) -> bool {
    match info.function {
        BucketFunction::Bits { .. } => !info.buckets.is_power_of_two(),
        BucketFunction::Ids(id) => u64::from(info.buckets) < 1 << (8 * id.size()),
        _ => false,
    }
}

/// The place of each item of a run, where the caller says that buckets begin.
fn placed_at(starts: &[u32], buckets: &Buckets, run: &Range<usize>) -> Vec<(u64, usize)> {
    let mut next: Vec<u64> = starts.iter().map(|start| (*start).into()).collect();
    let mut place = |index: usize| {
        let next = &mut next[buckets.of[index] as usize];
        *next += 1;
        (*next - 1, index)
    };
    run.clone().map(&mut place).collect()
}

/// All that a split shall write, apart from items: offsets, counts, commands.
struct Results {
    offsets: Vec<u32>,
    counts: Vec<u32>,
    commands: Vec<u32>,
}

const OFFSETS: u32 = 1;
const COUNTS: u32 = 2;
const COMMANDS: u32 = 4;

/// The `VkDispatchIndirectCommand` for so many items: in one row, or in as few as the device needs.
fn command(items: u32, command_items: u32, max_groups_x: u32) -> [u32; 3] {
    if items == 0 {
        return EMPTY_COMMAND;
    }
    let groups = items.div_ceil(command_items);
    let rows = groups.div_ceil(max_groups_x);
    [groups.div_ceil(rows), rows, 1]
}

impl Results {
    fn new(buckets: &Buckets, runs: &[Range<usize>], segments: Option<(u32, u32)>, command_items: u32, max_groups_x: u32) -> Self {
        let mut results = Self { offsets: Vec::new(), counts: Vec::new(), commands: Vec::new() };
        let mut add = |first: u32, counts: &[u32]| {
            results.offsets.push(first);
            counts.iter().fold(first, |end, count| {
                results.offsets.push(end + count);
                end + count
            });
            results.counts.extend(counts);
            results.commands.extend(counts.iter().flat_map(|count| command(*count, command_items, max_groups_x)));
        };
        for run in runs {
            add(u32::try_from(run.start).unwrap_or(u32::MAX), &buckets.counts(run)[..buckets.count]);
        }
        if let Some((max, end)) = segments {
            (runs.len()..max as usize).for_each(|_| add(end, &vec![0; buckets.count]));
        }
        results
    }
}

impl Splitting {
    fn items(&self, ask: &Ask) -> Items {
        Items::draw(ask, self.0.info().key, self.0.info().value)
    }

    /// Of a workgroup of the commands.
    fn command_items(ask: &Ask, max_groups_x: u32) -> u32 {
        let drawn = ask.stream(Stream::Layout).log_between(1, 3000);
        drawn.max(ask.items.div_ceil(max_groups_x.saturating_mul(MOST_ROWS)))
    }

    fn strides(&self, ask: &Ask) -> Strides {
        let info = self.0.info();
        let none =
            Items { keys: Vec::new(), key_size: keys::size(info.key), values: Vec::new(), value_size: value_size(info.value) };
        none.strides(info.layout, info.value, ask)
    }

    /// Where keys and values go.
    fn outputs(&self, ask: &Ask, items: &Items, more: usize) -> Vec<(Array, Vec<u8>)> {
        let info = self.0.info();
        let mut noise = ask.stream(Stream::Noise);
        let mut room = |role, size: usize, dense: Vec<u8>| {
            (Array::room(role, size.min(4), size, ask.items as usize + more, &mut noise), dense)
        };
        match (info.output, info.layout) {
            (SplitOutput::Counts, _) => Vec::new(),
            (SplitOutput::Ranks, _) => vec![room("values out", 4, Vec::new())],
            (_, Layout::Interleaved) => vec![room("keys out", items.key_size + items.value_size, items.interleaved())],
            _ => {
                let keys = (!info.drop_keys).then(|| room("keys out", items.key_size, items.keys.clone()));
                let has_values = info.value != ValueType::None;
                let values = has_values.then(|| room("values out", items.value_size, items.values.clone()));
                keys.into_iter().chain(values).collect()
            }
        }
    }

    /// Where each bucket begins: in any order, with room between. Hostile ones overlap or lie beyond the output.
    fn starts(ask: &Ask, counts: &[u32], more: usize) -> Vec<u32> {
        let mut random = ask.stream(Stream::Buckets);
        let room = ask.items + u32::try_from(more).unwrap_or(0);
        if ask.hostile {
            let mut start = |count: &u32| match random.below(4) {
                0 => random.pick(&[room, room + 1, u32::MAX, u32::MAX - 1, 1 << 31, 1 << 30]),
                1 => random.between(0, room),
                _ => random.between(0, room - count),
            };
            return counts.iter().map(&mut start).collect();
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        random.shuffle(&mut order);
        let mut spare = room - counts.iter().sum::<u32>();
        let (mut starts, mut end) = (vec![0; counts.len()], 0);
        for bucket in order {
            let gap = random.between(0, spare).min(random.log_between(0, spare));
            spare -= gap;
            starts[bucket] = end + gap;
            end = starts[bucket] + counts[bucket];
        }
        starts
    }

    fn placed_starts(&self, ask: &Ask, buckets: &Buckets, run: &Range<usize>) -> Vec<u32> {
        let mut counts = buckets.counts(run);
        counts.truncate(buckets.count + usize::from(may_stray(self.0.info())));
        Self::starts(ask, &counts, more_room(ask))
    }

    /// Whether items have no room where their buckets are said to begin.
    fn overflows(&self, ask: &Ask, buckets: &Buckets, runs: &[Range<usize>]) -> bool {
        let room = u64::from(ask.items) + more_room(ask) as u64;
        let overflow =
            |run| placed_at(&self.placed_starts(ask, buckets, run), buckets, run).iter().any(|(place, _)| *place >= room);
        runs.iter().any(overflow)
    }

    /// What is written of items.
    fn write(&self, ask: &Ask, items: &Items, buckets: &Buckets, runs: Option<&[Range<usize>]>) -> Vec<Array> {
        let info = self.0.info();
        let placed = info.output == SplitOutput::Placed;
        let more = if placed { more_room(ask) } else { 0 };
        let outputs = self.outputs(ask, items, more);
        let Some(runs) = runs else {
            return outputs
                .into_iter()
                .map(|(mut array, _)| {
                    array.free_all();
                    array
                })
                .collect();
        };
        let order = stable_order(runs, ask.items as usize, |index| buckets.of[index]);
        let mut arrays = Vec::new();
        let mut starts = None;
        if placed {
            let found = self.placed_starts(ask, buckets, &runs[0]);
            arrays.push(Array::words("starts", &found));
            starts = Some(found);
        }
        for (mut array, dense) in outputs {
            match info.output {
                _ if buckets.unsorted && info.output == SplitOutput::Buckets && !info.segmented => {
                    let end = runs[0].end * array.item;
                    runs[0].clone().for_each(|place| array.expect(place, &dense, place));
                    array.permuted = Some(0..end);
                }
                _ if buckets.unsorted => array.free_all(),
                SplitOutput::Ranks => {
                    let mut next = vec![0u32; buckets.count + 1];
                    for index in runs[0].clone() {
                        let rank = &mut next[buckets.of[index] as usize];
                        array.expected[4 * index..][..4].copy_from_slice(&rank.to_le_bytes());
                        *rank += 1;
                    }
                }
                SplitOutput::Bucket(one) => {
                    let wanted = order[runs[0].clone()].iter().filter(|index| buckets.of[**index as usize] == one);
                    wanted.enumerate().for_each(|(place, index)| array.expect(place, &dense, *index as usize));
                }
                SplitOutput::Placed => {
                    let mut times = vec![0u32; ask.items as usize + more];
                    for (place, index) in placed_at(starts.as_deref().unwrap_or(&[]), buckets, &runs[0]) {
                        if let Some(times) = usize::try_from(place).ok().and_then(|place| times.get_mut(place)) {
                            array.expect(usize::try_from(place).unwrap_or(0), &dense, index);
                            *times += 1;
                        }
                    }
                    // Where buckets overlap, either may be what is left.
                    let twice = times.iter().enumerate().filter(|(_, times)| **times > 1);
                    twice.for_each(|(place, _)| array.free_items(place..place + 1));
                }
                _ => runs.iter().flat_map(Clone::clone).for_each(|place| array.expect(place, &dense, order[place] as usize)),
            }
            arrays.push(array);
        }
        arrays
    }

    fn info(&self, ask: &Ask, places: &Places) -> SplitInfo {
        let (info, strides) = (self.0.info(), self.strides(ask));
        let max_groups_x = self.0.device().profile().max_groups_x;
        let (low, width) = if info.function == BucketFunction::Range {
            draw_range(info, &self.items(ask), &mut ask.stream(Stream::Buckets))
        } else {
            (0, 0)
        };
        SplitInfo {
            count: if ask.segments.is_some() { Count::host(ask.items) } else { ask.count.of(ask.items, places) },
            keys: places.range("keys"),
            values: places.range("values"),
            keys_out: places.range("keys out"),
            values_out: places.range("values out"),
            key_stride: strides.key,
            value_stride: strides.value,
            segments: ask.segments.map_or(Segments::default(), |segments| Segments {
                offsets: places.range("segment offsets"),
                count: segments.count.of(segments.max, places),
            }),
            low,
            width,
            splitters: places.range("splitters"),
            bucket_ids: places.range("bucket ids"),
            starts: places.range("starts"),
            offsets: places.range("offsets"),
            counts: places.range("counts"),
            commands: places.range("commands"),
            command_items: Self::command_items(ask, max_groups_x),
            status: places.address("status"),
            ..SplitInfo::default()
        }
    }
}

impl Handle for Splitting {
    fn arrays(&self, ask: &Ask, limits: &Limits) -> Vec<Array> {
        let (info, items, offsets) = (self.0.info(), self.items(ask), ask.offsets());
        let runs = ask.runs(&offsets);
        let buckets = Buckets::new(info, &items, ask);
        let reads_values = !matches!(info.value, ValueType::None | ValueType::Index);
        let mut arrays = items.inputs(info.layout, self.strides(ask), reads_values, ask);
        arrays.extend(self.write(ask, &items, &buckets, runs.as_deref()));
        arrays.extend(buckets.given.clone().filter(|given| !given.before.is_empty()));
        arrays.extend(ask.segments.map_or(ask.count, |segments| segments.count).array());
        arrays.extend(ask.segments.map(|_| Array::words("segment offsets", &offsets)));

        let mut noise = ask.stream(Stream::Noise);
        let determined = runs.as_deref().unwrap_or(&[]);
        let segments = ask.segments.map(|segments| (segments.max, offsets[determined.len()].min(ask.items)));
        let max_groups_x = limits.profile.max_groups_x;
        let results = Results::new(&buckets, determined, segments, Self::command_items(ask, max_groups_x), max_groups_x);
        let all =
            [(OFFSETS, "offsets", results.offsets), (COUNTS, "counts", results.counts), (COMMANDS, "commands", results.commands)];
        for (_, role, words) in all.into_iter().filter(|(bit, ..)| ask.results & bit != 0) {
            let mut array = Array::results(role, &words, &mut noise);
            if runs.is_none() || buckets.unsorted {
                array.free_all();
            }
            arrays.push(array);
        }
        if ask.status {
            let strays = determined.iter().any(|run| buckets.of[run.clone()].contains(&info.buckets));
            let clamped = if ask.is_clamped(&offsets) { STATUS_COUNT_CLAMPED } else { 0 };
            let overflows = info.output == SplitOutput::Placed && self.overflows(ask, &buckets, determined);
            let expected = clamped | if strays { STATUS_NO_BUCKET } else { 0 } | if overflows { STATUS_OUTPUT_CLAMPED } else { 0 };
            let mut status = Array::results("status", &[expected], &mut noise);
            // Where splitters are unsorted, nobody says which bucket has room for an item.
            if runs.is_none() || buckets.unsorted && info.output == SplitOutput::Placed {
                status.free_all();
            }
            arrays.push(status);
        }
        arrays
    }

    fn request(&self, ask: &Ask, places: &Places) -> Request<'_> {
        Request::Split(&self.0, self.info(ask, places))
    }

    fn scratch_size(&self, ask: &Ask) -> trommel::Result<u64> {
        self.0.scratch_size(ask.items)
    }

    unsafe fn record(&self, commands: vk::CommandBuffer, ask: &Ask, places: &Places, scratch: Scratch) -> trommel::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.cmd_split(commands, &SplitInfo { scratch, ..self.info(ask, places) }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Data;

    fn ask(items: u32) -> Ask {
        let (count, data) = (CountAt::Host, Data::Random);
        Ask { items, count, segments: None, status: true, results: 7, hostile: false, data, seed: 5 }
    }

    fn items(keys: &[u32]) -> Items {
        let bytes = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        Items { keys: bytes, key_size: 4, values: Vec::new(), value_size: 0 }
    }

    #[test]
    fn keys_go_to_the_buckets_that_the_function_says() {
        let of = |info: SplitterInfo, keys: &[u32]| Buckets::new(&info, &items(keys), &ask(u32::try_from(keys.len()).unwrap())).of;
        let bits = SplitterInfo::keys(6, BucketFunction::Bits { begin_bit: 4 });
        assert_eq!(of(bits, &[0x00, 0x1f, 0x50, 0x60, 0x7f, 0x80]), [0, 1, 5, 6, 6, 0]);
        assert_eq!(of(SplitterInfo::keys(1, BucketFunction::Bits { begin_bit: 4 }), &[0x00, 0xff]), [0, 0]);
        let signs = SplitterInfo { key: KeyType::F32, ..SplitterInfo::keys(2, BucketFunction::Signs) };
        assert_eq!(of(signs, &[(-0.0f32).to_bits(), 1f32.to_bits(), f32::NAN.to_bits() | 1 << 31]), [1, 0, 1]);
        let one = SplitterInfo::keys(1, BucketFunction::Splitters);
        assert_eq!(of(one, &[3, u32::MAX]), [0, 0]);
    }

    #[test]
    fn octants_have_a_bit_for_each_word() {
        let info = SplitterInfo { key: KeyType::U32x3, ..SplitterInfo::keys(8, BucketFunction::Signs) };
        let key =
            |signs: [bool; 3]| signs.map(|sign| if sign { 0x8000_0001u32 } else { 0x7fff_ffff }).map(u32::to_le_bytes).concat();
        let keys = [key([true, false, false]), key([false, true, false]), key([true, false, true])].concat();
        let items = Items { keys, key_size: 12, values: Vec::new(), value_size: 0 };
        assert_eq!(Buckets::new(&info, &items, &ask(3)).of, [1, 2, 5]);
    }

    #[test]
    fn ranges_and_splitters_have_their_borders() {
        let mut seen = [false; 2];
        for seed in 0..50 {
            let ask = Ask { seed, ..ask(2000) };
            let info = SplitterInfo { key: KeyType::I32, ..SplitterInfo::keys(7, BucketFunction::Range) };
            let items = Items::draw(&ask, info.key, ValueType::None);
            let buckets = Buckets::new(&info, &items, &ask);
            let number = |index: usize| i64::from(i32::from_le_bytes(items.key(index).try_into().unwrap()));
            let low = i64::from(u32::try_from(buckets.low).unwrap().cast_signed());
            for (index, bucket) in buckets.of.iter().enumerate() {
                let expected = if number(index) < low { 0 } else { ((number(index) - low).unsigned_abs() / buckets.width).min(6) };
                assert_eq!(u64::from(*bucket), expected);
                seen[0] |= *bucket == 3;
            }
            let info = SplitterInfo { function: BucketFunction::Splitters, ..info };
            let buckets = Buckets::new(&info, &items, &ask);
            let splitters: Vec<i64> =
                buckets.given.unwrap().before.chunks(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()).into()).collect();
            assert!(splitters.len() == 6 && splitters.is_sorted());
            for (index, bucket) in buckets.of.iter().enumerate() {
                let below = splitters.iter().filter(|splitter| **splitter <= number(index)).count();
                assert_eq!(*bucket as usize, below);
                seen[1] |= below == 3;
            }
        }
        assert_eq!(seen, [true; 2], "keys fall into the middle");
    }

    #[test]
    fn results_are_told_of_every_segment() {
        let mut buckets = Buckets { of: vec![1, 0, 2, 1, 1], count: 2, given: None, low: 0, width: 0, unsorted: false };
        let results = Results::new(&buckets, &[0..2, 2..5], Some((3, 5)), 1, 2);
        assert_eq!(results.offsets, [0, 1, 2, 2, 2, 4, 5, 5, 5]);
        assert_eq!(results.counts, [1, 1, 0, 2, 0, 0]);
        assert_eq!(results.commands[..6], [1, 1, 1, 1, 1, 1]);
        assert_eq!(results.commands[6..12], [0, 1, 1, 2, 1, 1]);
        buckets.of = vec![0; 7];
        let all: Vec<_> = std::iter::once(0..7).collect();
        let alone = Results::new(&buckets, &all, None, 1, 2);
        assert_eq!((alone.offsets, alone.counts), (vec![0, 7, 7], vec![7, 0]));
        assert_eq!(alone.commands[..3], [2, 4, 1], "seven groups in rows of at most two");
    }

    #[test]
    fn starts_leave_room_for_every_bucket_unless_they_are_hostile() {
        let buckets = Buckets { of: vec![1, 0, 2, 1, 1], count: 2, given: None, low: 0, width: 0, unsorted: false };
        let all = 0..5;
        let mut overlaps = 0;
        for seed in 0..100 {
            for hostile in [false, true] {
                let ask = Ask { hostile, seed, ..ask(5) };
                let starts = Splitting::starts(&ask, &buckets.counts(&all), 4);
                let mut places: Vec<u64> = placed_at(&starts, &buckets, &all).iter().map(|(place, _)| *place).collect();
                places.sort_unstable();
                places.dedup();
                assert!(hostile || places.last().is_some_and(|place| *place < 9));
                assert!(hostile || places.len() == 5, "buckets are apart");
                overlaps += usize::from(places.len() < 5);
            }
        }
        assert!(overlaps > 20, "{overlaps}");
        assert_eq!(placed_at(&[7, 2, 0], &buckets, &all), [(2, 0), (7, 1), (0, 2), (3, 3), (4, 4)]);
    }

    #[test]
    fn ids_beyond_the_buckets_are_drawn() {
        let info = SplitterInfo::keys(10, BucketFunction::Ids(IdType::U8));
        let mut strays = 0;
        for seed in 0..40 {
            let ask = Ask { seed, hostile: true, ..ask(100) };
            let buckets = Buckets::new(&info, &Items::draw(&ask, KeyType::U32, ValueType::None), &ask);
            assert!(buckets.of.iter().all(|bucket| *bucket <= 10));
            strays += usize::from(buckets.of.contains(&10));
        }
        assert!((20..=40).contains(&strays), "{strays}");
    }
}
