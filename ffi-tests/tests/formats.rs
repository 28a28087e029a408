//! Sorts of every format through the loaded library, against std's stable sort. The tests compare the bytes of the
//! result, the bytes around it, and the bytes of a preserved input.

#![allow(clippy::cast_possible_truncation, reason = "keys are the low bits of noise, and indices are small")]

use anyhow::{Result, ensure};
use bytemuck::{Pod, cast_slice};
use ffi_tests::sort::{sort_info, sorter_info};
use ffi_tests::{Api, Engine, batch_info, library, scratch};
use std::cmp::Ordering;
use trommel::capi::*;
use trommel::host::{Buffer, Context};

/// Bytes before and behind every array.
const GUARD: usize = 64;
const UNTOUCHED: u8 = 0xa5;

/// Counts for a single workgroup and for several tiles.
const COUNTS: [u32; 2] = [300, 20_000];

/// The device count of segments.
const SEGMENTS: u32 = 11;

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)
}

/// Pseudorandom bits of an index.
fn noise(index: usize) -> u64 {
    let mut bits = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

fn items<T>(count: u32, item: impl Fn(usize) -> T) -> Vec<T> {
    (0..count as usize).map(item).collect()
}

/// Indices of the keys in sorted order, stably.
fn argsort<K>(keys: &[K], compare: impl Fn(&K, &K) -> Ordering) -> Vec<usize> {
    let mut order: Vec<_> = (0..keys.len()).collect();
    order.sort_by(|a, b| compare(&keys[*a], &keys[*b]));
    order
}

/// The bytes of the items at these indices.
fn picked<T: Pod>(items: &[T], order: &[usize]) -> Vec<u8> {
    order.iter().flat_map(|index| bytemuck::bytes_of(&items[*index])).copied().collect()
}

fn indices(order: &[usize]) -> Vec<u8> {
    order.iter().flat_map(|index| u32::try_from(*index).unwrap_or(u32::MAX).to_ne_bytes()).collect()
}

/// Items between guards, with no larger alignment than they require.
struct Array {
    buffer: Buffer,
    /// First byte of the items.
    start: usize,
    items: Vec<u8>,
}

impl Array {
    fn new<T: Pod>(context: &Context, alignment: usize, items: &[T]) -> Result<Self> {
        let (items, start) = (cast_slice::<T, u8>(items).to_vec(), GUARD + alignment);
        let mut bytes = vec![UNTOUCHED; (start + items.len() + GUARD).next_multiple_of(4)];
        bytes[start..start + items.len()].copy_from_slice(&items);
        Ok(Self { buffer: context.upload(&bytes)?, start, items })
    }

    /// An array with the size and alignment of `other`.
    fn like(context: &Context, other: &Self) -> Result<Self> {
        Self::new(context, other.start - GUARD, &vec![0x5au8; other.items.len()])
    }

    fn range(&self) -> TrmRange {
        TrmRange { address: self.buffer.address() + self.start as u64, size: self.items.len() as u64 }
    }

    /// Downloads the items. Fails if a guard has changed.
    fn read(&self, context: &Context) -> Result<Vec<u8>> {
        let bytes = context.download::<u8>(&self.buffer, usize::try_from(self.buffer.size())?)?;
        let (before, rest) = bytes.split_at(self.start);
        let (items, behind) = rest.split_at(self.items.len());
        ensure!(before.iter().chain(behind).all(|byte| *byte == UNTOUCHED), "written outside");
        Ok(items.to_vec())
    }
}

/// A sort and its expected result.
struct Case {
    name: &'static str,
    sorter: TrmSorterCreateInfo,
    info: TrmSortInfo,
    keys: Array,
    values: Option<Array>,
    out: Option<[Array; 2]>,
    /// Segment offsets.
    offsets: Option<Array>,
    /// The number of segments, if it is on the device.
    segments: Option<Buffer>,
    /// Sorted keys, or interleaved items, and values. None: the content is undefined.
    expected: [Option<Vec<u8>>; 2],
    side: u32,
}

impl Case {
    /// A sort of `count` keys in place.
    fn new(name: &'static str, sorter: TrmSorterCreateInfo, count: u32, keys: Array, values: Option<Array>) -> Self {
        let info = TrmSortInfo {
            count: TrmCount { max: count, address: 0 },
            keys: keys.range(),
            values: values.as_ref().map_or(TrmRange::default(), Array::range),
            ..sort_info()
        };
        Self {
            name,
            sorter,
            info,
            keys,
            values,
            out: None,
            offsets: None,
            segments: None,
            expected: [None, None],
            side: 0,
        }
    }

    /// The same sort with output arrays, or with the second arrays of a double buffer.
    fn out(self, keys: Array, values: Array) -> Self {
        let info = TrmSortInfo { keys_out: keys.range(), values_out: values.range(), ..self.info };
        Self { info, out: Some([keys, values]), side: 1, ..self }
    }

    fn expect(self, keys: Option<Vec<u8>>, values: Option<Vec<u8>>) -> Self {
        Self { expected: [keys, values], ..self }
    }

    fn check(&self, context: &Context, side: u32) -> Result<()> {
        let (name, count) = (self.name, self.info.count.max);
        ensure!(side == self.side, "{name}: the result is on side {side}");
        let offsets =
            self.offsets.as_ref().map(|array| Ok::<_, anyhow::Error>((array.read(context)?, array))).transpose()?;
        ensure!(offsets.is_none_or(|(now, array)| now == array.items), "{name}: offsets of {count} are written");
        let segments = self.segments.as_ref().map(|there| context.download::<u32>(there, 1)).transpose()?;
        ensure!(segments.is_none_or(|now| now == [SEGMENTS]), "{name}: the count of segments of {count} is written");
        let [keys_out, values_out] = self.out.as_ref().map_or([None, None], |out| out.each_ref().map(Some));
        for ((what, expected), (first, second)) in ["keys", "values"]
            .iter()
            .zip(&self.expected)
            .zip([(Some(&self.keys), keys_out), (self.values.as_ref(), values_out)])
        {
            let read = |array: Option<&Array>| array.map(|array| array.read(context)).transpose();
            let (now_first, now_second) = (read(first)?, read(second)?);
            let result = if side == 0 { now_first.as_ref() } else { now_second.as_ref() };
            ensure!(expected.is_none() || result == expected.as_ref(), "{name}: {what} of {count}");
            if self.sorter.placement == TrmPlacement::Preserve as i32 {
                ensure!(
                    now_first.as_deref() == first.map(|array| &array.items[..]),
                    "{name}: {what} of {count} are not preserved"
                );
            }
        }
        Ok(())
    }
}

fn of(key: TrmKeyType, value: TrmValueType) -> TrmSorterCreateInfo {
    TrmSorterCreateInfo { key_type: key as i32, value_type: value as i32, ..sorter_info() }
}

fn of_bytes(key: TrmKeyType, value_size: u32) -> TrmSorterCreateInfo {
    TrmSorterCreateInfo { value_size, ..of(key, TrmValueType::Bytes) }
}

/// Keys alone, sorted in place by a strategy; equal keys are the same.
fn alone<K: Pod>(
    context: &Context,
    (name, key, strategy): (&'static str, TrmKeyType, TrmStrategy),
    mut keys: Vec<K>,
    compare: impl Fn(&K, &K) -> Ordering,
) -> Result<Case> {
    let sorter = TrmSorterCreateInfo { strategy: strategy as i32, ..of(key, TrmValueType::None) };
    let there = Array::new(context, size_of::<K>().min(4), &keys)?;
    let case = Case::new(name, sorter, u32::try_from(keys.len())?, there, None);
    keys.sort_by(compare);
    Ok(case.expect(Some(cast_slice(&keys).to_vec()), None))
}

/// The bits of an `f16` as a number in the total order.
fn half_in_order(bits: u16) -> u16 {
    bits ^ if bits >> 15 == 1 { 0xffff } else { 0x8000 }
}

/// A member of engines' structs, with others around.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Particle {
    position: [f32; 3],
    key: u32,
    id: u32,
}

fn cases(context: &Context, count: u32) -> Result<Vec<Case>> {
    let word = |index: usize| noise(index) as u32;
    let array = |items: &[u32]| Array::new(context, 4, items);
    let ids = items(count, |index| word(index + 7));
    let mut cases = Vec::new();

    let floats = items(count, |index| match noise(index) % 8 {
        0 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN][index % 6],
        _ => f32::from_bits(word(index) & 0xfff0_0000),
    });
    let order = argsort(&floats, |a, b| b.total_cmp(a));
    let sorter = TrmSorterCreateInfo { order: TrmOrder::Descending as i32, ..of(TrmKeyType::F32, TrmValueType::U32) };
    let case = Case::new("f32 descending", sorter, count, Array::new(context, 4, &floats)?, Some(array(&ids)?));
    cases.push(case.expect(Some(picked(&floats, &order)), Some(picked(&ids, &order))));

    let keys = items(count, |index| noise(index) & 0xff00_00ff_0000_000f);
    let values = items(count, |index| [index as u32, 1, 2, 3]);
    let order = argsort(&keys, u64::cmp);
    let (sorter, values_there) = (of_bytes(TrmKeyType::U64, 16), Array::new(context, 4, &values)?);
    let case = Case::new("u64 and 16 bytes", sorter, count, Array::new(context, 4, &keys)?, Some(values_there));
    cases.push(case.expect(Some(picked(&keys, &order)), Some(picked(&values, &order))));

    let mut keys = items(count, |index| noise(index) as i16);
    let case = Case::new("i16", of(TrmKeyType::I16, TrmValueType::None), count, Array::new(context, 2, &keys)?, None);
    keys.sort();
    cases.push(case.expect(Some(cast_slice(&keys).to_vec()), None));

    // One more at an odd address: an array of narrow keys shares its first and last words with its neighbors.
    let keys = items(count, |index| noise(index) as u8);
    let order = argsort(&keys, |a, b| b.cmp(a));
    let sorter = TrmSorterCreateInfo { order: TrmOrder::Descending as i32, ..of(TrmKeyType::U8, TrmValueType::U32) };
    let case = Case::new("u8 descending", sorter, count, Array::new(context, 3, &keys)?, Some(array(&ids)?));
    cases.push(case.expect(Some(picked(&keys, &order)), Some(picked(&ids, &order))));

    let keys = items(count, |index| [-f64::NAN, -0.0, 0.0, f64::from_bits(noise(index))][index % 4]);
    let sorter = TrmSorterCreateInfo {
        placement: TrmPlacement::Preserve as i32,
        flags: TRM_SORTER_CREATE_DROP_KEYS_BIT,
        ..of(TrmKeyType::F64, TrmValueType::Index)
    };
    let case = Case::new("argsort of f64", sorter, count, Array::new(context, 4, &keys)?, None);
    let out = Array::like(context, &array(&ids)?)?;
    let case = Case { info: TrmSortInfo { keys_out: TrmRange::default(), ..case.info }, ..case };
    let nothing = Array::new::<u8>(context, 4, &[])?;
    cases.push(case.out(nothing, out).expect(None, Some(indices(&argsort(&keys, f64::total_cmp)))));

    let pairs = items(count, |index| [word(index) & 0xff_00ff, word(index + 1)]);
    let order = argsort(&pairs, |a, b| a[0].cmp(&b[0]));
    let sorter =
        TrmSorterCreateInfo { layout: TrmLayout::Interleaved as i32, ..of(TrmKeyType::U32, TrmValueType::U32) };
    let case = Case::new("interleaved", sorter, count, Array::new(context, 4, &pairs)?, None);
    cases.push(case.expect(Some(picked(&pairs, &order)), None));

    let particles =
        items(count, |index| Particle { position: [index as f32; 3], key: word(index) % 1000, id: word(index + 2) });
    let order = argsort(&particles, |a, b| a.key.cmp(&b.key));
    let strided = TrmSorterCreateInfo {
        layout: TrmLayout::Strided as i32,
        placement: TrmPlacement::Preserve as i32,
        ..of(TrmKeyType::U32, TrmValueType::Index)
    };
    let member = |particles: &Array, offset: u64| TrmRange {
        address: particles.range().address + offset,
        size: particles.range().size - offset,
    };
    let sorter = TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_DROP_KEYS_BIT, ..strided };
    let case = Case::new("strided keys to indices", sorter, count, Array::new(context, 4, &particles)?, None);
    let case = case.out(Array::new::<u8>(context, 4, &[])?, Array::like(context, &array(&ids)?)?);
    let info = TrmSortInfo { keys: member(&case.keys, 12), key_stride: 20, ..case.info };
    cases.push(Case { info, ..case }.expect(None, Some(indices(&order))));

    let sorter = TrmSorterCreateInfo { value_type: TrmValueType::U32 as i32, ..strided };
    let case = Case::new("strided keys and values", sorter, count, Array::new(context, 4, &particles)?, None);
    let case = case.out(Array::like(context, &array(&ids)?)?, Array::like(context, &array(&ids)?)?);
    let info = TrmSortInfo {
        keys: member(&case.keys, 12),
        values: member(&case.keys, 16),
        key_stride: 20,
        value_stride: 20,
        ..case.info
    };
    let (keys, values) = (items(count, |index| particles[index].key), items(count, |index| particles[index].id));
    cases.push(Case { info, ..case }.expect(Some(picked(&keys, &order)), Some(picked(&values, &order))));

    // Three digits end on the other side than four.
    let keys = items(count, word);
    for (end_bit, side) in [(24, 1), (32, 0)] {
        let order = argsort(&keys, |a, b| (a << (32 - end_bit)).cmp(&(b << (32 - end_bit))));
        let sorter = TrmSorterCreateInfo {
            placement: TrmPlacement::DoubleBuffer as i32,
            end_bit,
            ..of(TrmKeyType::U32, TrmValueType::U32)
        };
        let (keys_there, values_there) = (array(&keys)?, array(&ids)?);
        let (keys_out, values_out) = (Array::like(context, &keys_there)?, Array::like(context, &values_there)?);
        let case = Case::new("double buffer", sorter, count, keys_there, Some(values_there)).out(keys_out, values_out);
        cases.push(Case { side, ..case }.expect(Some(picked(&keys, &order)), Some(picked(&ids, &order))));
    }

    let order = argsort(&keys, |a, b| (a >> 4 & 0xffff).cmp(&(b >> 4 & 0xffff)));
    let sorter = TrmSorterCreateInfo { begin_bit: 4, end_bit: 20, ..of(TrmKeyType::U32, TrmValueType::U32) };
    let case = Case::new("bits 4 to 20", sorter, count, array(&keys)?, Some(array(&ids)?));
    cases.push(case.expect(Some(picked(&keys, &order)), Some(picked(&ids, &order))));

    let values = items(count, |index| [index as u32, 1, 2, 3, 4, 5, word(index)]);
    let keys = items(count, |index| [word(index) % 3, word(index + 1) % 5, word(index + 2)]);
    let order = argsort(&keys, <[u32; 3]>::cmp);
    let (keys_there, values_there) = (Array::new(context, 4, &keys)?, Array::new(context, 4, &values)?);
    let case = Case::new("28 bytes", of_bytes(TrmKeyType::U32X3, 28), count, keys_there, Some(values_there));
    cases.push(case.expect(Some(picked(&keys, &order)), Some(picked(&values, &order))));

    use TrmStrategy::{ChainedScan, Lookback, ReduceThenScan, Ring, RingInOrder};
    let halves = items(count, |index| noise(index) as u16);
    let of_halves = ("f16", TrmKeyType::F16, Ring);
    cases.push(alone(context, of_halves, halves.clone(), |a, b| half_in_order(*a).cmp(&half_in_order(*b)))?);
    cases.push(alone(context, ("u16", TrmKeyType::U16, Lookback), halves, u16::cmp)?);
    cases.push(alone(context, ("i8", TrmKeyType::I8, ChainedScan), items(count, |index| noise(index) as i8), i8::cmp)?);
    cases.push(alone(
        context,
        ("i32", TrmKeyType::I32, RingInOrder),
        items(count, |index| word(index) as i32),
        i32::cmp,
    )?);
    let longs = items(count, |index| (noise(index) & 0xff00_0000_0000_ffff) as i64);
    cases.push(alone(context, ("i64", TrmKeyType::I64, Lookback), longs, i64::cmp)?);
    let twos = items(count, |index| [word(index) % 7, word(index + 1)]);
    cases.push(alone(context, ("two words", TrmKeyType::U32X2, Ring), twos, <[u32; 2]>::cmp)?);
    let fours = items(count, |index| [word(index) % 3, 5, word(index + 1) % 5, word(index + 2)]);
    cases.push(alone(context, ("four words", TrmKeyType::U32X4, ReduceThenScan), fours, <[u32; 4]>::cmp)?);

    // The upper bits alone.
    for strategy in [Lookback, ReduceThenScan] {
        let keys = items(count, word);
        let order = argsort(&keys, |a, b| (a >> 13).cmp(&(b >> 13)));
        let sorter =
            TrmSorterCreateInfo { strategy: strategy as i32, begin_bit: 13, ..of(TrmKeyType::U32, TrmValueType::U32) };
        let case = Case::new("bits 13 to 32", sorter, count, array(&keys)?, Some(array(&ids)?));
        cases.push(case.expect(Some(picked(&keys, &order)), Some(picked(&ids, &order))));
    }

    // Segments of fewer than 14 items, then one segment with all other items.
    let mut offsets = vec![0];
    while offsets.len() < 20 {
        offsets.push(offsets[offsets.len() - 1] + noise(offsets.len()) as u32 % 14);
    }
    offsets.push(count);
    let keys = items(count, word);
    let segment = |index: &usize| offsets.partition_point(|first| *first as usize <= *index);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|index| (segment(index), keys[*index]));
    let sorter =
        TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_SEGMENTED_BIT, ..of(TrmKeyType::U32, TrmValueType::U32) };
    let case = Case::new("segments", sorter, count, array(&keys)?, Some(array(&ids)?));
    let cut = array(&offsets)?;
    let segments = TrmSegments { offsets: cut.range(), count: TrmCount { max: offsets.len() as u32 - 1, address: 0 } };
    let case = Case { info: TrmSortInfo { segments, ..case.info }, offsets: Some(cut), ..case };
    cases.push(case.expect(Some(picked(&keys, &order)), Some(picked(&ids, &order))));

    // The same offsets with a smaller number of segments, on the device.
    let end = offsets[SEGMENTS as usize].min(count) as usize;
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order[..end].sort_by_key(|index| (segment(index), keys[*index]));
    let case = Case::new("segments by a count on the device", sorter, count, array(&keys)?, Some(array(&ids)?));
    let (cut, there) = (array(&offsets)?, context.upload(&[SEGMENTS])?);
    let number = TrmCount { max: offsets.len() as u32 - 1, address: there.address() };
    let segments = TrmSegments { offsets: cut.range(), count: number };
    let case = Case { info: TrmSortInfo { segments, ..case.info }, offsets: Some(cut), segments: Some(there), ..case };
    cases.push(case.expect(Some(picked(&keys, &order)), Some(picked(&ids, &order))));

    let keys: Vec<u32> = items(count, word);
    let order = argsort(&keys, u32::cmp);
    let sorter = TrmSorterCreateInfo { max_count: u32::MAX, ..of(TrmKeyType::U32, TrmValueType::None) };
    cases.push(
        Case::new("as many as there may be", sorter, count, array(&keys)?, None)
            .expect(Some(picked(&keys, &order)), None),
    );

    let order = argsort(&floats, f32::total_cmp);
    let keys = items(count, |index| (floats[index].to_bits() >> 16) as u16);
    let sorter = TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_DROP_KEYS_BIT, ..of_bytes(TrmKeyType::BF16, 8) };
    let pairs = items(count, |index| [index as u32, word(index)]);
    let case =
        Case::new("bf16 dropped", sorter, count, Array::new(context, 2, &keys)?, Some(Array::new(context, 4, &pairs)?));
    cases.push(case.expect(None, Some(picked(&pairs, &order))));
    Ok(cases)
}

