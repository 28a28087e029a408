//! Sorts.

mod calls;

use crate::arena::{Array, ArrayRanges};
use crate::comparators::Comparator;
use crate::items::{Items, Stream, Strides, stable_order, value_size};
use crate::keys::{self, words};
use crate::primitive::{Ask, Handle, HandleInfo, Limits, Prepared, Primitive, draw_max_count, draw_strategy};
use crate::profiles::{Draws, Line, draw_ranking};
use crate::random::Random;
use ash::vk;
use std::ops::Range;
use trommel::{
    Count, Device, KeyType, Layout, Order, Placement, Request, STATUS_COUNT_CLAMPED, Scratch, Segments,
    SortComparatorKernel, SortInfo, Sorter, SorterInfo, ValueType,
};

/// The sort.
#[derive(Clone, Copy, Debug)]
pub struct Sorts;

pub(crate) static PRIMITIVE: Sorts = Sorts;

fn draw_info(limits: &Limits, random: &mut Random) -> SorterInfo {
    let key = random.pick(&KeyType::ALL);
    let bits = keys::bits(key);
    let (begin_bit, end_bit) = match random.below(8) {
        0 => (random.below(bits), 0),
        1 => (0, random.between(1, bits)),
        2 | 3 => {
            let begin = random.below(bits);
            (begin, random.between(begin + 1, bits))
        }
        _ => (0, 0),
    };
    let value = match random.below(20) {
        0..6 => ValueType::None,
        6..11 => ValueType::U32,
        11..15 => ValueType::Bytes(4 * random.between(1, 4)),
        15..18 => ValueType::Index,
        18 => ValueType::Bytes(4 * random.between(5, 40)),
        _ => ValueType::Bytes(4 * random.log_between(5, 1024)),
    };
    SorterInfo {
        key,
        order: random.pick(&[Order::Ascending, Order::Descending]),
        begin_bit,
        end_bit,
        value,
        drop_keys: random.chance(1, 6),
        placement: random.pick(&[Placement::InPlace, Placement::Preserve, Placement::DoubleBuffer]),
        layout: random.pick(&[
            Layout::Separate,
            Layout::Separate,
            Layout::Separate,
            Layout::Interleaved,
            Layout::Strided,
        ]),
        segmented: random.chance(1, 5),
        max_count: draw_max_count(limits, random),
        strategy: draw_strategy(random),
        batches: true,
        deferred: false,
    }
}

/// The most keys of a sort with a comparator.
const MOST_COMPARED: u32 = 1 << 30;

/// The info with what a comparator requires: the order of whole keys is its own, and there are no segments.
fn with_comparator(info: SorterInfo, comparator: &Comparator) -> SorterInfo {
    SorterInfo {
        key: comparator.key,
        order: Order::Ascending,
        begin_bit: 0,
        end_bit: 0,
        segmented: false,
        max_count: if info.max_count == 0 { MOST_COMPARED } else { info.max_count.min(MOST_COMPARED) },
        ..info
    }
}

impl Primitive for Sorts {
    fn name(&self) -> &'static str {
        "sort"
    }

    fn profile_lines(&self) -> &'static [Line] {
        &[
            ("sort.*.ranked", |draws, random| draws.list(random, 2, Draws::ranked)),
            ("sort.*.small", |draws, random| draws.list(random, 4, Draws::small)),
            ("sort.*.merges", |draws, random| draws.list(random, 3, Draws::merge)),
            ("sort.*.by_comparator", |draws, random| draws.whole_merge(random)),
            ("sort.finish", |draws, random| draws.shape(random, 16)),
            ("sort.prefixes_up_to", |_, random| random.pick(&[0, 300, 4000, 1 << 20, u32::MAX]).to_string()),
            ("sort.small_ranking", |_, random| draw_ranking(random).into()),
        ]
    }

    fn plain_lines(&self) -> &'static [(&'static str, &'static str)] {
        &[("sort.prefixes_up_to", "0")]
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Box<dyn HandleInfo> {
        loop {
            let comparator = random.chance(1, 12).then(|| Comparator::draw(random));
            let info = draw_info(limits, random);
            let info = comparator.map_or(info, |comparator| with_comparator(info, comparator));
            if info.check().is_ok() {
                return Box::new(Info(info, comparator));
            }
        }
    }
}

