//! Traits that a primitive implements for the random calls.

use crate::PRIMITIVES;
use crate::calls::case::{Breakage, Case};
use crate::calls::good::Space;
use crate::calls::guard::Block;
use crate::calls::info::Image;
use crate::calls::model::{Array, Items, Verdict};
use crate::calls::random::Random;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::rc::Rc;
use trommel::capi::*;

/// A primitive of the C ABI.
pub(crate) trait Primitive: Sync {
    /// The function that records a request, and how often it is called.
    fn recording(&self) -> (&'static str, u64);

    /// Functions that ask a handle for a number, and how often each is called.
    fn queries(&self) -> &'static [(Query, &'static str, u64)];

    /// Functions that create handles, and how often each is called.
    fn creations(&self) -> &'static [(&'static str, u64)];

    /// Members of a request's info.
    fn members(&self) -> &'static Members;

    /// Creates a handle for many calls, the one with this index. The error is its description.
    fn make(&self, random: &mut Random, index: usize, device: TrmDevice) -> Result<Rc<dyn Handle>, String>;

    /// Fills in good arguments of a creation.
    fn draw_creation(&self, creation: usize, random: &mut Random, case: &mut Case);

    /// Breaks one argument of a creation.
    fn break_creation(&self, creation: usize, random: &mut Random, case: &Case, breakages: &mut Vec<Breakage>);

    /// Judges the info and the other arguments of a creation.
    fn judge_creation(&self, creation: usize, case: &Case, verdict: &mut Verdict);

    /// The info of a creation, for a reader of a failure.
    fn describe_creation(&self, image: &Image) -> String;

    /// Breaks one member of a request's info.
    fn break_request(&self, random: &mut Random, image: &Image, item: Option<usize>, breakages: &mut Vec<Breakage>);

    /// Judges the header of a request's info. Returns whether the members can be read.
    fn judge_header(&self, image: &Image, verdict: &mut Verdict) -> bool;

    /// The info of a request, for a reader of a failure.
    fn describe_request(&self, image: &Image) -> String;

    /// Puts the info of a request before a guard page.
    fn place(&self, block: &Block, image: &Image, pointers: &[(usize, u64)]) -> *const TrmInfoHeader;

    /// Creates a handle.
    ///
    /// # Safety
    /// The arguments are valid by the header, or break a rule that the library has to detect.
    unsafe fn create(&self, creation: usize, arguments: &Creation<'_>, handle: *mut *mut c_void) -> i32;

    /// Destroys a handle.
    ///
    /// # Safety
    /// The handle is null, or one of this primitive that no call uses any more.
    unsafe fn destroy(&self, handle: *mut c_void);

    /// Records a request.
    ///
    /// # Safety
    /// As [`Primitive::create`].
    unsafe fn record(&self, commands: VkCommandBuffer, handle: *mut c_void, info: *const TrmInfoHeader) -> i32;

    /// Returns the bytes of scratch.
    ///
    /// # Safety
    /// As [`Primitive::create`].
    unsafe fn scratch(&self, handle: *mut c_void, max_count: u32, size: *mut u64) -> i32;

    /// Returns the number of timestamps.
    ///
    /// # Safety
    /// As [`Primitive::create`].
    unsafe fn timestamp_count(&self, handle: *mut c_void, max_count: u32, count: *mut u32) -> i32;
}

/// A query of a number from a handle.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Query {
    /// [`Primitive::scratch`]
    Scratch,
    /// [`Primitive::timestamp_count`]
    Timestamps,
    /// A number without a count.
    Number { call: unsafe fn(handle: *mut c_void, number: *mut u32) -> i32, most: u64 },
}

/// Offsets of members of a request's info.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Members {
    /// A `TrmCount` for each sequence of items.
    pub(crate) counts: &'static [usize],
    /// A `TrmRange`.
    pub(crate) keys: usize,
    /// A `TrmScratch`.
    pub(crate) scratch: usize,
    /// A `TrmTimestamps`.
    pub(crate) timestamps: usize,
    /// Addresses of memory.
    pub(crate) addresses: &'static [usize],
}

impl Members {
    /// The maximum number of items of a request, those of all its sequences together.
    pub(crate) fn max_count(&self, image: &Image) -> u32 {
        let max = |offset: &usize| u32::try_from(image.get(*offset, 4)).unwrap_or(u32::MAX);
        self.counts.iter().map(max).fold(0, u32::saturating_add)
    }
}

/// Arguments of a creation.
pub(crate) struct Creation<'a> {
    pub(crate) device: TrmDevice,
    pub(crate) block: &'a Block,
    pub(crate) image: &'a Image,
    pub(crate) source: *const c_char,
    pub(crate) code: *const u32,
    pub(crate) code_size: usize,
}

/// A handle that many calls use, with the contract of its requests.
pub(crate) trait Handle: fmt::Debug {
    /// The handle itself.
    fn address(&self) -> *mut c_void;

    /// Layout of the items.
    fn items(&self) -> &Items;

    /// A good request of at most `most` items, without scratch.
    fn draw(&self, random: &mut Random, most: u32, space: &mut Space) -> Image;

    /// Judges a request apart from its scratch and timestamps.
    fn judge(&self, image: &Image, verdict: &mut Verdict) -> Judged;

    /// Whether so many items may need more scratch than a recording takes.
    fn may_need_too_much(&self, count: u32) -> bool {
        self.items().may_need_too_much(count)
    }

    /// Whether some requests need less scratch than the query for their count returns.
    fn may_need_less(&self) -> bool {
        false
    }

    /// Whether a good request must leave a dispatch in the command buffer.
    fn records(&self, image: &Image) -> bool;
}

/// Arguments of a judged request.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) arrays: Vec<Array>,
    pub(crate) count: u32,
    pub(crate) scratch: TrmScratch,
    pub(crate) timestamps: TrmTimestamps,
}

/// A handle of a session, and the number of its primitive.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) primitive: usize,
    pub(crate) handle: Rc<dyn Handle>,
}

/// The primitive with a number.
pub(crate) fn primitive(number: usize) -> &'static dyn Primitive {
    PRIMITIVES[number]
}

/// Every primitive.
pub(crate) fn primitives() -> impl Iterator<Item = &'static dyn Primitive> {
    PRIMITIVES.iter().map(|primitive| *primitive as _)
}
