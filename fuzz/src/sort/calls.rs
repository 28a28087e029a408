//! Random calls about sorts: their contract, as include/trommel.h states it, and good arguments.

use crate::calls::Primitive;
use crate::calls::breakage::{break_create, break_info};
use crate::calls::case::{Breakage, Case, Pointer};
use crate::calls::good::*;
use crate::calls::guard::Block;
use crate::calls::info::{Image, empty, infos};
use crate::calls::model::*;
use crate::calls::primitive::{Creation, Handle, Judged, Members, Query};
use crate::calls::random::Random;
use crate::calls::session::place;
use crate::calls::user::*;
use crate::sort::Sorts;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::null_mut;
use std::rc::Rc;
use trommel::capi::*;
use trommel::shared::SORT_COMPARATOR;

infos! {
    infos { TrmSorterCreateInfo: SorterCreateInfo, }
    requests { TrmSortInfo: SortInfo, }
}

impl Primitive for Sorts {
    fn recording(&self) -> (&'static str, u64) {
        ("trmCmdSort", 310)
    }

    fn queries(&self) -> &'static [(Query, &'static str, u64)] {
        const SIDE: Query = Query::Number { call: result_side, most: 1 };
        &[
            (Query::Scratch, "trmGetSorterScratch", 30),
            (Query::Timestamps, "trmGetSorterTimestampCount", 30),
            (SIDE, "trmGetSorterResultSide", 15),
        ]
    }

    fn creations(&self) -> &'static [(&'static str, u64)] {
        &[("trmCreateSorter", 6), ("trmCreateSorterFromGlsl", 2), ("trmCreateSorterFromSpirv", 3)]
    }

    fn members(&self) -> &'static Members {
        &Members {
            counts: &[offset_of!(TrmSortInfo, count)],
            keys: offset_of!(TrmSortInfo, keys),
            scratch: offset_of!(TrmSortInfo, scratch),
            timestamps: offset_of!(TrmSortInfo, timestamps),
            addresses: &[
                offset_of!(TrmSortInfo, keys),
                offset_of!(TrmSortInfo, values),
                offset_of!(TrmSortInfo, keys_out),
                offset_of!(TrmSortInfo, values_out),
                offset_of!(TrmSortInfo, status),
                offset_of!(TrmSortInfo, count) + offset_of!(TrmCount, address),
            ],
        }
    }

    fn make(&self, random: &mut Random, index: usize, device: TrmDevice) -> Result<Rc<dyn Handle>, String> {
        let compares = index == 1;
        let (info, mut handle) = (sorter(random, compares), null_mut());
        let code = module(&SORT_COMPARATOR, info.key_type);
        // SAFETY: the arguments are valid; the fake compiles no module.
        let result = unsafe {
            if compares {
                trmCreateSorterFromSpirv(device, &raw const info, code.as_ptr(), code.len() * 4, &raw mut handle)
            } else {
                trmCreateSorter(device, &raw const info, &raw mut handle)
            }
        };
        if result == SUCCESS {
            Ok(Rc::new(Sorter(handle, SorterModel::new(&info, compares))))
        } else {
            Err(format!("trmCreateSorter of {info:?}"))
        }
    }

    fn draw_creation(&self, creation: usize, random: &mut Random, case: &mut Case) {
        let info = sorter(random, creation != PLAIN);
        draw_function(creation, &SORT_COMPARATOR, info.key_type, case);
        case.image = Image::of(&info);
    }

    fn break_creation(&self, creation: usize, random: &mut Random, case: &Case, breakages: &mut Vec<Breakage>) {
        if let Some(breakage) = break_function(creation, random, case) {
            return breakages.push(breakage);
        }
        match random.below(12) {
            0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
            1 => breakages.push(Breakage::Handle(None)),
            2 => breakages.push(Breakage::Fail(random.pick(&[0, 1, 7]))),
            _ => break_create::<TrmSorterCreateInfo>(random, &case.image, breakages),
        }
    }

    fn judge_creation(&self, creation: usize, case: &Case, verdict: &mut Verdict) {
        let mut key_type = None;
        if verdict.header::<TrmSorterCreateInfo>(&case.image) {
            let info = case.image.effective::<TrmSorterCreateInfo>();
            judge_sorter(&info, creation != PLAIN, verdict);
            key_type = Some(info.key_type);
        }
        judge_function(creation, &SORT_COMPARATOR, key_type, case, verdict);
    }

    fn describe_creation(&self, image: &Image) -> String {
        image.describe::<TrmSorterCreateInfo>()
    }

    fn break_request(&self, random: &mut Random, image: &Image, item: Option<usize>, breakages: &mut Vec<Breakage>) {
        break_info::<TrmSortInfo>(random, image, item, breakages);
    }

    fn judge_header(&self, image: &Image, verdict: &mut Verdict) -> bool {
        verdict.header::<TrmSortInfo>(image)
    }

    fn describe_request(&self, image: &Image) -> String {
        image.describe::<TrmSortInfo>()
    }

    fn place(&self, block: &Block, image: &Image, pointers: &[(usize, u64)]) -> *const TrmInfoHeader {
        place::<TrmSortInfo>(block, image, pointers).cast()
    }

    unsafe fn create(&self, creation: usize, arguments: &Creation<'_>, handle: *mut *mut c_void) -> i32 {
        let Creation { device, block, image, source, code, code_size } = *arguments;
        let (info, sorter) = (place(block, image, &[]), handle.cast());
        // SAFETY: the caller's promise.
        unsafe {
            match creation {
                PLAIN => trmCreateSorter(device, info, sorter),
                FROM_GLSL => trmCreateSorterFromGlsl(device, info, source, sorter),
                _ => trmCreateSorterFromSpirv(device, info, code, code_size, sorter),
            }
        }
    }

    unsafe fn destroy(&self, handle: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { trmDestroySorter(handle.cast()) }
    }

    unsafe fn record(&self, commands: VkCommandBuffer, handle: *mut c_void, info: *const TrmInfoHeader) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmCmdSort(commands, handle.cast(), info.cast()) }
    }

    unsafe fn scratch(&self, handle: *mut c_void, max_count: u32, size: *mut u64) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetSorterScratch(handle.cast(), max_count, size) }
    }

    unsafe fn timestamp_count(&self, handle: *mut c_void, max_count: u32, count: *mut u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetSorterTimestampCount(handle.cast(), max_count, count) }
    }
}

