//! Every exported function with bad arguments: each call returns its code and its reason, and has no other effect.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "arguments/creating.rs"]
mod creating;
#[path = "arguments/hashes.rs"]
mod hashes;
#[path = "arguments/merges.rs"]
mod merges;
#[path = "arguments/recording.rs"]
mod recording;
#[path = "arguments/splits.rs"]
mod splits;

use anyhow::{Result, ensure};
use ffi_tests::hash::{hash_info, hasher_info};
use ffi_tests::merge::{merge_info, merger_info};
use ffi_tests::sort::{library_of_sorts, sort_info, sorter_info};
use ffi_tests::split::{split_info, splitter_info};
use ffi_tests::{Api, Engine, batch_info, library, library_without_primitives};
use std::ptr;
use trommel::capi::*;

const NULL: i32 = TrmResult::TrmErrorNull as i32;
const MALFORMED: i32 = TrmResult::TrmErrorMalformed as i32;
const UNKNOWN_VALUE: i32 = TrmResult::TrmErrorUnknownValue as i32;
const TOO_LARGE: i32 = TrmResult::TrmErrorTooLarge as i32;
const TOO_SMALL: i32 = TrmResult::TrmErrorTooSmall as i32;
const MISALIGNED: i32 = TrmResult::TrmErrorMisaligned as i32;
const OVERLAP: i32 = TrmResult::TrmErrorOverlap as i32;
const MISSING_FEATURE: i32 = TrmResult::TrmErrorMissingFeature as i32;
const FOREIGN_DEVICE: i32 = TrmResult::TrmErrorForeignDevice as i32;
const NOT_READY: i32 = TrmResult::TrmErrorNotReady as i32;
const NOT_BUILT: i32 = TrmResult::TrmErrorNotBuilt as i32;
const INCOMPLETE: i32 = 5;

/// A value that no function writes.
const UNTOUCHED: u64 = 0xdead_beef;

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)
}

/// A struct of a later version.
#[repr(C)]
struct Later<T> {
    info: T,
    tail: [u64; 2],
}

fn byte_later<T>(pointer: *const T) -> *const T {
    pointer.wrapping_byte_add(1)
}

impl Refusals<'_> {
    /// Compares a result and its message with the expected code and reason. Keeps a mismatch for the report.
    fn expect(&mut self, what: &str, result: i32, code: i32, reason: &str) {
        let said = self.0.last_error();
        if result != code || !said.contains(reason) {
            self.1.push(format!("{what}: {result} \"{said}\", but should be {code} \"{reason}\""));
        }
    }

    fn finish(self) -> Result<()> {
        ensure!(self.1.is_empty(), "{}", self.1.join("\n"));
        Ok(())
    }
}

/// Collects every wrong answer, for one report.
struct Refusals<'a>(&'a Api, Vec<String>);

/// Invalid headers, by name, with the expected code and reason. Every info struct gives the same ones.
fn bad_headers(size: usize, other: TrmStructureType) -> Vec<(&'static str, TrmInfoHeader, i32, &'static str)> {
    let size = u32::try_from(size).unwrap();
    let header = |s_type, struct_size, p_next| TrmInfoHeader { s_type, struct_size, p_next };
    let null = ptr::null();
    vec![
        ("sType", header(77, size, null), UNKNOWN_VALUE, "sType 77 is not a known value"),
        ("sType of another", header(other as i32, size, null), UNKNOWN_VALUE, "sType"),
        ("no size", header(0, 0, null), MALFORMED, "structSize is malformed: 0 is not a size of"),
        ("half a header", header(0, 8, null), MALFORMED, "structSize is malformed: 8 is not"),
        ("odd size", header(0, size - 1, null), MALFORMED, "structSize"),
        ("absurd size", header(0, u32::MAX, null), MALFORMED, "structSize is malformed: 4294967295 is not"),
        ("pNext", header(0, size, ptr::dangling()), MALFORMED, "pNext is malformed: it is reserved and must be NULL"),
    ]
}

fn with_header<T: Copy>(info: &T, mut header: TrmInfoHeader) -> T {
    let mut info = *info;
    let header_of_info = (&raw mut info).cast::<TrmInfoHeader>();
    // SAFETY: infos begin with a header.
    unsafe {
        if header.s_type == 0 {
            header.s_type = (*header_of_info).s_type;
        }
        header_of_info.write(header);
    }
    info
}

