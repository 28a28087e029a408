//! Operations besides the merge of two sequences: searches, set operations, updates, segments, several sequences, and
//! the order of a comparator.

use super::*;

/// The bounds of keys of A in B. Nothing else is written.
#[test]
fn bounds() -> Result<()> {
    let engine = engine()?;
    type CountsFor = fn(&u32, &u32) -> bool;
    let operations: [(TrmMergeOperation, CountsFor); 2] = [
        (TrmMergeOperation::LowerBound, |key, needle| key < needle),
        (TrmMergeOperation::UpperBound, |key, needle| key <= needle),
    ];
    for (operation, counts_for) in operations {
        let merger = engine.merger_of(&TrmMergerCreateInfo { operation: operation as i32, ..merger_info() })?;
        let problem = Problem::new(&engine, [900, 1200], [None, Some(1100)])?;
        run(&engine, merger, &problem.info())?;
        let [needles, sorted] = &problem.input_keys;
        let bound = |needle: &u32| u32::try_from(sorted[..1100].partition_point(|key| counts_for(key, needle)));
        let mut expected: Vec<u32> = needles[..900].iter().map(bound).collect::<Result<_, _>>()?;
        expected.resize((problem.most() + GUARD) as usize, UNTOUCHED);
        let [keys, found] = problem.output.each_ref().map(|output| engine.context.download(output, expected.len()));
        ensure!(found? == expected, "{operation:?}");
        ensure!(keys?.iter().all(|word: &u32| *word == UNTOUCHED), "{operation:?} writes keys");
        destroy(&engine, merger);
    }
    engine.finish()
}

/// Set operations on pairs, by the numbers of copies of each key in both sequences.
#[test]
fn set_operations() -> Result<()> {
    let engine = engine()?;
    type Copies = fn(usize, usize) -> [std::ops::Range<usize>; 2];
    let operations: [(TrmMergeOperation, Copies); 4] = [
        (TrmMergeOperation::Union, |m, n| [0..m, m.min(n)..n]),
        (TrmMergeOperation::Intersection, |m, n| [0..m.min(n), n..n]),
        (TrmMergeOperation::Difference, |m, n| [m.min(n)..m, n..n]),
        (TrmMergeOperation::SymmetricDifference, |m, n| [m.min(n)..m, m.min(n)..n]),
    ];
    for (operation, copies) in operations {
        let kind = TrmMergerCreateInfo { operation: operation as i32, ..of(TrmValueType::U32) };
        let merger = engine.merger_of(&kind)?;
        let problem = Problem::new(&engine, [9000, 7000], [None, Some(6500)])?;
        let count_out = engine.context.upload(&[UNTOUCHED])?;
        let work = engine.merge_scratch(merger, problem.most())?;
        let info = TrmMergeInfo { scratch: scratch(&work), count_out: count_out.address(), ..problem.info() };
        run(&engine, merger, &info)?;
        let mut all: BTreeMap<u32, [Vec<u32>; 2]> = BTreeMap::new();
        for (side, used) in [9000, 6500].into_iter().enumerate() {
            for (key, index) in problem.input_keys[side][..used].iter().zip(0u32..) {
                all.entry(*key).or_default()[side].push(index | [0, OF_B][side]);
            }
        }
        let mut expected: Vec<(u32, u32)> = Vec::new();
        for (key, [in_a, in_b]) in all {
            let [of_a, of_b] = copies(in_a.len(), in_b.len());
            expected.extend(in_a[of_a].iter().chain(&in_b[of_b]).map(|value| (key, *value)));
        }
        let found = engine.context.download::<u32>(&count_out, 1)?[0] as usize;
        ensure!(found == expected.len(), "{operation:?} counts {found}, not {}", expected.len());
        let [keys, values] =
            problem.output.each_ref().map(|output| engine.context.download::<u32>(output, problem.most() as usize));
        let (keys, values) = (keys?, values?);
        let items: Vec<_> = keys.iter().copied().zip(values.iter().copied()).collect();
        ensure!(items[..found] == expected, "{operation:?}");
        ensure!(items[found..].iter().all(|item| *item == (UNTOUCHED, UNTOUCHED)), "{operation:?} writes more");
        destroy(&engine, merger);
    }
    engine.finish()
}

