//! Random calls about merges.

mod good;
mod model;

use self::good::{merge, merger};
use self::model::{MergerModel, judge_merge, judge_merger, more_sequences};
use crate::calls::Primitive;
use crate::calls::breakage::{break_create, break_info};
use crate::calls::case::{Breakage, Case, Pointer};
use crate::calls::good::Space;
use crate::calls::guard::Block;
use crate::calls::info::{Image, infos};
use crate::calls::model::*;
use crate::calls::primitive::{Creation, Handle, Judged, Members, Query};
use crate::calls::random::Random;
use crate::calls::session::place;
use crate::calls::user::*;
use crate::merge::Merges;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::null_mut;
use std::rc::Rc;
use trommel::capi::*;
use trommel::shared::COMPARATOR;

infos! {
    infos { TrmMergerCreateInfo: MergerCreateInfo, }
    requests { TrmMergeInfo: MergeInfo, }
}

impl Primitive for Merges {
    fn recording(&self) -> (&'static str, u64) {
        ("trmCmdMerge", 310)
    }

    fn queries(&self) -> &'static [(Query, &'static str, u64)] {
        &[(Query::Scratch, "trmGetMergerScratch", 30), (Query::Timestamps, "trmGetMergerTimestampCount", 30)]
    }

    fn creations(&self) -> &'static [(&'static str, u64)] {
        &[("trmCreateMerger", 6), ("trmCreateMergerFromGlsl", 4), ("trmCreateMergerFromSpirv", 4)]
    }

    fn members(&self) -> &'static Members {
        &Members {
            counts: &[offset_of!(TrmMergeInfo, count_a), offset_of!(TrmMergeInfo, count_b)],
            keys: offset_of!(TrmMergeInfo, keys_b),
            scratch: offset_of!(TrmMergeInfo, scratch),
            timestamps: offset_of!(TrmMergeInfo, timestamps),
            addresses: &[
                offset_of!(TrmMergeInfo, keys_a),
                offset_of!(TrmMergeInfo, values_a),
                offset_of!(TrmMergeInfo, keys_b),
                offset_of!(TrmMergeInfo, values_b),
                offset_of!(TrmMergeInfo, keys_out),
                offset_of!(TrmMergeInfo, values_out),
                offset_of!(TrmMergeInfo, status),
                offset_of!(TrmMergeInfo, count_out),
                offset_of!(TrmMergeInfo, count_a) + offset_of!(TrmCount, address),
                offset_of!(TrmMergeInfo, count_b) + offset_of!(TrmCount, address),
                offset_of!(TrmMergeInfo, segments) + offset_of!(TrmMergeSegments, offsets_a),
                offset_of!(TrmMergeInfo, segments) + offset_of!(TrmMergeSegments, offsets_b),
                offset_of!(TrmMergeInfo, segments) + offset_of!(TrmMergeSegments, offsets_out),
                offset_of!(TrmMergeInfo, marks),
            ],
        }
    }

    fn make(&self, random: &mut Random, index: usize, device: TrmDevice) -> Result<Rc<dyn Handle>, String> {
        let compares = index == 1;
        let (info, mut handle) = (merger(random, true, compares), null_mut());
        let code = module(&COMPARATOR, info.key_type);
        // SAFETY: the arguments are valid; the fake compiles no module.
        let result = unsafe {
            if compares {
                trmCreateMergerFromSpirv(device, &raw const info, code.as_ptr(), code.len() * 4, &raw mut handle)
            } else {
                trmCreateMerger(device, &raw const info, &raw mut handle)
            }
        };
        if result == SUCCESS {
            Ok(Rc::new(Merger(handle, MergerModel::new(&info, compares))))
        } else {
            Err(format!("trmCreateMerger of {info:?}"))
        }
    }

    fn draw_creation(&self, creation: usize, random: &mut Random, case: &mut Case) {
        let info = merger(random, false, creation != PLAIN);
        draw_function(creation, &COMPARATOR, info.key_type, case);
        case.image = Image::of(&info);
    }

    fn break_creation(&self, creation: usize, random: &mut Random, case: &Case, breakages: &mut Vec<Breakage>) {
        if let Some(breakage) = break_function(creation, random, case) {
            return breakages.push(breakage);
        }
        match random.below(12) {
            0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
            1 => breakages.push(Breakage::Handle(None)),
            2 => breakages.push(Breakage::Fail(random.pick(&[0, 1, 3]))),
            _ => break_create::<TrmMergerCreateInfo>(random, &case.image, breakages),
        }
    }

    fn judge_creation(&self, creation: usize, case: &Case, verdict: &mut Verdict) {
        let mut key_type = None;
        if verdict.header::<TrmMergerCreateInfo>(&case.image) {
            let info = case.image.effective::<TrmMergerCreateInfo>();
            judge_merger(&info, creation != PLAIN, verdict);
            key_type = Some(info.key_type);
        }
        judge_function(creation, &COMPARATOR, key_type, case, verdict);
    }

    fn describe_creation(&self, image: &Image) -> String {
        image.describe::<TrmMergerCreateInfo>()
    }

    fn break_request(&self, random: &mut Random, image: &Image, item: Option<usize>, breakages: &mut Vec<Breakage>) {
        break_info::<TrmMergeInfo>(random, image, item, breakages);
    }

    fn judge_header(&self, image: &Image, verdict: &mut Verdict) -> bool {
        verdict.header::<TrmMergeInfo>(image)
    }

    fn describe_request(&self, image: &Image) -> String {
        image.describe::<TrmMergeInfo>()
    }

    fn place(&self, block: &Block, image: &Image, pointers: &[(usize, u64)]) -> *const TrmInfoHeader {
        place::<TrmMergeInfo>(block, image, pointers).cast()
    }

    unsafe fn create(&self, creation: usize, arguments: &Creation<'_>, handle: *mut *mut c_void) -> i32 {
        let Creation { device, block, image, source, code, code_size } = *arguments;
        let (info, merger) = (place(block, image, &[]), handle.cast());
        // SAFETY: the caller's promise.
        unsafe {
            match creation {
                PLAIN => trmCreateMerger(device, info, merger),
                FROM_GLSL => trmCreateMergerFromGlsl(device, info, source, merger),
                _ => trmCreateMergerFromSpirv(device, info, code, code_size, merger),
            }
        }
    }

    unsafe fn destroy(&self, handle: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { trmDestroyMerger(handle.cast()) }
    }

    unsafe fn record(&self, commands: VkCommandBuffer, handle: *mut c_void, info: *const TrmInfoHeader) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmCmdMerge(commands, handle.cast(), info.cast()) }
    }

    unsafe fn scratch(&self, handle: *mut c_void, max_count: u32, size: *mut u64) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetMergerScratch(handle.cast(), max_count, size) }
    }

    unsafe fn timestamp_count(&self, handle: *mut c_void, max_count: u32, count: *mut u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetMergerTimestampCount(handle.cast(), max_count, count) }
    }
}