unsafe fn result_side(sorter: *mut c_void, side: *mut u32) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { trmGetSorterResultSide(sorter.cast(), side) }
}

#[derive(Debug)]
struct Sorter(TrmSorter, SorterModel);

impl Handle for Sorter {
    fn address(&self) -> *mut c_void {
        self.0.cast()
    }

    fn items(&self) -> &Items {
        &self.1.items
    }

    fn draw(&self, random: &mut Random, most: u32, space: &mut Space) -> Image {
        Image::of(&sort(random, &self.1, most, space))
    }

    fn judge(&self, image: &Image, verdict: &mut Verdict) -> Judged {
        let info = image.effective::<TrmSortInfo>();
        let arrays = judge_sort(&self.1, &info, verdict);
        Judged { arrays, count: info.count.max, scratch: info.scratch, timestamps: info.timestamps }
    }

    fn records(&self, image: &Image) -> bool {
        self.1.records(&image.effective())
    }
}

/// A sorter as it was created.
#[derive(Clone, Copy, Debug)]
struct SorterModel {
    items: Items,
    placement: i32,
    /// Whether it has a comparator.
    compares: bool,
}

impl SorterModel {
    fn new(info: &TrmSorterCreateInfo, compares: bool) -> Self {
        let value = (info.value_type, info.value_size);
        let items = Items::new(info.key_type, value, info.layout, info.max_count, info.flags);
        Self { items, placement: info.placement, compares }
    }

    /// Whether a sort has anything to do: a count of zero still writes the status.
    fn records(&self, info: &TrmSortInfo) -> bool {
        let none = self.items.segmented && info.segments.count.max == 0;
        !none && (info.count.max != 0 || info.status != 0)
    }

    fn preserved(&self) -> bool {
        self.placement == TrmPlacement::Preserve as i32
    }
}

