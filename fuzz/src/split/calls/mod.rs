//! Random calls about splits.

mod good;
mod model;

use self::good::{split, splitter};
use self::model::{SplitterModel, USER, judge_split, judge_splitter};
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
use crate::split::Splits;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::null_mut;
use std::rc::Rc;
use trommel::capi::*;
use trommel::shared::BUCKET_FUNCTION;

infos! {
    infos { TrmSplitterCreateInfo: SplitterCreateInfo, }
    requests { TrmSplitInfo: SplitInfo, }
}

impl Primitive for Splits {
    fn recording(&self) -> (&'static str, u64) {
        ("trmCmdSplit", 310)
    }

    fn queries(&self) -> &'static [(Query, &'static str, u64)] {
        &[(Query::Scratch, "trmGetSplitterScratch", 30), (Query::Timestamps, "trmGetSplitterTimestampCount", 30)]
    }

    fn creations(&self) -> &'static [(&'static str, u64)] {
        &[("trmCreateSplitter", 6), ("trmCreateSplitterFromGlsl", 4), ("trmCreateSplitterFromSpirv", 4)]
    }

    fn members(&self) -> &'static Members {
        &Members {
            counts: &[offset_of!(TrmSplitInfo, count)],
            keys: offset_of!(TrmSplitInfo, keys),
            scratch: offset_of!(TrmSplitInfo, scratch),
            timestamps: offset_of!(TrmSplitInfo, timestamps),
            addresses: &[
                offset_of!(TrmSplitInfo, keys),
                offset_of!(TrmSplitInfo, values),
                offset_of!(TrmSplitInfo, keys_out),
                offset_of!(TrmSplitInfo, values_out),
                offset_of!(TrmSplitInfo, offsets),
                offset_of!(TrmSplitInfo, status),
            ],
        }
    }

    fn make(&self, random: &mut Random, index: usize, device: TrmDevice) -> Result<Rc<dyn Handle>, String> {
        let user = index == 1;
        let (info, mut handle) = (splitter(random, user), null_mut());
        let code = module(&BUCKET_FUNCTION, info.key_type);
        // SAFETY: the arguments are valid; the fake compiles no module.
        let result = unsafe {
            if user {
                trmCreateSplitterFromSpirv(device, &raw const info, code.as_ptr(), code.len() * 4, &raw mut handle)
            } else {
                trmCreateSplitter(device, &raw const info, &raw mut handle)
            }
        };
        if result == SUCCESS {
            Ok(Rc::new(Splitter(handle, SplitterModel::new(&info))))
        } else {
            Err(format!("trmCreateSplitter of {info:?}"))
        }
    }

    fn draw_creation(&self, creation: usize, random: &mut Random, case: &mut Case) {
        let info = splitter(random, creation != PLAIN);
        draw_function(creation, &BUCKET_FUNCTION, info.key_type, case);
        case.image = Image::of(&info);
    }

    fn break_creation(&self, creation: usize, random: &mut Random, case: &Case, breakages: &mut Vec<Breakage>) {
        if let Some(breakage) = break_function(creation, random, case) {
            return breakages.push(breakage);
        }
        match random.below(11) {
            0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
            1 => breakages.push(Breakage::Handle(None)),
            2 => breakages.push(Breakage::Fail(random.pick(&[0, 1, 7]))),
            _ => break_create::<TrmSplitterCreateInfo>(random, &case.image, breakages),
        }
    }

    fn judge_creation(&self, creation: usize, case: &Case, verdict: &mut Verdict) {
        let mut key_type = None;
        if verdict.header::<TrmSplitterCreateInfo>(&case.image) {
            let info = case.image.effective::<TrmSplitterCreateInfo>();
            judge_splitter(&info, verdict);
            let user = info.bucket_function == USER;
            verdict.must(user == (creation != PLAIN), MALFORMED, "bucketFunction and its kernel");
            key_type = Some(info.key_type);
        }
        judge_function(creation, &BUCKET_FUNCTION, key_type, case, verdict);
    }

    fn describe_creation(&self, image: &Image) -> String {
        image.describe::<TrmSplitterCreateInfo>()
    }

    fn break_request(&self, random: &mut Random, image: &Image, item: Option<usize>, breakages: &mut Vec<Breakage>) {
        break_info::<TrmSplitInfo>(random, image, item, breakages);
    }

    fn judge_header(&self, image: &Image, verdict: &mut Verdict) -> bool {
        verdict.header::<TrmSplitInfo>(image)
    }

    fn describe_request(&self, image: &Image) -> String {
        image.describe::<TrmSplitInfo>()
    }

    fn place(&self, block: &Block, image: &Image, pointers: &[(usize, u64)]) -> *const TrmInfoHeader {
        place::<TrmSplitInfo>(block, image, pointers).cast()
    }

    unsafe fn create(&self, creation: usize, arguments: &Creation<'_>, handle: *mut *mut c_void) -> i32 {
        let Creation { device, block, image, source, code, code_size } = *arguments;
        let (info, splitter) = (place(block, image, &[]), handle.cast());
        // SAFETY: the caller's promise.
        unsafe {
            match creation {
                PLAIN => trmCreateSplitter(device, info, splitter),
                FROM_GLSL => trmCreateSplitterFromGlsl(device, info, source, splitter),
                _ => trmCreateSplitterFromSpirv(device, info, code, code_size, splitter),
            }
        }
    }

    unsafe fn destroy(&self, handle: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { trmDestroySplitter(handle.cast()) }
    }

    unsafe fn record(&self, commands: VkCommandBuffer, handle: *mut c_void, info: *const TrmInfoHeader) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmCmdSplit(commands, handle.cast(), info.cast()) }
    }

    unsafe fn scratch(&self, handle: *mut c_void, max_count: u32, size: *mut u64) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetSplitterScratch(handle.cast(), max_count, size) }
    }

    unsafe fn timestamp_count(&self, handle: *mut c_void, max_count: u32, count: *mut u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetSplitterTimestampCount(handle.cast(), max_count, count) }
    }
}

#[derive(Debug)]
struct Splitter(TrmSplitter, SplitterModel);

impl Handle for Splitter {
    fn address(&self) -> *mut c_void {
        self.0.cast()
    }

    fn items(&self) -> &Items {
        &self.1.items
    }

    fn draw(&self, random: &mut Random, most: u32, space: &mut Space) -> Image {
        Image::of(&split(random, &self.1, most, space))
    }

    fn judge(&self, image: &Image, verdict: &mut Verdict) -> Judged {
        let info = image.effective::<TrmSplitInfo>();
        let arrays = judge_split(&self.1, &info, verdict);
        Judged { arrays, count: info.count.max, scratch: info.scratch, timestamps: info.timestamps }
    }

    fn records(&self, image: &Image) -> bool {
        self.1.records(&image.effective())
    }
}