#[test]
fn what_is_left_out_says_so() -> Result<()> {
    let engine = Engine::new(Api::load(library_without_primitives()?)?)?;
    let api = &engine.api;
    let reason = "built without the feature \"sort\"";
    let mut refusals = Refusals(api, Vec::new());
    let (mut sorter, mut splitter, mut merger) = (ptr::dangling_mut(), ptr::dangling_mut(), ptr::dangling_mut());
    let mut hasher = ptr::dangling_mut();
    let (mut size, mut count) = (UNTOUCHED, 7);
    // SAFETY: no pointer is followed.
    unsafe {
        let commands = VkCommandBuffer::default();
        refusals.expect(
            "create",
            (api.sort.trmCreateSorter)(engine.device, &sorter_info(), &mut sorter),
            NOT_BUILT,
            reason,
        );
        refusals.expect("scratch", (api.sort.trmGetSorterScratch)(sorter, 1, &mut size), NOT_BUILT, reason);
        refusals.expect("timestamps", (api.sort.trmGetSorterTimestampCount)(sorter, 1, &mut count), NOT_BUILT, reason);
        refusals.expect("side", (api.sort.trmGetSorterResultSide)(sorter, &mut count), NOT_BUILT, reason);
        refusals.expect("compile", (api.sort.trmCompileSorter)(sorter), NOT_BUILT, reason);
        refusals.expect("ready", (api.sort.trmGetSorterReady)(sorter, &mut count), NOT_BUILT, reason);
        refusals.expect("sort", (api.sort.trmCmdSort)(commands, sorter, &sort_info()), NOT_BUILT, reason);
        refusals.expect("batch scratch", (api.trmGetBatchScratch)(&batch_info(&[]), &mut size), NOT_BUILT, reason);
        refusals.expect("batch", (api.trmCmdBatch)(commands, &batch_info(&[])), NOT_BUILT, reason);
        (api.sort.trmDestroySorter)(ptr::null_mut());
        let reason = "built without the feature \"split\"";
        refusals.expect(
            "create",
            (api.split.trmCreateSplitter)(engine.device, &splitter_info(), &mut splitter),
            NOT_BUILT,
            reason,
        );
        refusals.expect("scratch", (api.split.trmGetSplitterScratch)(splitter, 1, &mut size), NOT_BUILT, reason);
        refusals.expect(
            "timestamps",
            (api.split.trmGetSplitterTimestampCount)(splitter, 1, &mut count),
            NOT_BUILT,
            reason,
        );
        refusals.expect("compile", (api.split.trmCompileSplitter)(splitter), NOT_BUILT, reason);
        refusals.expect("ready", (api.split.trmGetSplitterReady)(splitter, &mut count), NOT_BUILT, reason);
        refusals.expect("split", (api.split.trmCmdSplit)(commands, splitter, &split_info()), NOT_BUILT, reason);
        (api.split.trmDestroySplitter)(ptr::null_mut());
        let reason = "built without the feature \"merge\"";
        let merge = &api.merge;
        let result = (merge.trmCreateMerger)(engine.device, &merger_info(), &mut merger);
        refusals.expect("create", result, NOT_BUILT, reason);
        refusals.expect("scratch", (merge.trmGetMergerScratch)(merger, 1, &mut size), NOT_BUILT, reason);
        refusals.expect("timestamps", (merge.trmGetMergerTimestampCount)(merger, 1, &mut count), NOT_BUILT, reason);
        refusals.expect("compile", (merge.trmCompileMerger)(merger), NOT_BUILT, reason);
        refusals.expect("ready", (merge.trmGetMergerReady)(merger, &mut count), NOT_BUILT, reason);
        refusals.expect("merge", (merge.trmCmdMerge)(commands, merger, &merge_info()), NOT_BUILT, reason);
        (merge.trmDestroyMerger)(ptr::null_mut());
        let reason = "built without the feature \"hash\"";
        let hash = &api.hash;
        let result = (hash.trmCreateHasher)(engine.device, &hasher_info(), &mut hasher);
        refusals.expect("create", result, NOT_BUILT, reason);
        refusals.expect("table", (hash.trmGetHasherTableSize)(hasher, 1, &mut size), NOT_BUILT, reason);
        refusals.expect("scratch", (hash.trmGetHasherScratch)(hasher, 1, &mut size), NOT_BUILT, reason);
        refusals.expect("timestamps", (hash.trmGetHasherTimestampCount)(hasher, 1, &mut count), NOT_BUILT, reason);
        refusals.expect("compile", (hash.trmCompileHasher)(hasher), NOT_BUILT, reason);
        refusals.expect("ready", (hash.trmGetHasherReady)(hasher, &mut count), NOT_BUILT, reason);
        refusals.expect("hash", (hash.trmCmdHash)(commands, hasher, &hash_info()), NOT_BUILT, reason);
        (hash.trmDestroyHasher)(ptr::null_mut());
    }
    assert!(sorter.is_null() && splitter.is_null() && merger.is_null() && hasher.is_null());
    assert_eq!((size, count), (UNTOUCHED, 7), "outputs are written on success only");
    refusals.finish()?;
    engine.finish()
}

