//! Makes the call of a case and judges the answer.

use crate::case::{Case, Function, HANDLE, Item, Place, Pointer, handle_of_code};
use crate::fake::{ALL_FEATURES, Fake, Limits, get_proc_addr};
use crate::good;
use crate::info::{HEADER, Image};
use crate::model::*;
use crate::random::Random;
use crate::report::{has_text, judge_message, judge_result};
use crate::session::{Blocks, DeviceArguments, Model, Session, base_of, last_error, place};
use ash::vk;
use ash::vk::Handle as _;
use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;
use trommel::capi::*;

/// What came of a call.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) result: i32,
    /// The message of a failed call.
    pub(crate) message: String,
    pub(crate) problems: Vec<String>,
}

/// What an output holds before the call.
const POISON: u64 = 0x5a5a_5a5a_5a5a_5a5a;

/// The device that calls with a wrong number of infos, and so on, are made on.
struct Call<'a> {
    case: &'a Case,
    blocks: &'a Blocks,
    outcome: Outcome,
}

/// Makes the call.
pub(crate) fn run(case: &Case, session: &mut Session, blocks: &Blocks) -> Outcome {
    let before = last_error();
    let mut call = Call { case, blocks, outcome: Outcome::default() };
    match case.function {
        Function::Sort | Function::Split => call.single(session),
        Function::Batch => call.batch(session),
        Function::CreateSorter | Function::CreateSplitter | Function::CreateFromGlsl | Function::CreateFromSpirv => {
            call.create(session);
        }
        Function::CreateDevice => call.create_device(),
        Function::Requirements => call.requirements(),
        Function::Plain => call.plain(),
        _ => call.query(session),
    }
    let mut outcome = call.outcome;
    outcome.problems.extend(judge_result(&outcome.verdict, outcome.result));
    outcome.message = last_error();
    if outcome.result != SUCCESS {
        outcome.problems.extend(judge_message(outcome.result, &outcome.message, case.text_is_changed));
    } else if outcome.message != before {
        outcome.problems.push("a success changes trmGetLastError()".into());
    }
    outcome
}

/// Whether a good call must leave a dispatch in the command buffer.
fn must_record(case: &Case, session: &Session) -> bool {
    let records = |place: Option<Place>, image: &Image| match model_at(session, place) {
        Some(Model::Sorter(_, model)) => model.records(&image.effective()),
        Some(Model::Splitter(_, model)) => model.records(&image.effective()),
        None => false,
    };
    if case.function != Function::Batch {
        return records(case.handle, &case.image);
    }
    let count = case.image.effective::<TrmBatchInfo>().info_count as usize;
    case.items.iter().take(count).any(|item| records(handle_of_code(item.image.get(HANDLE, 8)), &item.image))
}

fn sorter(model: Option<Model>) -> (TrmSorter, Option<SorterModel>) {
    match model {
        Some(Model::Sorter(handle, model)) => (handle, Some(model)),
        _ => (null_mut(), None),
    }
}

fn splitter(model: Option<Model>) -> (TrmSplitter, Option<SplitterModel>) {
    match model {
        Some(Model::Splitter(handle, model)) => (handle, Some(model)),
        _ => (null_mut(), None),
    }
}

fn model_at(session: &Session, place: Option<Place>) -> Option<Model> {
    place.and_then(|(side, index)| session.model(side, index))
}

/// Where a query's number goes: good, null or one byte off.
fn output<T>(blocks: &Blocks, pointer: Pointer) -> *mut T {
    let start = blocks.output.place(&POISON.to_ne_bytes()[..size_of::<T>()], align_of::<T>());
    match pointer {
        Pointer::Good => start.cast(),
        Pointer::Null => null_mut(),
        Pointer::Misaligned => start.wrapping_sub(1).cast(),
    }
}

fn judge_output(case: &Case, verdict: &mut Verdict) {
    verdict.must(case.output != Pointer::Null, NULL, "the output is NULL");
    verdict.must(case.output != Pointer::Misaligned, MISALIGNED, "the output is misaligned");
}