/// The compiled module of a comparator.
fn module(comparator: &Comparator) -> Vec<u32> {
    words(match comparator.name {
        "masked" => include_bytes!("../../../tests/kernels/sort_masked_u32.spv"),
        _ => include_bytes!("../../../tests/kernels/sort_last_word_u32x3.spv"),
    })
}

#[derive(Debug)]
struct Info(SorterInfo, Option<&'static Comparator>);

impl HandleInfo for Info {
    fn create(&self, device: &Device) -> trommel::Result<Box<dyn Handle>> {
        let Self(info, comparator) = self;
        let sorter = match comparator {
            None => Sorter::new(device, info)?,
            Some(comparator) => {
                let kernel = SortComparatorKernel::from_spirv(&module(comparator))?;
                // SAFETY: the compiler has created the module from a valid function.
                unsafe { Sorter::with_comparator(device, info, &kernel)? }
            }
        };
        Ok(Box::new(Sorting(sorter, *comparator)))
    }

    fn describe(&self) -> String {
        let comparator = self.1.map(|comparator| format!(" by {} {:x?}", comparator.name, comparator.words));
        format!("{:?}{}", self.0, comparator.unwrap_or_default())
    }

    fn strategy(&self) -> Option<&'static str> {
        Some(self.0.strategy.name())
    }

    fn is_segmented(&self) -> bool {
        self.0.segmented
    }

    fn primitive(&self) -> &'static str {
        Sorts.name()
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Ask {
        let most = if self.0.max_count == 0 { u32::MAX } else { self.0.max_count };
        let limits = Limits { max_items: limits.max_items.min(most), ..limits.clone() };
        let copies = if self.0.placement == Placement::InPlace { 1 } else { 2 };
        Ask::draw(&limits, copies * (keys::size(self.0.key) + value_size(self.0.value)), self.0.segmented, random)
    }

    fn simpler(&self) -> Vec<Box<dyn HandleInfo>> {
        let (info, plain) = (self.0, SorterInfo::keys());
        let all = [
            SorterInfo { strategy: plain.strategy, ..info },
            SorterInfo { max_count: 0, ..info },
            SorterInfo { value: ValueType::None, drop_keys: false, ..info },
            SorterInfo { value: ValueType::U32, ..info },
            SorterInfo { drop_keys: false, ..info },
            SorterInfo { layout: plain.layout, ..info },
            SorterInfo { placement: plain.placement, ..info },
            SorterInfo { segmented: false, ..info },
            SorterInfo { begin_bit: 0, end_bit: 0, ..info },
            SorterInfo { order: plain.order, ..info },
            SorterInfo { key: KeyType::U32, begin_bit: 0, end_bit: 0, ..info },
            SorterInfo { key: KeyType::U32, ..info },
        ];
        let of = |simpler: SorterInfo, comparator: Option<&'static Comparator>| {
            let simpler = comparator.map_or(simpler, |comparator| with_comparator(simpler, comparator));
            (simpler, comparator)
        };
        let all = self.1.map(|_| (info, None)).into_iter().chain(all.into_iter().map(|simpler| of(simpler, self.1)));
        let valid = all.filter(|simpler| simpler.0 != info || simpler.1.is_some() != self.1.is_some());
        let valid = valid.filter(|(simpler, _)| simpler.check().is_ok());
        valid.map(|(info, comparator)| Box::new(Self(info, comparator)) as Box<dyn HandleInfo>).collect()
    }
}