/// Unique pairs of A, also if its keys are in no order. Null ranges stand for B.
#[test]
fn unique() -> Result<()> {
    let engine = engine()?;
    let kind = TrmMergerCreateInfo { operation: TrmMergeOperation::Unique as i32, ..of(TrmValueType::U32) };
    let merger = engine.merger_of(&kind)?;
    let problem = Problem::new(&engine, [9000, 0], [Some(8800), None])?;
    let in_any_order: Vec<u32> = (0..9000).map(|index| index / 3 % 500).collect();
    let (count_out, other) = (engine.context.upload(&[UNTOUCHED])?, engine.context.upload(&in_any_order)?);
    let work = engine.merge_scratch(merger, problem.most())?;
    let none = TrmRange { address: 0, size: 0 };
    let info = TrmMergeInfo {
        keys_b: none,
        values_b: none,
        scratch: scratch(&work),
        count_out: count_out.address(),
        ..problem.info()
    };
    for (keys_a, keys) in [(info.keys_a, &problem.input_keys[0]), (range(&other), &in_any_order)] {
        run(&engine, merger, &TrmMergeInfo { keys_a, ..info })?;
        let mut expected: Vec<(u32, u32)> = keys[..8800].iter().copied().zip(0..).collect();
        expected.dedup_by_key(|pair| pair.0);
        let found = engine.context.download::<u32>(&count_out, 1)?[0] as usize;
        ensure!(found == expected.len(), "{found} items, not {}", expected.len());
        let [keys, values] =
            problem.output.each_ref().map(|output| engine.context.download::<u32>(output, expected.len()));
        ensure!(keys?.into_iter().zip(values?).eq(expected), "items");
    }
    destroy(&engine, merger);
    engine.finish()
}

/// An update of segments: what is marked by its value disappears, and the device writes where segments begin.
#[test]
fn updates_and_segments() -> Result<()> {
    let engine = engine()?;
    let kind = TrmMergerCreateInfo {
        operation: TrmMergeOperation::UpdateByValue as i32,
        flags: TRM_MERGER_CREATE_SEGMENTED_BIT,
        ..of(TrmValueType::U32)
    };
    let merger = engine.merger_of(&kind)?;
    let problem = Problem::new(&engine, [9000, 7000], [None, None])?;
    // The values of A are its indices.
    let marks: Vec<u32> = (0..9000u32.div_ceil(32)).map(|word| word.wrapping_mul(0x9e37_79b9)).collect();
    let offsets: [[u32; 4]; 2] = [[0, 2500, 2500, 9000], [0, 100, 6000, 7000]];
    let upload = |words: &[u32]| engine.context.upload(words);
    let (marked, count_out) = (upload(&marks)?, upload(&[UNTOUCHED])?);
    let (offsets_a, offsets_b, offsets_out) = (upload(&offsets[0])?, upload(&offsets[1])?, upload(&[UNTOUCHED; 4])?);
    let work = engine.merge_scratch(merger, problem.most())?;
    let segments = TrmMergeSegments {
        count: TrmCount { max: 3, address: 0 },
        offsets_a: range(&offsets_a),
        offsets_b: range(&offsets_b),
        offsets_out: range(&offsets_out),
    };
    let info = TrmMergeInfo {
        scratch: scratch(&work),
        count_out: count_out.address(),
        marks: range(&marked),
        segments,
        ..problem.info()
    };
    run(&engine, merger, &info)?;
    let (mut expected, mut starts) = (Vec::new(), vec![0]);
    for segment in 0..3 {
        let items = [0, 1].map(|side| {
            let part = offsets[side][segment] as usize..offsets[side][segment + 1] as usize;
            let indices = offsets[side][segment]..offsets[side][segment + 1];
            problem.input_keys[side][part].iter().copied().zip(indices)
        });
        let [of_a, of_b] = items;
        let left = of_a.filter(|(_, index)| marks[*index as usize / 32] >> (index % 32) & 1 == 0);
        let mut merged: Vec<_> = left.chain(of_b.map(|(key, index)| (key, index | OF_B))).collect();
        merged.sort_by_key(|item| item.0);
        expected.extend(merged);
        starts.push(u32::try_from(expected.len())?);
    }
    let download = |buffer: &Buffer, words| engine.context.download::<u32>(buffer, words);
    ensure!(download(&offsets_out, 4)? == starts, "offsets of segments");
    ensure!(download(&count_out, 1)? == starts[3..], "number of items");
    let [keys, values] = problem.output.each_ref().map(|output| download(output, problem.most() as usize));
    let items: Vec<_> = keys?.into_iter().zip(values?).collect();
    ensure!(items[..expected.len()] == expected, "items");
    ensure!(items[expected.len()..].iter().all(|item| *item == (UNTOUCHED, UNTOUCHED)), "more is written");
    destroy(&engine, merger);
    engine.finish()
}