impl Call<'_> {
    fn problem(&mut self, text: impl Into<String>) {
        self.outcome.problems.push(text.into());
    }

    /// Records twice and compares; `limits`: what the commands may use.
    fn record(&mut self, session: &mut Session, limits: Limits, call: impl Fn(VkCommandBuffer) -> i32) {
        let must_record = must_record(self.case, session);
        // A batch may be of the other device as a whole.
        let first = self.case.items.first().and_then(|item| handle_of_code(item.image.get(HANDLE, 8)));
        let side = &mut session.sides[first.map_or(0, |(side, _)| side)];
        let raw = std::ptr::from_mut(&mut *side.recording).expose_provenance() as u64;
        let commands = vk::CommandBuffer::from_raw(if self.case.commands { raw } else { 0 });
        side.recording.begin(limits);
        self.outcome.result = call(commands);
        let number = side.recording.end();
        let (dispatches, recorded) = (side.recording.dispatches, side.recording.commands);
        let mut faults = std::mem::take(&mut side.recording.faults);
        faults.extend(side.fake.take_faults());
        faults.dedup();
        self.outcome.problems.extend(faults.into_iter().take(3));
        if self.outcome.result != SUCCESS {
            if recorded != 0 {
                self.problem(format!("{recorded} commands are recorded by a call that fails"));
            }
            return;
        }
        if dispatches == 0 && must_record {
            self.problem("nothing is recorded");
        }
        side.recording.begin(limits);
        let again = call(commands);
        if again != SUCCESS || side.recording.end() != number {
            self.problem("the same call again records other commands");
        }
    }

    fn single(&mut self, session: &mut Session) {
        let (case, verdict) = (self.case, &mut self.outcome.verdict);
        let splits = case.function == Function::Split;
        let model = model_at(session, case.handle);
        verdict.must(case.commands, NULL, "commandBuffer");
        verdict.must(model.is_some(), NULL, "the handle");
        let readable =
            if splits { verdict.header::<TrmSplitInfo>(&case.image) } else { verdict.header::<TrmSortInfo>(&case.image) };
        let other = if splits {
            handle_of_code(case.image.effective::<TrmSplitInfo>().splitter.addr() as u64)
        } else {
            handle_of_code(case.image.effective::<TrmSortInfo>().sorter.addr() as u64)
        };
        let mut limits = Limits::default();
        if let (true, Some(model)) = (readable, model) {
            verdict.must(other.is_none() || other == case.handle, MALFORMED, "another handle in the info");
            limits = judge_single(&model, &case.image, verdict);
        }
        let pointers = [(HANDLE, model_at(session, other).map_or(0, |model| model.address()))];
        // SAFETY: what the arguments lead to is null or as the header asks, or breaks a rule that the library has to find out.
        unsafe {
            if splits {
                let (handle, info) = (splitter(model).0, place::<TrmSplitInfo>(&self.blocks.info, &case.image, &pointers));
                self.record(session, limits, |commands| trmCmdSplit(commands, handle, info));
            } else {
                let (handle, info) = (sorter(model).0, place::<TrmSortInfo>(&self.blocks.info, &case.image, &pointers));
                self.record(session, limits, |commands| trmCmdSort(commands, handle, info));
            }
        }
    }

    /// Puts the infos of a batch, and the list of them, before guard pages.
    fn place_batch(&self, session: &Session, image: &Image) -> *const TrmBatchInfo {
        let infos = self.case.items.iter().zip(&self.blocks.items).map(|(Item { splits, image }, block)| {
            let handle = model_at(session, handle_of_code(image.get(HANDLE, 8))).map_or(0, |model| model.address());
            let pointers = [(HANDLE, handle)];
            if *splits {
                place::<TrmSplitInfo>(block, image, &pointers).expose_provenance()
            } else {
                place::<TrmSortInfo>(block, image, &pointers).expose_provenance()
            }
        });
        let list: Vec<u8> = infos.flat_map(usize::to_ne_bytes).collect();
        let list = self.blocks.list.place(&list, 8);
        let list = match self.case.list {
            Pointer::Good => list,
            Pointer::Null => null_mut(),
            Pointer::Misaligned => list.wrapping_sub(4),
        };
        place(&self.blocks.info, image, &[(std::mem::offset_of!(TrmBatchInfo, infos), list.expose_provenance() as u64)])
    }

    fn batch(&mut self, session: &mut Session) {
        let case = self.case;
        // Scratch by what the query says, unless it has been broken.
        let mut required = POISON;
        // SAFETY: as below.
        let query = unsafe { trmGetBatchScratch(self.place_batch(session, &case.image), &raw mut required) };
        let mut image = case.image.clone();
        let offset = std::mem::offset_of!(TrmBatchInfo, scratch);
        if (0..3).all(|word| image.get(offset + 8 * word, 8) == 0) {
            let mut random = Random::new(case.items.len() as u64, required);
            let scratch = crate::case::scratch(&mut random, if query == SUCCESS { required } else { 1 << 50 });
            let words = [scratch.buffer.as_raw(), scratch.offset, scratch.size];
            words.into_iter().enumerate().for_each(|(index, word)| image.set(offset + 8 * index, 8, word));
        }
        let verdict = &mut self.outcome.verdict;
        verdict.must(case.commands, NULL, "commandBuffer");
        let mut limits = Limits::default();
        if verdict.header::<TrmBatchInfo>(&image) {
            let info = image.effective::<TrmBatchInfo>();
            let arrays = judge_batch(case, session, &info, true, verdict);
            if query == SUCCESS && info.info_count != 0 {
                verdict.must(required <= 1 << 40, LARGE, "scratch of more than 2^40 bytes");
                judge_scratch(&info.scratch, base_of(info.scratch.buffer.as_raw()), required, &arrays, verdict);
            }
            limits = Limits { buffer: info.scratch.buffer.as_raw(), offset: info.scratch.offset, size: required, ..limits };
        }
        let info = self.place_batch(session, &image);
        // SAFETY: what the arguments lead to is null or as the header asks, or breaks a rule that the library has to find out.
        self.record(session, limits, |commands| unsafe { trmCmdBatch(commands, info) });
    }

    fn query(&mut self, session: &Session) {
        let case = self.case;
        judge_output(case, &mut self.outcome.verdict);
        let model = model_at(session, case.handle);
        let number = u32::try_from(case.number).unwrap_or(u32::MAX);
        if case.function == Function::BatchScratch {
            let verdict = &mut self.outcome.verdict;
            if verdict.header::<TrmBatchInfo>(&case.image) {
                judge_batch(case, session, &case.image.effective(), false, verdict);
            }
        } else {
            let verdict = &mut self.outcome.verdict;
            verdict.must(model.is_some(), NULL, "the handle");
            verdict.doubt(model.is_some_and(|model| model.items().may_need_too_much(number)), "scratch of more than 2^40 bytes");
            let counts = case.function != Function::SorterSide;
            let fits = model.is_none_or(|model| number <= model.items().max_count);
            verdict.must(!counts || fits, LARGE, "maxCount");
        }
        let (narrow, wide) =
            matches!(case.function, Function::SorterTimestamps | Function::SplitterTimestamps | Function::SorterSide)
                .then(|| (output::<u32>(self.blocks, case.output), null_mut()))
                .unwrap_or_else(|| (null_mut(), output::<u64>(self.blocks, case.output)));
        // SAFETY: handles are alive or null, outputs good, null or misaligned.
        unsafe {
            self.outcome.result = match case.function {
                Function::SorterScratch => trmGetSorterScratch(sorter(model).0, number, wide),
                Function::SorterTimestamps => trmGetSorterTimestampCount(sorter(model).0, number, narrow),
                Function::SorterSide => trmGetSorterResultSide(sorter(model).0, narrow),
                Function::SplitterScratch => trmGetSplitterScratch(splitter(model).0, number, wide),
                Function::SplitterTimestamps => trmGetSplitterTimestampCount(splitter(model).0, number, narrow),
                _ => trmGetBatchScratch(self.place_batch(session, &case.image), wide),
            };
            if case.output != Pointer::Good {
                return;
            }
            let answer = if wide.is_null() { u64::from(*narrow) } else { *wide };
            let poison = if wide.is_null() { POISON & u64::from(u32::MAX) } else { POISON };
            if (self.outcome.result == SUCCESS) == (answer == poison) {
                self.problem(format!("the output is {answer:#x} after result {}", self.outcome.result));
            }
            self.judge_answer(model, number, answer);
        }
    }

    /// Scratch never shrinks, queries are one at least, and so on.
    fn judge_answer(&mut self, model: Option<Model>, number: u32, answer: u64) {
        if self.outcome.result != SUCCESS {
            return;
        }
        let (fewer, mut size) = (number / 2 + number / 3, 0u64);
        // SAFETY: handles are alive.
        let smaller = unsafe {
            match (self.case.function, model) {
                (Function::SorterScratch, Some(Model::Sorter(handle, _))) => trmGetSorterScratch(handle, fewer, &raw mut size),
                (Function::SplitterScratch, Some(Model::Splitter(handle, _))) => {
                    trmGetSplitterScratch(handle, fewer, &raw mut size)
                }
                _ => SUCCESS,
            }
        };
        if smaller != SUCCESS || size > answer {
            self.problem(format!("scratch for {fewer} is {size} (result {smaller}), and for {number} {answer}"));
        }
        let timestamps = matches!(self.case.function, Function::SorterTimestamps | Function::SplitterTimestamps);
        if timestamps && !(1..=200).contains(&answer) || self.case.function == Function::SorterSide && answer > 1 {
            self.problem(format!("the answer is {answer}"));
        }
    }

    fn create(&mut self, session: &Session) {
        let (case, side) = (self.case, &session.sides[0]);
        let verdict = &mut self.outcome.verdict;
        judge_output(case, verdict);
        verdict.must(case.handle.is_some(), NULL, "device");
        judge_creation(case, verdict);
        let device = if case.handle.is_some() { side.device } else { null_mut() };
        side.fake.fail_after.store(case.fail_after, Ordering::Relaxed);
        let text = self.blocks.text.place(&case.text, 4);
        let text = match case.list {
            Pointer::Good => text,
            Pointer::Null => null_mut(),
            Pointer::Misaligned => text.wrapping_sub(1),
        };
        let source = CString::new(case.text.clone()).unwrap_or_default();
        let source = match case.list {
            Pointer::Null => null(),
            _ => self.blocks.list.place(source.as_bytes_with_nul(), 1).cast_const(),
        };
        let out = output::<usize>(self.blocks, case.output);
        let (code_size, image) = (usize::try_from(case.number).unwrap_or(0), &case.image);
        let splitter = || place::<TrmSplitterCreateInfo>(&self.blocks.info, image, &[]);
        // SAFETY: what the arguments lead to is null or as the header asks, or breaks a rule that the library has to find out. The fake compiles no
        // module.
        unsafe {
            self.outcome.result = match case.function {
                Function::CreateSorter => trmCreateSorter(device, place(&self.blocks.info, image, &[]), out.cast()),
                Function::CreateSplitter => trmCreateSplitter(device, splitter(), out.cast()),
                Function::CreateFromGlsl => trmCreateSplitterFromGlsl(device, splitter(), source.cast(), out.cast()),
                _ => trmCreateSplitterFromSpirv(device, splitter(), text.cast_const().cast(), code_size, out.cast()),
            };
            side.fake.fail_after.store(-1, Ordering::Relaxed);
            if case.output == Pointer::Good {
                if (self.outcome.result == SUCCESS) == (*out == 0) {
                    self.problem(format!("the handle is {:#x} after result {}", *out, self.outcome.result));
                } else if case.function == Function::CreateSorter {
                    trmDestroySorter(*out.cast());
                } else {
                    trmDestroySplitter(*out.cast());
                }
            }
        }
        self.outcome.problems.extend(side.fake.take_faults());
    }

    fn fake(&self, callbacks: bool) -> Fake {
        let case = self.case;
        let facts = good::facts(&mut Random::new(case.facts_seed, 0));
        let mut fake = Fake::new(facts);
        (fake.debug_utils, fake.callbacks) = (case.debug_utils, callbacks);
        (fake.features, fake.instance_minor) = (case.features, case.instance_minor);
        fake
    }

    fn create_device(&mut self) {
        let case = self.case;
        let info = case.image.effective::<TrmDeviceCreateInfo>();
        let fake = self.fake(!info.allocation_callbacks.is_null());
        let verdict = &mut self.outcome.verdict;
        judge_output(case, verdict);
        if verdict.header::<TrmDeviceCreateInfo>(&case.image) {
            judge_device(case, &info, &fake, verdict);
        }
        fake.fail_after.store(case.fail_after, Ordering::Relaxed);
        let profile = (!info.profile.is_null()).then(|| CString::new(case.text.clone()).unwrap_or_default());
        let arguments = DeviceArguments { enabled: case.enabled, profile };
        let out = output::<TrmDevice>(self.blocks, case.output);
        self.outcome.result = arguments.create(self.blocks, &fake, &case.image, out);
        // SAFETY: the output is good, or not read; a device is destroyed once.
        unsafe {
            if case.output == Pointer::Good {
                if (self.outcome.result == SUCCESS) == (*out).is_null() {
                    self.problem(format!("the handle is {:?} after result {}", *out, self.outcome.result));
                } else {
                    trmDestroyDevice(*out);
                }
            }
        }
        self.outcome.problems.extend(fake.take_faults());
        if fake.live() != 0 {
            self.problem(format!("{} Vulkan objects are left", fake.live()));
        }
    }

    fn requirements(&mut self) {
        let case = self.case;
        let fake = self.fake(false);
        let verdict = &mut self.outcome.verdict;
        let mut lacks = fake.features != ALL_FEATURES;
        let wants_text = case.number != 0;
        verdict.must(!wants_text || case.list != Pointer::Null, NULL, "missingSize");
        verdict.must(case.list != Pointer::Misaligned, MISALIGNED, "missingSize");
        if verdict.header::<TrmDeviceRequirementsInfo>(&case.image) {
            let image = &case.image;
            let given =
                [HEADER, HEADER + 8, HEADER + 16].map(|offset| image.get(4, 4) > offset as u64 && image.get(offset, 8) != 0);
            verdict.must(given == [true; 3], NULL, "getInstanceProcAddr, instance or physicalDevice");
            let info = image.effective::<TrmDeviceRequirementsInfo>();
            verdict.must(info.reserved == 0, MALFORMED, "reserved");
            verdict.must(fake.instance_minor != 0, MISSING, "an instance of Vulkan 1.0");
            // Other old instances are among what is missing, like a feature.
            lacks |= info.api_version < vk::API_VERSION_1_3;
        }
        let entry: vk::PFN_vkGetInstanceProcAddr = get_proc_addr;
        let pointers = [(HEADER, entry as usize as u64), (HEADER + 8, fake.raw()), (HEADER + 16, fake.raw())];
        let info = place::<TrmDeviceRequirementsInfo>(&self.blocks.info, &case.image, &pointers);
        let (mut v12, mut v13) = (vk::PhysicalDeviceVulkan12Features::default(), vk::PhysicalDeviceVulkan13Features::default());
        let room = usize::try_from(case.number).unwrap_or(0);
        let mut size = u32::try_from(room).unwrap_or(0);
        let text = if wants_text { self.blocks.text.place(&vec![0x2a; room], 1) } else { null_mut() };
        let size_at = match case.list {
            Pointer::Good => &raw mut size,
            Pointer::Null => null_mut(),
            Pointer::Misaligned => (&raw mut size).cast::<u8>().wrapping_add(1).cast(),
        };
        let mut extensions = 7u32;
        // SAFETY: what the arguments lead to is null or as the header asks, or breaks a rule that the library has to find out.
        self.outcome.result = unsafe {
            let extensions = &raw mut extensions;
            trmGetDeviceRequirements(info, &raw mut v12, &raw mut v13, extensions, null_mut(), size_at, text.cast())
        };
        let cut = self.outcome.result == vk::Result::INCOMPLETE.as_raw();
        if cut && wants_text && lacks && self.outcome.verdict.faults.is_empty() {
            self.outcome.verdict.must(false, vk::Result::INCOMPLETE.as_raw(), "the text is cut");
            // SAFETY: the library has written so many bytes.
            let ended = unsafe { *text.add(room - 1) } == 0 && size as usize == room;
            if !ended {
                self.problem("a text that is cut does not end");
            }
        } else if self.outcome.result == SUCCESS {
            let enabled =
                [v12.buffer_device_address, v12.scalar_block_layout, v13.synchronization2, v13.maintenance4] == [vk::TRUE; 4];
            if !enabled || extensions != 0 || case.list == Pointer::Good && !lacks && size != 1 {
                self.problem(format!("a device that has all: enabled {enabled}, {extensions} extensions, text of {size} bytes"));
            }
        } else if extensions != 7 || v12.buffer_device_address != 0 || size as usize != room {
            self.problem("a failed call writes outputs");
        }
    }

    fn plain(&mut self) {
        // SAFETY: NULL is ignored.
        unsafe {
            trmDestroyDevice(null_mut());
            trmDestroySorter(null_mut());
            trmDestroySplitter(null_mut());
        }
        let number = u32::try_from(self.case.number & u64::from(u32::MAX)).unwrap_or(0);
        for result in [number.cast_signed(), -1_900_000_000 - (number % 20).cast_signed(), -(number % 30).cast_signed()] {
            if !has_text(result) {
                self.problem(format!("result {result} has no text"));
            }
        }
        if trmGetVersion() != vk::make_api_version(0, TRM_VERSION_MAJOR, TRM_VERSION_MINOR, TRM_VERSION_PATCH) {
            self.problem("the version is not the header's");
        }
    }
}