/// Returns the sorter's result side.
fn result_side(api: &Api, sorter: TrmSorter) -> Result<u32> {
    let mut side = u32::MAX;
    // SAFETY: the handle is a live sorter.
    ensure!(unsafe { (api.sort.trmGetSorterResultSide)(sorter, &mut side) } == 0, api.last_error());
    Ok(side)
}

/// With the ring, scratch is the size of the alternate arrays plus a constant.
#[test]
fn scratch_of_the_ring() -> Result<()> {
    let engine = engine()?;
    let ring = TrmSorterCreateInfo { strategy: TrmStrategy::Ring as i32, ..of(TrmKeyType::U32, TrmValueType::U32) };
    let sorter = engine.sorter_of(&ring)?;
    let beside = |count: u32| -> Result<u64> {
        let mut size = 0;
        // SAFETY: the handle is a live sorter.
        let result = unsafe { (engine.api.sort.trmGetSorterScratch)(sorter, count, &mut size) };
        ensure!(result == 0, engine.api.last_error());
        Ok(size - u64::from(count) * 8)
    };
    let (small, large) = (beside(1 << 20)?, beside(1 << 30)?);
    ensure!(
        small < (2 << 20) + (64 << 10) && large < small + 512,
        "{small} bytes beside 2^20 pairs, {large} beside 2^30"
    );
    // SAFETY: the handle is not used any more.
    unsafe { (engine.api.sort.trmDestroySorter)(sorter) };
    engine.finish()
}