/// Five sequences in C's struct, alone and in a batch: of equal keys, those of earlier sequences come first.
#[test]
fn several_sequences() -> Result<()> {
    const LENGTHS: [u32; 5] = [4000, 0, 9000, 1, 7777];
    let engine = engine()?;
    let kind = TrmMergerCreateInfo { sequence_count: 5, flags: TRM_MERGER_CREATE_BATCHES_BIT, ..of(TrmValueType::U32) };
    let merger = engine.merger_of(&kind)?;
    let (mut expected, mut buffers, mut sequences) = (Vec::new(), Vec::new(), Vec::new());
    for (of, length) in LENGTHS.into_iter().enumerate() {
        let mut keys: Vec<u32> = (0..length).map(|index| key(index + 31 * length) % 5000).collect();
        keys.sort_unstable();
        let values: Vec<u32> = (0..length).map(|index| index | u32::try_from(of).expect("few") << 24).collect();
        expected.extend(keys.iter().copied().zip(values.iter().copied()));
        let pad = |words: &[u32]| engine.context.upload(&[words, &[UNTOUCHED]].concat());
        let (keys, values) = (pad(&keys)?, pad(&values)?);
        sequences.push(TrmMergeSequence {
            count: TrmCount { max: length, address: 0 },
            keys: range(&keys),
            values: range(&values),
        });
        buffers.extend([keys, values]);
    }
    expected.sort_by_key(|item| item.0);
    let most = u32::try_from(expected.len())?;
    let work = engine.merge_scratch(merger, most)?;
    let merge = |outputs: &[Buffer]| TrmMergeInfo {
        merger,
        count_a: sequences[0].count,
        keys_a: sequences[0].keys,
        values_a: sequences[0].values,
        count_b: sequences[1].count,
        keys_b: sequences[1].keys,
        values_b: sequences[1].values,
        more_sequence_count: 3,
        more_sequences: sequences[2..].as_ptr(),
        keys_out: range(&outputs[0]),
        values_out: range(&outputs[1]),
        status: outputs[2].address(),
        count_out: outputs[3].address(),
        scratch: scratch(&work),
        ..merge_info()
    };
    let upload = |words: u32| engine.context.upload(&vec![UNTOUCHED; words as usize]);
    let outputs = || [most, most, 1, 1].map(upload).into_iter().collect::<std::result::Result<Vec<_>, _>>();
    let all = [outputs()?, outputs()?, outputs()?];
    run(&engine, merger, &merge(&all[0]))?;
    let infos = [merge(&all[1]), merge(&all[2])];
    let infos = infos.each_ref().map(|info| ptr::from_ref(info).cast::<TrmInfoHeader>());
    let mut batch = batch_info(&infos);
    let mut size = 0;
    // SAFETY: everything is valid.
    ensure!(unsafe { (engine.api.trmGetBatchScratch)(&batch, &mut size) } == 0, engine.api.last_error());
    let together = engine.context.buffer(size)?;
    batch.scratch = scratch(&together);
    engine.context.run(|commands| {
        // SAFETY: everything is valid and lives until it has run.
        let result = unsafe { (engine.api.trmCmdBatch)(commands, &batch) };
        assert_eq!(result, 0, "{}", engine.api.last_error());
        Ok(())
    })?;
    for outputs in &all {
        let download = |buffer: &Buffer, words| engine.context.download::<u32>(buffer, words);
        let (keys, values) = (download(&outputs[0], most as usize)?, download(&outputs[1], most as usize)?);
        let items: Vec<_> = keys.into_iter().zip(values).collect();
        ensure!(items == expected, "items");
        ensure!(download(&outputs[2], 1)? == [0] && download(&outputs[3], 1)? == [most], "status and count");
    }
    let refused = |info: TrmMergeInfo, text: &str| {
        engine.context.run(|commands| {
            // SAFETY: nothing is recorded.
            let result = unsafe { (engine.api.merge.trmCmdMerge)(commands, merger, &info) };
            assert_ne!(result, 0, "{text}");
            assert_eq!(engine.api.last_error(), text);
            Ok(())
        })
    };
    refused(TrmMergeInfo { more_sequences: ptr::null(), ..merge(&all[0]) }, "moreSequences is null")?;
    let odd = sequences[2..].as_ptr().wrapping_byte_add(4);
    let text = format!("moreSequences {:#x} is not a multiple of 8", odd.addr());
    refused(TrmMergeInfo { more_sequences: odd, ..merge(&all[0]) }, &text)?;
    let many = TrmMergeInfo { more_sequence_count: 15, ..merge(&all[0]) };
    refused(many, "moreSequenceCount 15 > 14, the most sequences after A and B")?;
    let more = [sequences[0]; 4];
    let many = TrmMergeInfo { more_sequence_count: 4, more_sequences: more.as_ptr(), ..merge(&all[0]) };
    refused(many, "moreSequenceCount 4 > 3, the merger's sequenceCount without A and B")?;
    destroy(&engine, merger);
    drop((buffers, work, together, all));
    engine.finish()
}

