//! Makes the call of a case and judges its result.

use crate::calls::case::{Case, Function, HANDLE, HandleId, Item, Pointer, handle_of_code};
use crate::calls::fake::Limits;
use crate::calls::info::Image;
use crate::calls::judge::{judge_batch, judge_single};
use crate::calls::model::*;
use crate::calls::primitive::{Creation, Model, Primitive, Query, primitive};
use crate::calls::random::Random;
use crate::calls::report::{judge_message, judge_result};
use crate::calls::session::{Blocks, Session, base_of, last_error, place};
use ash::vk;
use ash::vk::Handle as _;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;
use trommel::capi::*;

/// Result of a call, and its problems.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) result: i32,
    /// The message of a failed call.
    pub(crate) message: String,
    pub(crate) problems: Vec<String>,
}

/// Content of an output before the call.
pub(super) const POISON: u64 = 0x5a5a_5a5a_5a5a_5a5a;

/// A call, and its outcome so far.
pub(super) struct Call<'a> {
    pub(super) case: &'a Case,
    pub(super) blocks: &'a Blocks,
    pub(super) outcome: Outcome,
}

/// Makes the call.
pub(crate) fn run(case: &Case, session: &mut Session, blocks: &Blocks) -> Outcome {
    let before = last_error();
    let mut call = Call { case, blocks, outcome: Outcome::default() };
    match case.function {
        Function::Record(number) => call.single(number, session),
        Function::Batch => call.batch(session),
        Function::Query(number, query) => call.query(number, primitive(number).queries()[query].0, session),
        Function::BatchScratch => call.query_batch(session),
        Function::Create(number, creation) => call.create(number, creation, session),
        Function::CreateDevice => call.create_device(),
        Function::Requirements => call.requirements(),
        Function::Plain => call.plain(),
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
    let records = |handle: Option<HandleId>, image: &Image| {
        model_at(session, handle).is_some_and(|model| model.handle.records(image))
    };
    if case.function != Function::Batch {
        return records(case.handle, &case.image);
    }
    let count = case.image.effective::<TrmBatchInfo>().info_count as usize;
    case.items.iter().take(count).any(|item| records(handle_of_code(item.image.get(HANDLE, 8)), &item.image))
}

/// The handle of a model, or null.
fn address(model: Option<&Model>) -> *mut c_void {
    model.map_or(null_mut(), |model| model.handle.address())
}

/// The pointer that replaces a handle's code in an info.
fn handle_pointer(session: &Session, code: u64) -> u64 {
    address(model_at(session, handle_of_code(code)).as_ref()).expose_provenance() as u64
}

pub(super) fn model_at(session: &Session, handle: Option<HandleId>) -> Option<Model> {
    handle.and_then(|(side, index)| session.model(side, index))
}

/// The output pointer of a query: good, null or one byte off.
pub(super) fn output<T>(blocks: &Blocks, pointer: Pointer) -> *mut T {
    let start = blocks.output.place(&POISON.to_ne_bytes()[..size_of::<T>()], align_of::<T>());
    match pointer {
        Pointer::Good => start.cast(),
        Pointer::Null => null_mut(),
        Pointer::Misaligned => start.wrapping_sub(1).cast(),
    }
}

pub(super) fn judge_output(case: &Case, verdict: &mut Verdict) {
    verdict.must(case.output != Pointer::Null, NULL, "the output is NULL");
    verdict.must(case.output != Pointer::Misaligned, MISALIGNED, "the output is misaligned");
}

impl Call<'_> {
    pub(super) fn problem(&mut self, text: impl Into<String>) {
        self.outcome.problems.push(text.into());
    }

    /// Records twice and compares. `limits`: memory and queries that the commands may use.
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

    fn single(&mut self, number: usize, session: &mut Session) {
        let (case, verdict, primitive) = (self.case, &mut self.outcome.verdict, primitive(number));
        let model = model_at(session, case.handle);
        verdict.must(case.commands, NULL, "commandBuffer");
        verdict.must(model.is_some(), NULL, "the handle");
        let readable = primitive.judge_header(&case.image, verdict);
        let code = case.image.effective_number(HANDLE, 8);
        let other = handle_of_code(code);
        let mut limits = Limits::default();
        if let (true, Some(model)) = (readable, &model) {
            verdict.must(other.is_none() || other == case.handle, MALFORMED, "another handle in the info");
            limits = judge_single(model, &case.image, verdict);
        }
        let handle = address(model.as_ref());
        let info = primitive.place(&self.blocks.info, &case.image, &[(HANDLE, handle_pointer(session, code))]);
        // SAFETY: each pointer is null, valid by the header, or breaks a rule that the library has to detect.
        self.record(session, limits, |commands| unsafe { primitive.record(commands, handle, info) });
    }

    /// Puts the infos of a batch, and the list of them, before guard pages.
    fn place_batch(&self, session: &Session, image: &Image) -> *const TrmBatchInfo {
        let infos = self.case.items.iter().zip(&self.blocks.items).map(|(Item { primitive: number, image }, block)| {
            let pointers = [(HANDLE, handle_pointer(session, image.get(HANDLE, 8)))];
            primitive(*number).place(block, image, &pointers).expose_provenance()
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
        // Scratch of the queried size, unless a breakage has set it.
        let mut required = POISON;
        // SAFETY: as below.
        let query = unsafe { trmGetBatchScratch(self.place_batch(session, &case.image), &raw mut required) };
        let mut image = case.image.clone();
        let offset = std::mem::offset_of!(TrmBatchInfo, scratch);
        if (0..3).all(|word| image.get(offset + 8 * word, 8) == 0) {
            let mut random = Random::new(case.items.len() as u64, required);
            let scratch = crate::calls::draw::scratch(&mut random, if query == SUCCESS { required } else { 1 << 50 });
            image.set_scratch(offset, &scratch);
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
            limits =
                Limits { buffer: info.scratch.buffer.as_raw(), offset: info.scratch.offset, size: required, ..limits };
        }
        let info = self.place_batch(session, &image);
        // SAFETY: each pointer is null, valid by the header, or breaks a rule that the library has to detect.
        self.record(session, limits, |commands| unsafe { trmCmdBatch(commands, info) });
    }

    fn query(&mut self, number: usize, query: Query, session: &Session) {
        let (case, primitive) = (self.case, primitive(number));
        let verdict = &mut self.outcome.verdict;
        judge_output(case, verdict);
        let model = model_at(session, case.handle);
        let max_count = u32::try_from(case.number).unwrap_or(u32::MAX);
        verdict.must(model.is_some(), NULL, "the handle");
        let much = model.as_ref().is_some_and(|model| model.handle.may_need_too_much(max_count));
        verdict.doubt(much, "scratch of more than 2^40 bytes");
        let fits = model.as_ref().is_none_or(|model| max_count <= model.handle.items().max_count);
        verdict.must(matches!(query, Query::Number { .. }) || fits, LARGE, "maxCount");
        let handle = address(model.as_ref());
        // SAFETY: handles are alive or null, outputs good, null or misaligned.
        let answer = unsafe {
            match query {
                Query::Scratch => self.answer::<u64>(|size| primitive.scratch(handle, max_count, size)),
                Query::Timestamps => self.answer::<u32>(|count| primitive.timestamp_count(handle, max_count, count)),
                Query::Number { call, .. } => self.answer::<u32>(|number| call(handle, number)),
            }
        };
        if let Some(answer) = answer {
            self.judge_answer(primitive, query, handle, max_count, answer);
        }
    }

    fn query_batch(&mut self, session: &Session) {
        let case = self.case;
        let verdict = &mut self.outcome.verdict;
        judge_output(case, verdict);
        if verdict.header::<TrmBatchInfo>(&case.image) {
            judge_batch(case, session, &case.image.effective(), false, verdict);
        }
        let info = self.place_batch(session, &case.image);
        // SAFETY: as for Call::query.
        unsafe { self.answer::<u64>(|size| trmGetBatchScratch(info, size)) };
    }

    /// Makes a call that writes a number. Returns the number if the call succeeds.
    ///
    /// # Safety
    /// If the output is good, the call writes nothing else.
    unsafe fn answer<T: Copy + Into<u64>>(&mut self, call: impl FnOnce(*mut T) -> i32) -> Option<u64> {
        let output = output::<T>(self.blocks, self.case.output);
        self.outcome.result = call(output);
        if self.case.output != Pointer::Good {
            return None;
        }
        // SAFETY: the output is good.
        let answer: u64 = unsafe { *output }.into();
        let poison = POISON >> (64 - 8 * size_of::<T>());
        if (self.outcome.result == SUCCESS) == (answer == poison) {
            self.problem(format!("the output is {answer:#x} after result {}", self.outcome.result));
        }
        (self.outcome.result == SUCCESS).then_some(answer)
    }

    /// Judges the answer to a query: for example, scratch for a larger count is never smaller.
    fn judge_answer(
        &mut self,
        primitive: &dyn Primitive,
        query: Query,
        handle: *mut c_void,
        max_count: u32,
        answer: u64,
    ) {
        let is_possible = match query {
            Query::Scratch => {
                let (fewer, mut size) = (max_count / 2 + max_count / 3, 0u64);
                // SAFETY: handles are alive.
                let smaller = unsafe { primitive.scratch(handle, fewer, &raw mut size) };
                if smaller != SUCCESS || size > answer {
                    self.problem(format!(
                        "scratch for {fewer} is {size} (result {smaller}), and for {max_count} {answer}"
                    ));
                }
                true
            }
            Query::Timestamps => (1..=200).contains(&answer),
            Query::Number { most, .. } => answer <= most,
        };
        if !is_possible {
            self.problem(format!("the answer is {answer}"));
        }
    }

    fn create(&mut self, number: usize, creation: usize, session: &Session) {
        let (case, side, primitive) = (self.case, &session.sides[0], primitive(number));
        let verdict = &mut self.outcome.verdict;
        judge_output(case, verdict);
        verdict.must(case.handle.is_some(), NULL, "device");
        primitive.judge_creation(creation, case, verdict);
        verdict.doubt(case.fail_after >= 0, "the device runs out of memory");
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
        let arguments = Creation {
            device,
            block: &self.blocks.info,
            image: &case.image,
            source: source.cast(),
            code: text.cast_const().cast(),
            code_size: usize::try_from(case.number).unwrap_or(0),
        };
        // SAFETY: each pointer is null, valid by the header, or breaks a rule that the library has to detect. The fake
        // compiles no module.
        unsafe {
            self.outcome.result = primitive.create(creation, &arguments, out.cast());
            side.fake.fail_after.store(-1, Ordering::Relaxed);
            if case.output == Pointer::Good {
                if (self.outcome.result == SUCCESS) == (*out == 0) {
                    self.problem(format!("the handle is {:#x} after result {}", *out, self.outcome.result));
                } else {
                    primitive.destroy(*out.cast());
                }
            }
        }
        self.outcome.problems.extend(side.fake.take_faults());
    }
}