/// Each sort on its own, then all together, with the same sorters.
#[test]
fn every_format() -> Result<()> {
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    let sorters = cases(context, 1)?.iter().map(|case| engine.sorter_of(&case.sorter)).collect::<Result<Vec<_>>>()?;
    let mut wrong = Vec::new();
    let mut check = |how: &str, case: &Case, sorter| -> Result<()> {
        wrong.extend(case.check(context, result_side(api, sorter)?).err().map(|error| format!("{how}, {error}")));
        Ok(())
    };
    for count in COUNTS {
        for (case, sorter) in cases(context, count)?.iter().zip(&sorters) {
            let work = engine.scratch(*sorter, count)?;
            let info = TrmSortInfo { scratch: scratch(&work), ..case.info };
            context.run(|commands| {
                // SAFETY: everything is valid and lives until it has run.
                let result = unsafe { (api.sort.trmCmdSort)(commands, *sorter, &info) };
                assert_eq!(result, 0, "{}: {}", case.name, api.last_error());
                Ok(())
            })?;
            check("alone", case, *sorter)?;
        }

        let cases = cases(context, count)?;
        let infos: Vec<_> =
            cases.iter().zip(&sorters).map(|(case, sorter)| TrmSortInfo { sorter: *sorter, ..case.info }).collect();
        let headers: Vec<_> = infos.iter().map(|info| (&raw const *info).cast()).collect();
        let mut batch = batch_info(&headers);
        let mut size = 0;
        // SAFETY: the info is valid.
        ensure!(unsafe { (api.trmGetBatchScratch)(&batch, &mut size) } == 0, api.last_error());
        let work = context.buffer(size)?;
        batch.scratch = scratch(&work);
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            assert_eq!(unsafe { (api.trmCmdBatch)(commands, &batch) }, 0, "{}", api.last_error());
            Ok(())
        })?;
        cases.iter().zip(&sorters).try_for_each(|(case, sorter)| check("in a batch", case, *sorter))?;
    }
    // SAFETY: the handles are not used any more.
    sorters.iter().for_each(|sorter| unsafe { (api.sort.trmDestroySorter)(*sorter) });
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    engine.finish()
}
