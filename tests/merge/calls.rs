//! Calls of mergers.

use crate::calls::{Call, Handle, Place, Shape, begun, c_count, c_range, c_scratch, c_timestamps};
use crate::spirv::words_of;
use ash::vk;
use std::ptr;
use trommel::capi::*;
use trommel::{ComparatorKernel, Count, MergeInfo, MergeSequence, Merger, MergerInfo, Range, Request, Result};

/// Merges of two sequences, of 16 and of 7, and with a comparator.
pub(crate) fn handles(place: &Place) -> Vec<Box<dyn Handle + '_>> {
    let keys = MergerInfo::keys().batches();
    let infos = [(keys, false), (keys.sequences(16), false), (keys.sequences(7), false), (keys, true)];
    infos.into_iter().map(|(info, compares)| Box::new(Mergers::new(place, info, compares)) as Box<dyn Handle>).collect()
}

/// A merger in Rust and one in C.
struct Mergers<'a> {
    place: &'a Place,
    merger: Merger,
    c_merger: TrmMerger,
}

impl<'a> Mergers<'a> {
    fn new(place: &'a Place, info: MergerInfo, compares: bool) -> Self {
        let c_info = TrmMergerCreateInfo {
            flags: TRM_MERGER_CREATE_BATCHES_BIT,
            sequence_count: info.sequences,
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::MergerCreateInfo) }
        };
        let mut c_merger = ptr::null_mut();
        let (merger, c_result) = if compares {
            let bytes = include_bytes!("../kernels/masked_u32.spv");
            let code = words_of(bytes);
            let kernel = ComparatorKernel::from_spirv(&code).expect("a kernel of this version");
            // SAFETY: the compiler has created the module from a valid function.
            unsafe {
                let merger = Merger::with_comparator(&place.device, &info, &kernel);
                let device = place.c_device.0;
                (merger, trmCreateMergerFromSpirv(device, &c_info, code.as_ptr(), bytes.len(), &mut c_merger))
            }
        } else {
            // SAFETY: everything is valid.
            let c_result = unsafe { trmCreateMerger(place.c_device.0, &c_info, &mut c_merger) };
            (Merger::new(&place.device, &info), c_result)
        };
        assert_eq!(c_result, 0, "{info:?}");
        Self { place, merger: merger.unwrap_or_else(|error| panic!("{info:?}: {error}")), c_merger }
    }

    fn sequences(&self) -> u32 {
        self.merger.info().sequences.max(2)
    }
}

impl Drop for Mergers<'_> {
    fn drop(&mut self) {
        // SAFETY: no command is ever executed.
        unsafe { trmDestroyMerger(self.c_merger) };
    }
}

impl Handle for Mergers<'_> {
    fn name(&self) -> String {
        format!("{:?}", self.merger.info())
    }

    fn counts(&self) -> Vec<u32> {
        let counts = [100, 1000, 50_000, 100_000, 1 << 20, 1 << 24];
        let more = (8..22).map(|log2| 1 << log2).filter(|_| self.sequences() > 2);
        counts.into_iter().chain(more).filter(|count| *count <= self.place.most).collect()
    }

    /// All sequences are equally long. Those after A and B are the same memory in all calls.
    fn call(&self, shape: Shape) -> Box<dyn Call + '_> {
        let all = u64::from(shape.count) * u64::from(self.sequences());
        let (scratch, timestamps) = (self.place.scratch, self.place.timestamps);
        let count = Count { address: if shape.on_device { 1 << 56 } else { 0 }, ..shape.count(2) };
        let keys = Range::new((1 << 56) + 256, u64::from(shape.count) * 4);
        let more = vec![MergeSequence { count, keys, values: Range::NONE }; self.sequences() as usize - 2];
        let info = MergeInfo {
            count_a: shape.count(2),
            count_b: Count::host(shape.count),
            keys_a: shape.array(0, shape.count.into(), 4),
            keys_b: shape.array(1, shape.count.into(), 4),
            status: shape.status(3),
            keys_out: shape.array(4, all, 4),
            scratch,
            timestamps: Some(timestamps),
            ..MergeInfo::default()
        };
        let c_sequence = |of: &MergeSequence| TrmMergeSequence {
            count: c_count(of.count),
            keys: c_range(of.keys),
            values: c_range(of.values),
        };
        let c_more: Vec<_> = more.iter().map(c_sequence).collect();
        let c_info = TrmMergeInfo {
            merger: self.c_merger,
            count_a: c_count(info.count_a),
            count_b: c_count(info.count_b),
            keys_a: c_range(info.keys_a),
            keys_b: c_range(info.keys_b),
            status: info.status,
            keys_out: c_range(info.keys_out),
            more_sequence_count: c_more.len() as u32,
            more_sequences: c_more.as_ptr(),
            scratch: c_scratch(scratch),
            timestamps: c_timestamps(timestamps),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::MergeInfo) }
        };
        Box::new(Merge { mergers: self, info, more, c_info, _c_more: c_more })
    }
}

struct Merge<'a> {
    mergers: &'a Mergers<'a>,
    /// Without `more`.
    info: MergeInfo<'static>,
    more: Vec<MergeSequence>,
    /// Points to `_c_more`.
    c_info: TrmMergeInfo,
    _c_more: Vec<TrmMergeSequence>,
}

impl Merge<'_> {
    fn info(&self) -> MergeInfo<'_> {
        MergeInfo { more: &self.more, ..self.info }
    }
}

impl Call for Merge<'_> {
    fn name(&self) -> String {
        format!("a merge of {:?} and {:?} by {:?}", self.info.count_a, self.info.count_b, self.mergers.merger.info())
    }

    fn request(&self) -> Request<'_> {
        Request::Merge(&self.mergers.merger, self.info())
    }

    fn info(&self) -> *const TrmInfoHeader {
        ptr::from_ref(&self.c_info).cast()
    }

    fn record(&self, commands: vk::CommandBuffer) -> Result<()> {
        // SAFETY: the commands are never executed.
        unsafe { self.mergers.merger.cmd_merge(commands, &self.info()) }
    }

    fn record_in_c(&self, commands: vk::CommandBuffer) -> i32 {
        // SAFETY: the commands are never executed.
        unsafe { trmCmdMerge(commands, self.mergers.c_merger, &self.c_info) }
    }
}