/// Judges the members of an info by its model; what commands may use.
fn judge_single(model: &Model, image: &Image, verdict: &mut Verdict) -> Limits {
    let (mut required, mut queries) = (POISON, 0u32);
    let (arrays, scratch, timestamps, count);
    // SAFETY: the session's handles are alive.
    let sized = unsafe {
        match model {
            Model::Sorter(handle, model) => {
                let info = image.effective::<TrmSortInfo>();
                arrays = judge_sort(model, &info, verdict);
                (scratch, timestamps, count) = (info.scratch, info.timestamps, info.count.max);
                trmGetSorterTimestampCount(*handle, count, &raw mut queries);
                trmGetSorterScratch(*handle, count, &raw mut required)
            }
            Model::Splitter(handle, model) => {
                let info = image.effective::<TrmSplitInfo>();
                arrays = judge_split(model, &info, verdict);
                (scratch, timestamps, count) = (info.scratch, info.timestamps, info.count.max);
                trmGetSplitterTimestampCount(*handle, count, &raw mut queries);
                trmGetSplitterScratch(*handle, count, &raw mut required)
            }
        }
    };
    verdict.doubt(model.items().may_need_too_much(count), "scratch of more than 2^40 bytes");
    if sized != SUCCESS {
        return Limits::default();
    }
    let (buffer, pool) = (scratch.buffer.as_raw(), timestamps.pool.as_raw());
    judge_scratch(&scratch, base_of(buffer), required, &arrays, verdict);
    if pool == 0 {
        return Limits { buffer, offset: scratch.offset, size: required, ..Limits::default() };
    }
    let end = u64::from(timestamps.first) + u64::from(queries);
    verdict.must(end <= 1 << 32, LARGE, "timestamps.first");
    Limits { buffer, offset: scratch.offset, size: required, pool, first_query: timestamps.first, queries }
}