/// Judges the info of trmCreateSorter(), or the same with a comparator.
fn judge_sorter(info: &TrmSorterCreateInfo, compares: bool, verdict: &mut Verdict) {
    verdict.known(info.key_type, 15, "keyType");
    judge_value(info.value_type, info.value_size, verdict);
    verdict.known(info.strategy, 6, "strategy");
    verdict.must(info.flags <= 15, MALFORMED, "flags");
    verdict.known(info.order, 2, "order");
    verdict.known(info.placement, 3, "placement");
    verdict.known(info.layout, 3, "layout");
    verdict.must(info.reserved == 0, MALFORMED, "reserved");
    let model = SorterModel::new(info, compares);
    let items = model.items;
    let end = if info.end_bit == 0 { items.key_bits } else { info.end_bit };
    verdict.must(end <= items.key_bits, LARGE, "endBit");
    verdict.must(info.begin_bit < end, MALFORMED, "beginBit");
    items.judge_layout(4096, verdict);
    verdict.must(!items.strided || model.preserved(), MALFORMED, "layout: strided items that are written");
    let small = items.max_count <= NARROW;
    verdict.must(small || !items.narrow() && items.value_size <= 16, LARGE, "maxCount");
    if compares {
        verdict.must(!items.narrow(), MALFORMED, "keyType: narrow keys");
        verdict.must(info.order == 0, MALFORMED, "order of a comparator");
        verdict.must(info.begin_bit == 0, MALFORMED, "beginBit of a comparator");
        verdict.must(end == items.key_bits, MALFORMED, "endBit of a comparator");
        verdict.must(!items.segmented, MALFORMED, "flags: segments of a comparator");
        verdict.must(small, LARGE, "maxCount of a comparator");
    }
}

/// Judges a sort apart from its scratch and timestamps, and returns the memory that it names.
fn judge_sort(model: &SorterModel, info: &TrmSortInfo, verdict: &mut Verdict) -> Vec<Array> {
    let SorterModel { items, .. } = model;
    let (preserved, second) = (model.preserved(), model.placement != TrmPlacement::InPlace as i32);
    let strides = [info.key_stride, info.value_stride];
    let common = Common { count: info.count, strides, status: info.status, segments: info.segments };
    let mut arrays = judge_common(items, &common, verdict);
    let is_empty = (info.user_address, info.user_words) == (0, [0; 4]);
    verdict.must(model.compares || is_empty, MALFORMED, "userAddress, userWords");
    let count = info.count.max;
    let stride = |stride| if items.strided { stride } else { 0 };
    let dense = |size| extent(count, size, 0);
    let keys = extent(count, items.step(), stride(info.key_stride));
    arrays.push(Array::new(info.keys, items.key_alignment(), keys, !preserved));
    if items.separate() && !(items.index && preserved) {
        let values = extent(count, items.value_size, stride(info.value_stride));
        arrays.push(Array::new(info.values, 4, values, !preserved));
    }
    if second && !(preserved && items.drop_keys) {
        arrays.push(Array::new(info.keys_out, items.key_alignment(), dense(items.step()), true));
    }
    if second && items.separate() {
        arrays.push(Array::new(info.values_out, 4, dense(items.value_size), true));
    }
    judge_arrays(&arrays, verdict);
    arrays
}