#[derive(Debug)]
struct Merger(TrmMerger, MergerModel);

impl Handle for Merger {
    fn address(&self) -> *mut c_void {
        self.0.cast()
    }

    fn items(&self) -> &Items {
        &self.1.items
    }

    fn draw(&self, random: &mut Random, most: u32, space: &mut Space) -> Image {
        Image::of(&merge(random, &self.1, most, space))
    }

    fn judge(&self, image: &Image, verdict: &mut Verdict) -> Judged {
        let info = image.effective::<TrmMergeInfo>();
        let arrays = judge_merge(&self.1, &info, verdict);
        let more = more_sequences(&info).iter().map(|sequence| sequence.count.max);
        let count = more.fold(info.count_a.max.saturating_add(info.count_b.max), u32::saturating_add);
        Judged { arrays, count, scratch: info.scratch, timestamps: info.timestamps }
    }

    /// A merge of two sequences has a word of scratch for each tile, not for each item.
    fn may_need_too_much(&self, count: u32) -> bool {
        self.1.sequences > 2 && self.1.items.may_need_too_much(count)
    }

    /// Merges of fewer sequences than the merger's most have fewer nodes in scratch.
    fn may_need_less(&self) -> bool {
        self.1.sequences > 2
    }

    fn records(&self, image: &Image) -> bool {
        let info = image.effective::<TrmMergeInfo>();
        let merges_b = info.count_b.max != 0 && !self.1.is_search;
        let offsets_out = info.segments.offsets_out;
        let writes_offsets = self.1.is_segmented && (offsets_out.address, offsets_out.size) != (0, 0);
        let merges_more = more_sequences(&info).iter().any(|sequence| sequence.count.max != 0);
        info.count_a.max != 0 || merges_b || merges_more || info.status != 0 || info.count_out != 0 || writes_offsets
    }
}