/// Judges the infos of a batch, `all`: for recording, otherwise for scratch alone. The memory that they name.
fn judge_batch(case: &Case, session: &Session, info: &TrmBatchInfo, all: bool, verdict: &mut Verdict) -> Vec<Array> {
    let info_count = info.info_count;
    if info_count == 0 {
        return Vec::new();
    }
    verdict.must(info_count <= 1 << 20, LARGE, "infoCount");
    let given = case.list != Pointer::Null && !info.infos.is_null();
    verdict.must(given, NULL, "infos");
    verdict.must(case.list != Pointer::Misaligned, MISALIGNED, "infos");
    if !given || case.list == Pointer::Misaligned {
        return Vec::new();
    }
    let (mut total, mut device) = (0u64, None);
    let mut arrays: Vec<Array> = Vec::new();
    for Item { splits, image } in case.items.iter().take(info_count as usize) {
        let known = if *splits { verdict.header::<TrmSplitInfo>(image) } else { verdict.header::<TrmSortInfo>(image) };
        if !known {
            continue;
        }
        let place = if image.get(4, 4) > HANDLE as u64 { handle_of_code(image.get(HANDLE, 8)) } else { None };
        let Some(model) = model_at(session, place) else {
            verdict.must(false, NULL, "a handle");
            continue;
        };
        verdict.must(info_count == 1 || model.items().batches, MALFORMED, "a handle without batches");
        let side = place.map(|(side, _)| side);
        verdict.must(*device.get_or_insert(side) == side, FOREIGN, "handles of two devices");
        let mut own = Verdict::default();
        let (named, count) = match &model {
            Model::Sorter(_, model) => {
                let info = image.effective::<TrmSortInfo>();
                (judge_sort(model, &info, &mut own), info.count.max)
            }
            Model::Splitter(_, model) => {
                let info = image.effective::<TrmSplitInfo>();
                (judge_split(model, &info, &mut own), info.count.max)
            }
        };
        total += u64::from(count);
        verdict.doubt(model.items().may_need_too_much(count), "scratch of more than 2^40 bytes");
        if !all {
            // Addresses do not matter; the number of segments does.
            let counts = ["count.max", "segments.count.max"];
            own.faults.retain(|(_, what)| counts.contains(what));
            verdict.doubt(own.faults.iter().any(|(_, what)| *what == counts[1]), "too many segments");
            own.faults.retain(|(_, what)| *what == counts[0]);
        } else {
            let apart = named.iter().all(|array| arrays.iter().all(|other| !array.conflicts(other)));
            verdict.must(apart, OVERLAP, "arrays of two problems");
        }
        verdict.faults.extend(own.faults);
        verdict.doubts.extend(own.doubts);
        arrays.extend(named);
    }
    verdict.doubt(total > 1 << 30, "more workgroups than a dispatch has");
    arrays
}