#[derive(Debug)]
struct Sorting(Sorter, Option<&'static Comparator>);

/// The field of a key that it is sorted by.
fn field(info: &SorterInfo, key: &[u8]) -> u128 {
    let end = if info.end_bit == 0 { keys::bits(info.key) } else { info.end_bit };
    let below_end = keys::position(info.key, key) << (128 - end) >> (128 - end);
    let field = below_end >> info.begin_bit;
    // Fields are compared by their complement where the largest comes first.
    if info.order == Order::Descending { u128::MAX - field } else { field }
}

/// The sorted order of items, from which the expected content of both sides follows.
struct Sides<'a> {
    runs: Option<&'a [Range<usize>]>,
    order: &'a [u32],
}

impl Sides<'_> {
    /// Sets the expected content of an array: of the result or, for a double buffer, of the other side.
    fn write(&self, mut array: Array, dense: &[u8], is_result: bool) -> Array {
        let Some(runs) = self.runs else {
            array.free_all();
            return array;
        };
        for run in runs {
            if is_result {
                run.clone().for_each(|target| array.expect(target, dense, self.order[target] as usize));
            } else {
                array.free_items(run.clone());
            }
        }
        array
    }
}

impl Sorting {
    fn strides(&self, items: &Items, ask: &Ask) -> Strides {
        items.strides(self.0.info().layout, self.0.info().value, ask)
    }

    fn items(&self, ask: &Ask) -> Items {
        Items::draw(ask, self.0.info().key, self.0.info().value)
    }

    /// The arrays of keys and values on both sides.
    fn item_arrays(&self, ask: &Ask, sides: &Sides<'_>, items: &Items) -> Vec<Array> {
        let info = self.0.info();
        let (count, result) = (ask.items as usize, self.0.result_side());
        let mut noise = ask.stream(Stream::Noise);
        let preserved = info.placement == Placement::Preserve;
        let second = info.placement != Placement::InPlace;
        let has_values = info.value != ValueType::None;
        if info.layout == Layout::Interleaved {
            let (size, both) = (items.key_size + items.value_size, items.interleaved());
            let input = Array::input("keys", 4, size, both.clone());
            let out = second.then(|| Array::room("keys out", 4, size, count, &mut noise));
            let first = if preserved { input } else { sides.write(input, &both, result == 0) };
            return std::iter::once(first).chain(out.map(|out| sides.write(out, &both, result == 1))).collect();
        }
        let reads_values = has_values && info.value != ValueType::Index;
        let mut arrays = items.inputs(info.layout, self.strides(items, ask), reads_values, ask);
        if info.value == ValueType::Index && !preserved {
            arrays.push(Array::room("values", 4, 4, count, &mut noise));
        }
        if !preserved {
            for array in &mut arrays {
                let (dense, dropped) =
                    if array.role == "keys" { (&items.keys, info.drop_keys) } else { (&items.values, false) };
                *array = sides.write(std::mem::take(array), dense, result == 0 && !dropped);
            }
        }
        if second && !(preserved && info.drop_keys) {
            let room = Array::room("keys out", items.key_size.min(4), items.key_size, count, &mut noise);
            arrays.push(sides.write(room, &items.keys, result == 1 && !info.drop_keys));
        }
        if second && has_values {
            let room = Array::room("values out", 4, items.value_size, count, &mut noise);
            arrays.push(sides.write(room, &items.values, result == 1));
        }
        arrays
    }
}

impl Handle for Sorting {
    fn arrays(&self, ask: &Ask, _: &Limits) -> Vec<Array> {
        let (info, items, offsets) = (self.0.info(), self.items(ask), ask.offsets());
        let runs = ask.runs(&offsets);
        let rank = |key: &[u8]| self.1.map_or_else(|| field(info, key), |comparator| comparator.rank(key));
        let ranks: Vec<u128> = (0..ask.items as usize).map(|index| rank(items.key(index))).collect();
        let order = stable_order(runs.as_deref().unwrap_or(&[]), ask.items as usize, |index| ranks[index]);
        let sides = Sides { runs: runs.as_deref(), order: &order };
        let mut arrays = self.item_arrays(ask, &sides, &items);
        arrays.extend(ask.segments.map_or(ask.count, |segments| segments.count).array("count"));
        arrays.extend(ask.segments.map(|_| Array::words("segment offsets", &offsets)));
        if ask.status {
            let expected = if ask.is_clamped(&offsets) { STATUS_COUNT_CLAMPED } else { 0 };
            let mut status = Array::results("status", &[expected], &mut ask.stream(Stream::Noise));
            if runs.is_none() {
                status.free_all();
            }
            arrays.push(status);
        }
        arrays
    }

