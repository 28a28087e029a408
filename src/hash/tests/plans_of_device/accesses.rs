//! Each pass of a hasher against its declared accesses. Tables have one slice, and batches one workgroup, so that slots
//! and lists are the same in each run on a CPU.

use super::*;
use crate::Scratch;
use crate::core::plan::Resources;
use crate::core::record::record;
use crate::core::tests::accesses::{Declared, Memory, reads_of};
use crate::core::tests::noise;
use crate::core::tests::selection::{in_brief, in_rotation};
use crate::host::Buffer;
use HashOperation::{Clear, Insert, Resize};

const CAPACITY: u32 = SLICE_SLOTS;
const SCRATCH_BYTES: u64 = 1 << 20;

/// Tables of one type in a buffer, with the arrays of a batch, and scratch behind.
struct Bench<'a> {
    context: &'a Context,
    info: HasherInfo,
    count: u32,
    buffer: Buffer,
    scratch: Scratch,
}

impl<'a> Bench<'a> {
    fn new(context: &'a Context, info: HasherInfo) -> Self {
        let count = context.device().profile().plain_threads.min(400);
        let (_, bytes) = batch_at(0, &info, CAPACITY, count, 7);
        let buffer = context.buffer(bytes + SCRATCH_BYTES).unwrap();
        let scratch = Scratch { buffer: buffer.handle(), offset: bytes, size: SCRATCH_BYTES };
        Self { context, info, count, buffer, scratch }
    }

    /// A batch with a count and all outputs on the device.
    fn request(&self, info: &HasherInfo) -> HashInfo {
        let (request, _) = batch_at(self.buffer.address(), info, CAPACITY, self.count, 7);
        HashInfo { min_capacity: if info.resizable { CAPACITY / 2 } else { 0 }, min_value: 1 << 30, ..request }
    }

    fn write(&self, content: &mut [u8], range: Range, words: impl IntoIterator<Item = u32>) {
        let offset = (range.address - self.buffer.address()) as usize;
        let target = content[offset..][..range.size as usize].chunks_exact_mut(4);
        target.zip(words).for_each(|(target, word)| target.copy_from_slice(&word.to_le_bytes()));
    }

    /// The same content with other keys, of a pool in which many repeat, and other opcodes, bits and values.
    fn with_batch(&self, content: &[u8], seed: u64) -> Vec<u8> {
        let mut content = content.to_vec();
        let all = self.request(&self.info.operation(Insert));
        let words = noise(seed, 8 * self.count as usize);
        let key_words = self.info.key.size() as usize / 4;
        let keys = (0..self.count as usize).flat_map(|i| {
            let number = words[i] % 500;
            (0..key_words).map(move |word| if word == 0 || number < 2 { number.wrapping_sub(2) } else { 7 })
        });
        self.write(&mut content, all.keys, keys);
        self.write(&mut content, all.values, words.iter().copied());
        self.write(&mut content, all.opcodes, words.iter().map(|word| word >> 7));
        self.write(&mut content, all.stencil, words.iter().map(|word| word ^ 0x5555));
        for (address, word) in [(all.count.address, self.count - 7), (all.reserve.address, 50)] {
            self.write(&mut content, Range::new(address, 4), [word]);
        }
        // Another table that a rehash reads.
        let [table, source] = [all.table, all.source].map(|range| {
            let begin = (range.address - self.buffer.address()) as usize;
            begin..begin + range.size as usize
        });
        content.copy_within(table, source.start);
        content
    }

    /// Runs an operation on this content, pass by pass, and proves the declarations. Returns the content at the end.
    fn prove(&self, info: HasherInfo, content: &[u8]) -> Vec<u8> {
        let options = Options { batches: true, deferred: true };
        let planner = HashPlanner::new(self.context.device(), Format::new(&info).unwrap(), options).unwrap();
        let request = self.request(&info);
        assert_eq!(planner.check(&request, &planner.arguments(&request)), Ok(()), "{info:?}");
        let memory = Memory { context: self.context, buffer: &self.buffer, scratch: self.scratch };
        let mut content = content.to_vec();
        let scratch = self.buffer.address() + self.scratch.offset;
        with_plan_at(scratch, &planner, request, true, |plan, size| {
            assert!(size <= SCRATCH_BYTES, "{plan}");
            let most = plan.passes.iter().map(|pass| pass.level).max().unwrap_or(0);
            for level in 0..=most {
                let mut uploads = plan.clone();
                uploads.passes.clear();
                uploads.uploads.retain(|upload| upload.level == level);
                content = memory.run(&content, &uploads, |recorder| {
                    record(&uploads, recorder);
                });
                for pass in plan.passes.iter().filter(|pass| pass.level == level) {
                    let ranges = |set: Resources| set.iter().map(|id| plan.resources[id].range);
                    let [reads, writes] = [reads_of(pass), pass.writes].map(|set| memory.mask(ranges(set)));
                    // Elsewhere the order of execution decides about slots and lists.
                    content = if self.context.device().facts().is_cpu {
                        let declared = Declared { reads, writes, by_chance: None };
                        memory.run_declared(&content, plan, pass, &declared)
                    } else {
                        memory.run_within(&content, plan, pass, &writes)
                    };
                }
            }
        });
        content
    }
}

/// Each operation on a table with keys, of which some are in the batch. The drivers share the types.
#[test]
fn passes_declare_their_accesses() {
    let context = Context::new().unwrap();
    let lanes = context.device().facts().max_lanes;
    let pairs = HasherInfo { max_capacity: 1 << 18, ..HasherInfo::pairs() };
    let others =
        [(KeyType::U64, ValueType::Bytes(8)), (KeyType::U32x3, ValueType::U32), (KeyType::U32, ValueType::None)];
    let others = others.map(|(key, value)| HasherInfo { key, value, ..pairs }).into_iter().enumerate();
    let others = others.filter(|(i, _)| in_rotation(*i, lanes)).map(|(_, info)| info);
    let tables = [pairs].into_iter().chain(others).filter(|_| !in_brief());
    for info in tables.flat_map(|info| [info, info.linear(), info.linear().multimap()]) {
        let bench = Bench::new(&context, info);
        let empty: Vec<u8> = bytemuck::cast_slice(&noise(3, bench.buffer.size() as usize / 4)).to_vec();
        let empty = bench.prove(info.operation(Clear), &bench.with_batch(&empty, 11));
        let full = bench.prove(info.operation(Insert), &bench.with_batch(&empty, 12));
        for (i, operation) in HashOperation::ALL.into_iter().enumerate() {
            let stencil = info.operation(operation).stencil();
            let operations =
                [info.operation(operation), stencil].map(|info| HasherInfo { resizable: operation == Resize, ..info });
            // The changes of a bucketed table differ by an operation alone.
            let is_like_others = operation.combines() && operation != HashOperation::Add;
            let kept = |info: &HasherInfo| info.check().is_ok() && !is_like_others && (!info.stencil || i % 3 == 0);
            for info in operations.into_iter().filter(kept) {
                bench.prove(info, &bench.with_batch(&full, 20 + i as u64));
            }
        }
    }
    assert_eq!(context.messages(), Vec::<String>::new());
}