fn judge_creation(case: &Case, verdict: &mut Verdict) {
    let image = &case.image;
    if case.function == Function::CreateSorter {
        if verdict.header::<TrmSorterCreateInfo>(image) {
            judge_sorter(&image.effective(), verdict);
        }
    } else if verdict.header::<TrmSplitterCreateInfo>(image) {
        let info = image.effective::<TrmSplitterCreateInfo>();
        judge_splitter(&info, verdict);
        let user = info.bucket_function == USER;
        verdict.must(user == (case.function != Function::CreateSplitter), MALFORMED, "bucketFunction and its kernel");
        if case.function == Function::CreateFromSpirv {
            let for_key: Vec<u8> = good::module(info.key_type).iter().flat_map(|word| word.to_ne_bytes()).collect();
            verdict.must(case.text_is_changed || case.text == for_key, MALFORMED, "keyType of the kernel");
        }
    }
    match case.function {
        // No compiler, or one that refuses the text.
        Function::CreateFromGlsl => {
            verdict.must(false, NOT_BUILT, "no compiler");
            verdict.must(false, MALFORMED, "no GLSL");
        }
        Function::CreateFromSpirv => {
            verdict.must(case.number.is_multiple_of(4), MISALIGNED, "codeSize");
            verdict.must(case.list != Pointer::Null, NULL, "code");
            verdict.must(case.list != Pointer::Misaligned, MISALIGNED, "code");
            verdict.must(case.number == case.text.len() as u64, MALFORMED, "code is cut off");
            verdict.doubt(case.text_is_changed, "a changed module");
        }
        _ => {}
    }
    verdict.doubt(case.fail_after >= 0, "the device runs out of memory");
}