#[test]
fn batches_say_what_is_left_out() -> Result<()> {
    let engine = Engine::new(Api::load(library_of_sorts()?)?)?;
    let sorter = engine.sorter(TrmValueType::None)?;
    let (sort, split, merge) = (TrmSortInfo { sorter, ..sort_info() }, split_info(), merge_info());
    let hash = hash_info();
    let sort = (&raw const sort).cast();
    let mut refusals = Refusals(&engine.api, Vec::new());
    let mut size = UNTOUCHED;
    let others = [
        ("split", (&raw const split).cast()),
        ("merge", (&raw const merge).cast()),
        ("hash", (&raw const hash).cast()),
    ];
    for (what, info) in others {
        // SAFETY: the infos are valid.
        let result = unsafe { (engine.api.trmGetBatchScratch)(&batch_info(&[sort, info]), &mut size) };
        refusals.expect(what, result, NOT_BUILT, &format!("built without the feature \"{what}\""));
        assert_eq!(size, UNTOUCHED, "outputs are written on success only");
    }
    // SAFETY: the infos are valid, and nobody uses the sorter any more.
    unsafe {
        let result = (engine.api.trmGetBatchScratch)(&batch_info(&[sort]), &mut size);
        assert_eq!(result, 0, "{}", engine.api.last_error());
        (engine.api.sort.trmDestroySorter)(sorter);
    }
    refusals.finish()?;
    engine.finish()
}

#[test]
fn versions_and_texts() -> Result<()> {
    let api = Api::load(library()?)?;
    // SAFETY: it takes nothing.
    let version = unsafe { (api.trmGetVersion)() };
    let parts = [TRM_VERSION_MAJOR, TRM_VERSION_MINOR, TRM_VERSION_PATCH];
    assert_eq!(version, parts[0] << 22 | parts[1] << 12 | parts[2]);
    assert_eq!(parts.map(|part| part.to_string()).join("."), env!("CARGO_PKG_VERSION"));

    let mut texts = std::collections::BTreeSet::new();
    for (name, value) in layout::values().filter(|(name, _)| name.starts_with("TRM_ERROR") || *name == "TRM_SUCCESS") {
        let text = api.result_string(i32::try_from(*value)?);
        assert_ne!(text, "unknown result", "{name}");
        assert!(texts.insert(text), "{name} has the text of another");
    }
    assert_eq!(api.result_string(-2), "VK_ERROR_OUT_OF_DEVICE_MEMORY");
    assert_eq!(api.result_string(i32::MIN), "unknown result");

    // The detail is each thread's own.
    assert_eq!(api.last_error(), "");
    // SAFETY: no pointer is followed.
    assert_eq!(unsafe { (api.trmCreateDevice)(ptr::null(), ptr::null_mut()) }, NULL);
    assert_eq!(api.last_error(), "device is null");
    std::thread::scope(|scope| scope.spawn(|| assert_eq!(api.last_error(), "")).join())
        .map_err(|_| anyhow::anyhow!("the other thread"))?;
    assert_eq!(api.last_error(), "device is null");
    Ok(())
}