/// A struct for trmCreateSorter() that may or may not be valid.
fn any_sorter(random: &mut Random) -> TrmSorterCreateInfo {
    let key_type = random.pick(&[0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    let bits = key_bits(key_type);
    let value_type = random.pick(&[0, 1, 1, 2, 3]);
    let (begin_bit, end_bit) =
        if random.once_in(3) { (random.below32(bits), random.below32(bits + 1)) } else { (0, 0) };
    TrmSorterCreateInfo {
        key_type,
        value_type,
        strategy: random.pick(&[0, 0, 1, 2, 3, 4, 5]),
        flags: random.pick(&[0, 0, 0, 1, 2, 3]) | random.pick(&[0, BATCHES, BATCHES, BATCHES | DEFERRED]),
        order: random.pick(&[0, 1]),
        value_size: if value_type == 2 { 4 * random.pick(&[1, 2, 3, 4, 5, 16, 1024]) } else { 0 },
        begin_bit,
        end_bit,
        placement: random.pick(&[0, 1, 2]),
        layout: random.pick(&[0, 0, 1, 2]),
        max_count: max_count(random),
        ..empty()
    }
}

/// `compares`: with a comparator.
fn sorter(random: &mut Random, compares: bool) -> TrmSorterCreateInfo {
    until_good(
        || {
            let info = any_sorter(random);
            let info = TrmSorterCreateInfo { flags: info.flags & !DEFERRED, ..info };
            if !compares {
                return info;
            }
            TrmSorterCreateInfo {
                order: 0,
                begin_bit: 0,
                end_bit: 0,
                flags: info.flags & !TRM_SORTER_CREATE_SEGMENTED_BIT,
                ..info
            }
        },
        |info, verdict| judge_sorter(info, compares, verdict),
    )
}

/// A sort of at most `most` keys, without scratch.
fn sort(random: &mut Random, model: &SorterModel, most: u32, space: &mut Space) -> TrmSortInfo {
    let items = model.items;
    let max = count(random, &items, most);
    let mut info = TrmSortInfo {
        count: TrmCount { max, address: if items.segmented { 0 } else { take_word(random, space) } },
        key_stride: stride(random, &items, items.key_size(), items.key_alignment()),
        value_stride: stride(random, &items, if items.index { 0 } else { items.value_size }, 4),
        status: take_word(random, space),
        timestamps: timestamps(random),
        ..empty()
    };
    if model.compares {
        info.user_address = random.next();
        info.user_words = [1, 2, 3, random.below32(9)];
    }
    if items.segmented {
        info.segments = segments(random, space, if most < 1 << 20 { most } else { (1 << 30) - 1 });
    }
    let (keys, values) = (bytes(max, items.step(), info.key_stride), bytes(max, items.value_size, info.value_stride));
    let dense = |size| bytes(max, size, 0);
    let mut wants: Wants<'_> = vec![(&mut info.keys, keys, items.key_alignment())];
    let second = model.placement != TrmPlacement::InPlace as i32;
    let preserved = model.placement == TrmPlacement::Preserve as i32;
    if items.separate() && !(items.index && preserved) {
        wants.push((&mut info.values, values, 4));
    }
    if second && !(preserved && items.drop_keys) {
        wants.push((&mut info.keys_out, dense(items.step()), items.key_alignment()));
    }
    if second && items.separate() {
        wants.push((&mut info.values_out, dense(items.value_size), 4));
    }
    take_ranges(random, space, wants);
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort_faults(create: TrmSorterCreateInfo, info: TrmSortInfo) -> Vec<i32> {
        let mut verdict = Verdict::default();
        judge_sort(&SorterModel::new(&create, false), &info, &mut verdict);
        verdict.faults.iter().map(|(code, _)| *code).collect()
    }

    #[test]
    fn arrays_of_a_sort() {
        let create = TrmSorterCreateInfo { value_type: 1, ..empty() };
        let range = |address, size| TrmRange { address, size };
        let count = TrmCount { max: 10, address: 0 };
        let good = TrmSortInfo { count, keys: range(64, 40), values: range(104, 40), ..empty() };
        assert_eq!(sort_faults(create, good), []);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(0, 40), ..good }), [NULL]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(62, 40), ..good }), [MISALIGNED]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(64, 39), ..good }), [SMALL]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(68, 40), ..good }), [OVERLAP]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(u64::MAX - 3, 40), ..good }), [LARGE]);
        assert_eq!(sort_faults(create, TrmSortInfo { key_stride: 4, ..good }), [MALFORMED]);
        assert_eq!(sort_faults(create, TrmSortInfo { status: 100, ..good }), [OVERLAP]);
        assert_eq!(sort_faults(create, TrmSortInfo { user_address: 4, ..good }), [MALFORMED]);
        let preserved = TrmSorterCreateInfo { placement: 1, value_type: 3, flags: 1, ..create };
        let argsort = TrmSortInfo { values: range(0, 0), values_out: range(104, 40), ..good };
        assert_eq!(sort_faults(preserved, argsort), [], "an argsort reads keys and writes indices");
    }

    #[test]
    fn good_arguments_are_good() {
        let mut random = Random::new(1, 2);
        for i in 0..2000 {
            let mut verdict = Verdict::default();
            let compares = i % 2 == 1;
            let model = SorterModel::new(&sorter(&mut random, compares), compares);
            let mut space = Space::new(&mut random);
            judge_sort(&model, &sort(&mut random, &model, u32::MAX, &mut space), &mut verdict);
            assert_eq!(verdict.faults, []);
        }
    }
}