fn judge_device(case: &Case, info: &TrmDeviceCreateInfo, fake: &Fake, verdict: &mut Verdict) {
    let given = |offset: usize| case.image.get(4, 4) > offset as u64 && case.image.get(offset, 8) != 0;
    let all = [HEADER, HEADER + 8, HEADER + 16, HEADER + 24, HEADER + 32].into_iter().all(given);
    verdict.must(all, NULL, "getInstanceProcAddr, instance, physicalDevice, device or enabledFeatures");
    verdict.must(info.debug_utils <= 1, UNKNOWN, "debugUtils");
    verdict.must(info.reserved == 0, MALFORMED, "reserved");
    verdict.must(info.debug_utils != 1 || fake.debug_utils, MISSING, "VK_EXT_debug_utils");
    let truncated = case.image.get(4, 4) <= std::mem::offset_of!(TrmDeviceCreateInfo, queue_family_index) as u64;
    let family = info.queue_family_index;
    if !truncated && family != vk::QUEUE_FAMILY_IGNORED && family as usize >= fake.families.len() {
        [LARGE, MALFORMED, UNKNOWN].into_iter().for_each(|code| verdict.must(false, code, "queueFamilyIndex"));
    }
    verdict.must(fake.instance_minor >= 3, MISSING, "an instance below Vulkan 1.3");
    verdict.must(fake.features == ALL_FEATURES && case.enabled == ALL_FEATURES, MISSING, "features");
    if !info.profile.is_null() && case.text_is_changed {
        verdict.must(std::str::from_utf8(&case.text).is_ok(), MALFORMED, "profile: no UTF-8");
        verdict.doubt(true, "a changed profile");
    }
    verdict.doubt(case.fail_after >= 0, "the device runs out of memory");
}