/// By some bits of the keys: see tests/kernels/masked.glsl.
#[test]
fn a_merge_by_a_comparator() -> Result<()> {
    const MASK: u32 = 0x3f0;
    let engine = engine()?;
    let bytes = include_bytes!("../../../tests/kernels/masked_u32.spv");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let (mut merger, kind, size) = (ptr::null_mut(), of(TrmValueType::U32), size_of_val(&words[..]));
    // SAFETY: the arguments are valid.
    let result =
        unsafe { (engine.api.merge.trmCreateMergerFromSpirv)(engine.device, &kind, words.as_ptr(), size, &mut merger) };
    ensure!(result == 0 && !merger.is_null(), engine.api.last_error());
    let sequence = |count: u32, bit: u32| {
        let mut items: Vec<(u32, u32)> = (0..count).map(|i| (i.wrapping_mul(0x9e37_79b9), i | bit)).collect();
        items.sort_by_key(|(key, _)| key & MASK);
        items
    };
    let (a, b) = (sequence(9000, 0), sequence(7000, OF_B));
    let mut expected = [&a[..], &b[..]].concat();
    expected.sort_by_key(|(key, _)| key & MASK);
    let upload = |items: &[(u32, u32)]| {
        let (keys, values): (Vec<u32>, Vec<u32>) = items.iter().copied().unzip();
        Ok::<_, anyhow::Error>([engine.context.upload(&keys)?, engine.context.upload(&values)?])
    };
    let ([keys_a, values_a], [keys_b, values_b]) = (upload(&a)?, upload(&b)?);
    let [keys_out, values_out] = upload(&vec![(UNTOUCHED, UNTOUCHED); expected.len()])?;
    let work = engine.merge_scratch(merger, 16_000)?;
    let count = |max| TrmCount { max, address: 0 };
    let info = TrmMergeInfo {
        count_a: count(9000),
        count_b: count(7000),
        keys_a: range(&keys_a),
        values_a: range(&values_a),
        keys_b: range(&keys_b),
        values_b: range(&values_b),
        keys_out: range(&keys_out),
        values_out: range(&values_out),
        scratch: scratch(&work),
        user_words: [0, 0, 0, MASK],
        ..merge_info()
    };
    run(&engine, merger, &info)?;
    let download = |buffer: &Buffer| engine.context.download::<u32>(buffer, expected.len());
    let items: Vec<_> = download(&keys_out)?.into_iter().zip(download(&values_out)?).collect();
    ensure!(items == expected, "items");
    destroy(&engine, merger);
    drop((keys_a, values_a, keys_b, values_b, keys_out, values_out, work));
    engine.finish()
}
