//! Invalid splitters and splits: their error messages, and that nothing has been recorded.

use crate::common::arena::{Arena, Poison, Together};
use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::{BITS, Case};
use ash::vk;
use trommel::{
    BucketFunction, Count, IdType, KeyType, Range, Segments, SplitInfo, SplitMethod, SplitOutput, Splitter,
    SplitterInfo, Strategy, ValueType,
};

/// Checks the error messages, and that nothing has been recorded.
pub(crate) fn refusals() {
    let context = context(Setup::Native);
    let made = |info: SplitterInfo| Splitter::new(context.device(), &info).map(drop).map_err(|error| error.to_string());
    let keys = SplitterInfo::keys;
    let at = |begin_bit| BucketFunction::Bits { begin_bit };
    let of = |key, function| SplitterInfo { key, ..keys(16, function) };
    let expected = [
        (keys(0, BITS), "bucketCount is malformed: 0 is not 1 to 65536"),
        (keys(65_537, BITS), "bucketCount is malformed: 65537 is not 1 to 65536"),
        (keys(8, at(30)), "beginBit 30 > 29, the last position of a field that numbers the buckets"),
        (keys(8, at(u32::MAX)), "beginBit 4294967295 > 29, the last position of a field that numbers the buckets"),
        (of(KeyType::U64, at(30)), "beginBit is malformed: bits 30 to 34 cross a word boundary"),
        (
            of(KeyType::F32, BucketFunction::Range),
            "bucketFunction is malformed: ranges need integer keys of 32 or 64 bits",
        ),
        (
            of(KeyType::F64, BucketFunction::Signs),
            "bucketFunction is malformed: signs need keys of u32, f32 or several u32",
        ),
        (
            of(KeyType::U32x3, BucketFunction::Signs),
            "bucketCount is malformed: 16 is not 8, the combinations of 3 signs",
        ),
        (
            of(KeyType::U16, BucketFunction::Splitters),
            "keyType is malformed: keys narrower than a word need a function of bits, at most 256 buckets \
             and no segments",
        ),
        (
            SplitterInfo { max_count: u32::MAX, ..of(KeyType::U32, BucketFunction::Ids(IdType::U8)) },
            "maxCount 4294967295 > 1073741824, the most items with this bucket function or number of buckets",
        ),
        (
            SplitterInfo { drop_keys: true, ..keys(2, BITS) },
            "flags is malformed: keys are dropped (DROP_KEYS) and there are no values: nothing is left",
        ),
        (
            SplitterInfo { value: ValueType::Bytes(20), ..keys(2, BITS) },
            "valueSize is malformed: 20 is more than 16: split indices and gather the values by them",
        ),
    ];
    for (info, why) in expected {
        assert_eq!(made(info), Err(why.to_owned()), "{info:?}");
    }
    let outputs = [
        (keys(4, BITS).output(SplitOutput::Bucket(4)), "outputBucket is malformed: 4 is none of 4 buckets"),
        (
            SplitterInfo::pairs(4, BITS).output(SplitOutput::Ranks),
            "output is malformed: no items are written: values, dropped keys and interleaved items are not available",
        ),
        (
            SplitterInfo { segmented: true, ..keys(4, BITS) }.output(SplitOutput::Ranks),
            "output is malformed: segmented splits write all items, grouped by bucket",
        ),
        (
            SplitterInfo { segmented: true, ..keys(65_536, BucketFunction::Ids(IdType::U32)) },
            "bucketCount is malformed: with segments, 65536 buckets need a function that returns a bucket \
             for every item",
        ),
        (
            keys(4, BITS).method(SplitMethod::Direct).strategy(Strategy::Lookback),
            "method is malformed: the subgroup methods need reduce-then-scan, and no segments",
        ),
        (
            SplitterInfo { max_count: u32::MAX, ..keys(4, BITS) }.method(SplitMethod::Direct),
            "maxCount 4294967295 > 1073741824, the most items of the subgroup methods",
        ),
        (
            SplitterInfo { segmented: true, ..keys(4, BITS) }.method(SplitMethod::Subgroup),
            "method is malformed: the subgroup methods need reduce-then-scan, and no segments",
        ),
        (
            keys(257, BITS).output(SplitOutput::Placed),
            "output is malformed: more than 256 buckets need all items grouped by bucket, or counts",
        ),
        (
            keys(4, BITS).output(SplitOutput::Counts).strategy(Strategy::Ring),
            "strategy is malformed: counts need reduce-then-scan: without a scatter, tiles have no prefix to wait for",
        ),
    ];
    for (info, why) in outputs {
        assert_eq!(made(info), Err(why.to_owned()), "{info:?}");
    }

    let by_range = Case::new(Setup::Native, &SplitterInfo::pairs(4, BucketFunction::Range)).ranges(1, 2);
    let by_bits = Case::new(Setup::Native, &SplitterInfo::pairs(4, BITS));
    let by_ids = Case::new(Setup::Native, &SplitterInfo::pairs(4, BucketFunction::Ids(IdType::U16)));
    let by_splitters = Case::new(Setup::Native, &SplitterInfo::pairs(4, BucketFunction::Splitters));
    let placed = Case::new(Setup::Native, &SplitterInfo::pairs(5, BITS).output(SplitOutput::Placed));
    let segmented = Case::new(Setup::Native, &SplitterInfo { segmented: true, ..SplitterInfo::pairs(4, BITS) });
    let cases = [&by_range, &by_bits, &by_ids, &by_splitters, &placed, &segmented];
    let jobs = cases.map(|case| {
        let job = case.draw(Keys::Random, 1000, 1).counted(Counted::Host);
        if case.splitter.info().segmented { job.cut(vec![0, 500, 1000]) } else { job }
    });
    let arena = Arena::new(&context, &jobs, Together::Batch, Poison::Random(1));
    let [range, bits, ids, splitters, with_info, cut] =
        [0, 1, 2, 3, 4, 5].map(|job| jobs[job].info(&arena.places[job]));
    let many = Segments { count: Count::host(1 << 28), offsets: Range { size: 1 << 31, ..cut.segments.offsets } };
    // Splits of few items need no scratch except for labels.
    let required = by_splitters.splitter.scratch_size(1000).expect("few");
    let expected: Vec<(&Case, SplitInfo, String)> = vec![
        (&by_range, SplitInfo { width: 0, ..range }, "width is malformed: a bucket has at least one key".into()),
        (
            &by_bits,
            SplitInfo { width: 1, ..bits },
            "width is malformed: 1 is not 0, and the bucket function is not ranges".into(),
        ),
        (&by_range, SplitInfo { low: 1 << 32, ..range }, "low 4294967296 > 4294967295, the bits of the key".into()),
        (
            &by_bits,
            SplitInfo { bucket_ids: bits.keys, ..bits },
            "bucketIds is malformed: the bucket function is not ids".into(),
        ),
        (
            &by_ids,
            SplitInfo { splitters: ids.keys, ..ids },
            "splitters is malformed: the bucket function is not splitters".into(),
        ),
        (&by_ids, SplitInfo { bucket_ids: Range::NONE, ..ids }, "bucketIds.address is null".into()),
        (
            &by_ids,
            SplitInfo { bucket_ids: Range { size: 1999, ..ids.bucket_ids }, ..ids },
            "bucketIds.size 1999 < 2000 required for maxCount 1000".into(),
        ),
        (
            &by_ids,
            SplitInfo { bucket_ids: Range { address: ids.bucket_ids.address + 1, ..ids.bucket_ids }, ..ids },
            format!("bucketIds.address {:#x} is not a multiple of 2", ids.bucket_ids.address + 1),
        ),
        (
            &by_ids,
            SplitInfo { bucket_ids: Range { address: ids.keys_out.address, ..ids.bucket_ids }, ..ids },
            "keysOut and bucketIds overlap".into(),
        ),
        (&by_splitters, SplitInfo { splitters: Range::NONE, ..splitters }, "splitters.address is null".into()),
        (
            &by_splitters,
            SplitInfo { splitters: Range { size: 11, ..splitters.splitters }, ..splitters },
            "splitters.size 11 < 12 required".into(),
        ),
        (&placed, SplitInfo { starts: Range::NONE, ..with_info }, "starts.address is null".into()),
        // Includes the start of items without a bucket.
        (
            &placed,
            SplitInfo { starts: Range { size: 20, ..with_info.starts }, ..with_info },
            "starts.size 20 < 24 required".into(),
        ),
        (&placed, SplitInfo { starts: with_info.keys_out, ..with_info }, "keysOut and starts overlap".into()),
        (&by_bits, SplitInfo { starts: bits.keys, ..bits }, "starts is malformed: the output is not placed".into()),
        (
            &by_bits,
            SplitInfo { segments: cut.segments, ..bits },
            "segments is malformed: the splitter is not segmented".into(),
        ),
        (&segmented, SplitInfo { segments: Segments::default(), ..cut }, "segments.offsets.address is null".into()),
        (
            &segmented,
            SplitInfo { count: Count::device(cut.status, 1000), ..cut },
            "count.address is malformed: the last offset is the number of keys".into(),
        ),
        (
            &segmented,
            SplitInfo { offsets: Range { size: 39, ..cut.offsets }, ..cut },
            "offsets.size 39 < 40 required".into(),
        ),
        (
            &segmented,
            SplitInfo { counts: Range { size: 31, ..cut.counts }, ..cut },
            "counts.size 31 < 32 required".into(),
        ),
        (
            &segmented,
            SplitInfo { commands: Range { size: 95, ..cut.commands }, ..cut },
            "commands.size 95 < 96 required".into(),
        ),
        (
            &segmented,
            SplitInfo { segments: many, ..cut },
            "segments.count.max 268435456 > 89478485, 2^30 words of offsets, counts or commands".into(),
        ),
        (
            &by_bits,
            SplitInfo { low: 1, ..bits },
            "low is malformed: 1 is not 0, and the bucket function is not ranges".into(),
        ),
        (
            &by_bits,
            SplitInfo { command_items: 0, ..bits },
            "commandItems is malformed: a workgroup takes at least one item".into(),
        ),
        (
            &by_bits,
            SplitInfo { count: Count::host((1 << 30) + 1), ..bits },
            "count.max 1073741825 > 1073741824, the splitter's maxCount".into(),
        ),
        (&by_bits, SplitInfo { keys_out: Range::NONE, ..bits }, "keysOut.address is null".into()),
        (
            &by_bits,
            SplitInfo { offsets: Range { size: 16, ..bits.offsets }, ..bits },
            "offsets.size 16 < 20 required".into(),
        ),
        (
            &by_bits,
            SplitInfo { counts: Range { size: 12, ..bits.counts }, ..bits },
            "counts.size 12 < 16 required".into(),
        ),
        (
            &by_bits,
            SplitInfo { commands: Range { size: 47, ..bits.commands }, ..bits },
            "commands.size 47 < 48 required".into(),
        ),
        (&by_bits, SplitInfo { offsets: bits.keys, ..bits }, "keys and offsets overlap".into()),
        (&by_bits, SplitInfo { counts: bits.offsets, ..bits }, "offsets and counts overlap".into()),
        (&by_bits, SplitInfo { keys_out: bits.keys, ..bits }, "keys and keysOut overlap".into()),
        (
            &by_bits,
            SplitInfo { offsets: Range { address: bits.offsets.address + 2, ..bits.offsets }, ..bits },
            format!("offsets.address {:#x} is not a multiple of 4", bits.offsets.address + 2),
        ),
        (
            &by_splitters,
            SplitInfo { scratch: trommel::Scratch { size: required - 1, ..splitters.scratch }, ..splitters },
            format!("scratch.size {} < {required} required for maxCount 1000", required - 1),
        ),
    ];
    let run = context.run(|commands| {
        for (case, info, text) in &expected {
            // SAFETY: the command buffer is recording; refused calls record nothing.
            let refused = unsafe { case.splitter.cmd_split(commands, info) };
            assert_eq!(refused.map_err(|error| error.to_string()), Err(text.clone()));
        }
        // SAFETY: as above.
        let refused = unsafe { by_bits.splitter.cmd_split(vk::CommandBuffer::null(), &bits) };
        assert_eq!(refused.map_err(|error| error.to_string()), Err("commandBuffer is null".into()));
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    arena.check_untouched();
    assert_silence(&context);
}