    fn prepare<'a>(&'a self, ask: &Ask, ranges: &ArrayRanges) -> Box<dyn Prepared + 'a> {
        Box::new(Request::Sort(&self.0, self.info(ask, ranges)))
    }

    fn scratch_size(&self, ask: &Ask) -> trommel::Result<u64> {
        self.0.scratch_size(ask.items)
    }

    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        ask: &Ask,
        ranges: &ArrayRanges,
        scratch: Scratch,
    ) -> trommel::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.cmd_sort(commands, &SortInfo { scratch, ..self.info(ask, ranges) }) }
    }
}

impl Sorting {
    fn info(&self, ask: &Ask, ranges: &ArrayRanges) -> SortInfo {
        // Strides depend on sizes alone, so no items are needed for them.
        let info = self.0.info();
        let none = Items {
            keys: Vec::new(),
            key_size: keys::size(info.key),
            values: Vec::new(),
            value_size: value_size(info.value),
        };
        let strides = self.strides(&none, ask);
        SortInfo {
            count: if ask.segments.is_some() {
                Count::host(ask.items)
            } else {
                ask.count.of(ask.items, "count", ranges)
            },
            keys: ranges.range("keys"),
            values: ranges.range("values"),
            keys_out: ranges.range("keys out"),
            values_out: ranges.range("values out"),
            key_stride: strides.key,
            value_stride: strides.value,
            segments: ask.segments.map_or(Segments::default(), |segments| Segments {
                offsets: ranges.range("segment offsets"),
                count: segments.count.of(segments.max, "count", ranges),
            }),
            status: ranges.address("status"),
            user_words: self.1.map_or([0; 4], |comparator| comparator.words),
            ..SortInfo::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_bits_of_the_position() {
        let info = SorterInfo { key: KeyType::I32, begin_bit: 28, end_bit: 32, ..SorterInfo::keys() };
        assert_eq!(field(&info, &(-1i32).to_le_bytes()), 0x7);
        assert_eq!(field(&info, &0i32.to_le_bytes()), 0x8);
        let descending = SorterInfo { order: Order::Descending, ..info };
        assert!(field(&descending, &0i32.to_le_bytes()) < field(&descending, &(-1i32).to_le_bytes()));
        let whole = SorterInfo { key: KeyType::U32x4, ..SorterInfo::keys() };
        assert_eq!(field(&whole, &[0xff; 16]), u128::MAX);
        let middle = SorterInfo { begin_bit: 4, end_bit: 12, ..SorterInfo::keys() };
        assert_eq!(field(&middle, &0xabcd_ef12_u32.to_le_bytes()), 0xf1);
    }

    #[test]
    fn the_result_is_sorted_and_the_other_side_is_free() {
        let run = std::iter::once(1..3).collect::<Vec<_>>();
        let dense = [3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0];
        let sides = Sides { runs: Some(&run), order: &[0, 2, 1] };
        let array = || Array::input("keys", 4, 4, dense.to_vec());
        let result = sides.write(array(), &dense, true);
        assert_eq!((result.expected, result.free), (vec![3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0], vec![]));
        let free = |sides: &Sides<'_>| sides.write(array(), &dense, false).free.pop();
        assert_eq!(free(&sides), Some(4..12));
        assert_eq!(free(&Sides { runs: None, order: &[] }), Some(0..12));
    }
}
