//! Plans on the device that the environment selects, pass by pass, against their twins.

use super::bench::Bench;
use super::contexts::{RING_ENTRIES, assert_silence};
use super::look_back::{PREFIX, Ring, look_back_word, ticket_words};
use super::primitives::{Buckets, Primitive, Requests as _, Selection as _};
use super::twins::{Move, Twin, address, below_prefix, move_of_pass, result};
use crate::Strategy;
use crate::core::plan::{Pass, Plan};
use crate::kernels::Kernel;
use crate::merge::Merging;
use crate::radix::{Format, cpu};
use crate::shared::{
    FLAG_SKIPS_CONSTANT_DIGITS, OUTPUT_BUCKETS, OUTPUT_ONE, OUTPUT_PLACED, OUTPUT_RANKS, PERMUTE_TO_SCRATCH,
    PackedPass, RadixProblem, SORTED_BY_PREFIXES, STATUS_COUNT_CLAMPED, STATUS_NO_BUCKET,
};

/// The count rows of a problem's tiles (glsl/radix/chunks.glsl): for each tile, the counts of preceding tiles of its
/// chunk. For the first tile of a chunk: the counts of the chunk or, if `summed`, of all preceding chunks.
fn by_chunks(counts: &[u32], bins: usize, chunk: usize, first_tile: usize, summed: bool) -> Vec<u32> {
    let tiles = counts.len() / bins;
    let begin = |t: usize| t - ((first_tile + t) % chunk).min(t);
    let of = |t: usize| match begin(t) {
        begun if begun != t => begun..t,
        _ if summed => 0..t,
        _ => t..(t + 1..tiles).find(|later| begin(*later) == *later).unwrap_or(tiles),
    };
    let sum = |digit: usize, of: std::ops::Range<usize>| counts[digit * tiles..][of].iter().sum::<u32>();
    (0..tiles).flat_map(|t| (0..bins).map(move |digit| sum(digit, of(t)))).collect()
}

impl Bench {
    /// The twins before the first pass.
    pub(super) fn twins(&self) -> Vec<Twin> {
        self.problems.iter().zip(&self.inputs).map(|(problem, twin)| twin.begun(problem.count())).collect()
    }

    /// Source and target of a pass for the twin's problem. None if the pass is skipped.
    pub(super) fn move_of(&self, twin: &Twin, pass: PackedPass) -> Option<Move> {
        let chosen = self.chosen(twin);
        let skipped_digits = if chosen {
            below_prefix(&twin.format)
        } else if pass.has(FLAG_SKIPS_CONSTANT_DIGITS) {
            twin.shared
        } else {
            0
        };
        move_of_pass(&twin.format, pass.digits(), skipped_digits, chosen, pass.index())
    }

    /// Whether the sort uses the prefix path.
    pub(super) fn chosen(&self, twin: &Twin) -> bool {
        let config = self.sorts.config(self.context.device().facts(), &self.profile);
        config.algorithm(self.sorts.infos[0].count.max).goes_by_prefixes() && twin.has_rare_prefixes()
    }

    /// Computes the results of the pass in plain Rust, and compares.
    pub(super) fn check(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass, rows: &[RadixProblem], twins: &mut [Twin]) {
        let packed = packed_pass(pass, &self.sorts.format());
        let (tile, index, chunk_of_most) = (self.tile(), packed.index(), member(pass, "chunk").unwrap_or(1) as usize);
        let prepared = is_prepared(plan);
        let counts_tiles = self.sorts.info.strategy == Strategy::ReduceThenScan;
        let name = pass.kernel.name().trim_end_matches("_emulated");
        let (digits, bins) = (self.sorts.format().digits() as usize, self.sorts.format().bins() as usize);
        if ["split_bucket_info", "split_single_dispatch_info", "split_bounds"].contains(&name) {
            twins.iter().zip(&self.sorts.buckets).for_each(|(twin, buckets)| self.check_results(memory, twin, buckets));
        }
        let mut line = 0;
        for ((row, input), (twin, problem)) in rows.iter().zip(&self.inputs).zip(twins.iter_mut().zip(&self.problems)) {
            let tiles = twin.len().div_ceil(tile);
            let first_tile = line;
            line += tiles;
            let compare_items = |twin: &mut Twin, to: Move| {
                if self.proves_by_keys() && !to.last {
                    // Keys must be sorted by the bits of the passes so far. Keys with equal bits may have any order.
                    let found = self.words(memory, twin.area(row, 0, !to.to_output), twin.len());
                    return twin.take_order(found, index);
                }
                for (address, expected) in twin.written(row, to) {
                    let found = self.bytes(memory, address, expected.len());
                    let wrong = (0..expected.len()).find(|i| found[*i] != expected[*i]);
                    assert_eq!(wrong, None, "{name}: byte of pass {index}, {to:?}, {problem:?}");
                }
            };
            // Without a prepare pass, a problem with a device count has as many chunks as its maximum count needs.
            let chunk = match problem.device_count.filter(|_| !prepared) {
                Some(_) => tiles.div_ceil(problem.size.div_ceil(tile).div_ceil(chunk_of_most).max(1)).max(1),
                None => chunk_of_most,
            };
            let to = self.move_of(twin, packed);
            match name {
                "radix_prepare" => {
                    let counted = !counts_tiles && twin.format.places_bins_in_order();
                    let cleared = counted || packed.has(FLAG_SKIPS_CONSTANT_DIGITS);
                    let histograms = self.part(memory, row.histogram, digits * bins + 1);
                    assert!(!cleared || histograms.iter().all(|count| *count == 0), "histograms are cleared");
                }
                "radix_histogram" => self.check_histogram(memory, prepared, chunk_of_most, row, twin),
                "split_clear_look_back" => self.check_begun(memory, row, input, twin),
                "radix_count" => {
                    if to.is_some() {
                        twin.counts = cpu::count(&twin.keys, tile, twin.digit(index), bins);
                        let expected = by_chunks(&twin.counts, bins, chunk, first_tile, false);
                        assert_eq!(self.part(memory, row.tile_words, tiles * bins), expected, "{name}");
                    }
                }
                "radix_spine" => {
                    if to.is_some() {
                        let expected = by_chunks(&twin.counts, bins, chunk, first_tile, true);
                        twin.totals = cpu::spine(&mut twin.counts, bins);
                        assert_eq!(self.part(memory, row.tile_words, tiles * bins), expected, "{name}");
                        let histograms = self.part(memory, row.histogram, digits * bins);
                        assert_eq!(histograms[index as usize * bins..][..bins], twin.totals, "{name}");
                    }
                }
                "radix_reorder" | "radix_onesweep" | "radix_onesweep_persistent" | "split_single_dispatch" => {
                    let Some(to) = to else { continue };
                    let looks_back = name.starts_with("radix_onesweep");
                    if looks_back {
                        self.check_look_back(memory, packed, row, twin, to);
                    }
                    if looks_back && !twin.format.places_bins_in_order() && twin.len() != 0 {
                        let counts = self.part(memory, row.histogram, bins);
                        assert_eq!(counts, twin.bucket_counts()[..bins], "{name}: counts of all, {problem:?}");
                    }
                    match twin.format.output() {
                        OUTPUT_RANKS => {
                            let found = self.words(memory, address(row.to_values), twin.len());
                            assert!(found == twin.ranks(), "{name}: ranks, {problem:?}");
                        }
                        OUTPUT_ONE | OUTPUT_PLACED => {
                            let starts = input.starts(twin.len());
                            twin.reorder(tile, index);
                            for (address, expected) in twin.placed(row, to, &starts) {
                                assert!(
                                    self.bytes(memory, address, expected.len()) == expected,
                                    "{name}: {to:?}, {problem:?}"
                                );
                            }
                        }
                        _ => {
                            twin.reorder(tile, index);
                            compare_items(twin, to);
                        }
                    }
                }
                "sort_choose_prefix_path" => {
                    let found = self.part(memory, row.histogram, digits * bins + 1)[digits * bins];
                    let shared = if packed.has(FLAG_SKIPS_CONSTANT_DIGITS) { twin.shared } else { 0 };
                    let prefixes = SORTED_BY_PREFIXES | below_prefix(&twin.format);
                    assert_eq!(found, if self.chosen(twin) { prefixes } else { shared }, "what is not sorted by");
                }
                "sort_equal_prefixes" => {
                    if let Some(to) = to.filter(|_| self.chosen(twin)) {
                        // Stable passes by every digit give the expected order.
                        (0..digits as u32).for_each(|digit| drop(twin.reorder(tile, digit)));
                        compare_items(twin, to);
                    }
                }
                "radix_copy" => {
                    if let Some(to) = to.filter(|_| !self.chosen(twin)) {
                        compare_items(twin, to);
                    }
                }
                "sort_rank" => {
                    twin.sort_runs(twin.len().max(1));
                    compare_items(twin, to.expect("it moves all"));
                }
                "merge_sort_run" | "merge_partition" | "merge_join" if self.merging().is_some() => {
                    let after = member(pass, "levels_after").unwrap();
                    let level = self.merging().map_or(0, |merging| merging.levels) - after;
                    let to = Move { before: level, last: after == 0, to_output: after.is_multiple_of(2) };
                    match (name, self.merging()) {
                        ("merge_partition", _) => {
                            self.check_windows(memory, member(pass, "run_items").unwrap(), row, twin)
                        }
                        (_, Some(merging)) => {
                            twin.sort_runs(merging.run_items(level) as usize);
                            compare_items(twin, to);
                        }
                        _ => {}
                    }
                }
                "sort_small" | "sort_buckets" | "merge_sort_run" => {
                    (0..digits as u32).for_each(|digit| drop(twin.reorder(tile, digit)));
                    compare_items(twin, Move { before: 0, last: true, to_output: true });
                }
                "radix_pack" => {
                    let [keys, _] = twin.output();
                    assert_eq!(self.bytes(memory, address(row.to_keys), keys.len()), keys, "{name}");
                }
                "radix_permute" => {
                    let [_, values] = twin.output();
                    // The values in scratch follow both planes of source indices.
                    let aside = address(row.alternate_values) + u64::from(row.max_count.next_multiple_of(4)) * 8;
                    let target =
                        if member(pass, "step") == Some(PERMUTE_TO_SCRATCH) { aside } else { address(row.to_values) };
                    assert_eq!(self.bytes(memory, target, values.len()), values, "{name}");
                }
                "split_label" => {
                    let bytes = twin.format.key_bits as usize / 8;
                    let expected: Vec<u8> =
                        twin.keys[0].iter().flat_map(|label| label.to_le_bytes()[..bytes].to_vec()).collect();
                    assert!(self.bytes(memory, address(row.alternate_keys), expected.len()) == expected, "{name}");
                }
                "split_bucket_info" | "split_single_dispatch_info" | "split_bounds" => {
                    let any_without_bucket = twin.bucket_counts().last().is_some_and(|count| *count != 0);
                    let clamped = problem.device_count.is_some_and(|count| count as usize > problem.size);
                    let flags = [(clamped, STATUS_COUNT_CLAMPED), (any_without_bucket, STATUS_NO_BUCKET)];
                    let expected = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum::<u32>();
                    assert!(
                        !problem.status || self.words(memory, address(row.status), 1) == [expected],
                        "{name}: status"
                    );
                    if counts_tiles && twin.format.output() == OUTPUT_PLACED && twin.len() != 0 {
                        let found = self.part(memory, row.histogram, bins);
                        assert_eq!(found, input.starts(twin.len()), "{name}: where buckets begin");
                    }
                }
                other => panic!("{other} has no twin"),
            }
            let first = !prepared
                && (["radix_histogram", "split_clear_look_back"].contains(&name)
                    || name == "radix_count" && index == 0);
            let settles =
                first || ["radix_prepare", "sort_rank", "sort_small", "sort_buckets", "merge_sort_run"].contains(&name);
            if settles && problem.status {
                let clamped = problem.device_count.is_some_and(|count| count as usize > problem.size);
                let status = self.words(memory, address(row.status), 1);
                assert_eq!(status, [if clamped { STATUS_COUNT_CLAMPED } else { 0 }], "{name}: status");
            }
            let tickets = plan.resources.iter().find(|resource| resource.name == "tickets");
            if let (true, Some(tickets)) = (first || name == "radix_prepare", tickets) {
                let words = self.words(memory, tickets.range.address, ticket_words(digits));
                assert!(words.iter().all(|word| *word == 0), "{name}: tickets, tails and counters");
            }
        }
        if name == "radix_onesweep" && self.sorts.info.strategy == Strategy::Ring {
            // Every tile has counted itself as done with look-back, also in skipped passes.
            let tiles = twins.iter().map(|twin| twin.len().div_ceil(tile)).sum();
            let expected = Ring::counted(0..tiles);
            let found = self.part(memory, member(pass, "tickets").unwrap(), Ring::counters(packed) + expected.len());
            assert_eq!(found[Ring::counters(packed)..], expected, "tiles that have looked back");
        }
        if name == "radix_prepare" {
            self.check_line(memory, plan, pass);
        }
    }

    /// Checks the bucket information: offsets, counts and commands.
    fn check_results(&self, memory: &[u8], twin: &Twin, of: &Buckets) {
        let mut offsets = twin.bucket_counts();
        let Primitive::Split(by) = self.sorts.primitive() else { panic!("a sort has no buckets") };
        offsets.truncate(by.buckets as usize);
        let counts = offsets.clone();
        let end = cpu::exclusive_sum(&mut offsets);
        offsets.push(end);
        let command = |count: &u32| {
            let (x, y) = crate::core::record::fold(count.div_ceil(of.command_items), self.profile.max_groups_x);
            [x, y.max(1), 1]
        };
        let commands: Vec<u32> = counts.iter().flat_map(command).collect();
        for (range, expected) in [(of.offsets, offsets), (of.counts, counts), (of.commands, commands)] {
            assert_eq!(self.words(memory, range.address, expected.len()), expected, "bucket information");
        }
    }

    /// The merge parameters, if the algorithm merges runs.
    pub(super) fn merging(&self) -> Option<Merging> {
        let config = self.sorts.config(self.context.device().facts(), &self.profile);
        config.algorithm(self.sorts.infos[0].count.max).merging()
    }

    /// Returns the start of each window of a group of runs, as an index into each run, and the size of the largest
    /// window.
    pub(super) fn windows(&self, twin: &Twin, first: usize, run: usize) -> (Vec<u32>, usize) {
        let Merging { sized, fan, .. } = self.merging().unwrap();
        let (step, spacing) = (sized.step(fan) as usize, sized.spacing(fan));
        let order = twin.order_of(first..(first + run * fan as usize).min(twin.len()));
        let mut taken = vec![0; fan as usize];
        let (mut samples, mut rows, mut begins) = (0, Vec::new(), Vec::new());
        for (index, item) in order.iter().map(|item| item - first).enumerate() {
            if (item % run).is_multiple_of(step) {
                if samples % spacing == 0 {
                    rows.extend(&taken);
                    begins.push(index);
                }
                samples += 1;
            }
            taken[item / run] += 1;
        }
        begins.push(order.len());
        (rows, begins.windows(2).map(|window| window[1] - window[0]).max().unwrap_or(0))
    }

    pub(super) fn check_windows(&self, memory: &[u8], run: u32, row: &RadixProblem, twin: &Twin) {
        let Merging { sized, fan, .. } = self.merging().unwrap();
        let of_group = (run * fan).div_ceil(sized.step(fan) * sized.spacing(fan)) as usize;
        let (run, fan) = (run as usize, fan as usize);
        for (group, first) in (0..twin.len()).step_by(run * fan).enumerate() {
            let (rows, largest) = self.windows(twin, first, run);
            assert!(largest <= sized.window.tile() as usize, "a window of {largest} items");
            let before = group * of_group * fan;
            let found = self.part(memory, row.tile_words, before + rows.len()).split_off(before);
            assert_eq!(found, rows, "where windows begin");
        }
    }

    /// Checks the histograms, the constant digits, and that look-back words are cleared.
    pub(super) fn check_histogram(&self, memory: &[u8], prepared: bool, chunk: usize, row: &RadixProblem, twin: &Twin) {
        let tile = self.tile();
        if prepared {
            let expected = [twin.histograms().concat(), vec![twin.shared]].concat();
            assert_eq!(self.part(memory, row.histogram, expected.len()), expected, "histograms and shared digits");
        } else {
            // One row for each counting workgroup.
            let chunk = chunk * tile;
            let rows = (row.max_count as usize).div_ceil(chunk);
            let expected = (0..rows).flat_map(|g| twin.part(g * chunk..(g + 1) * chunk).histograms().concat());
            let expected: Vec<u32> = expected.collect();
            assert_eq!(self.part(memory, row.histogram, expected.len()), expected, "a histogram of each group's tiles");
        }
        if self.sorts.info.strategy != Strategy::ReduceThenScan {
            self.check_cleared(memory, row, twin);
        }
    }

    fn check_cleared(&self, memory: &[u8], row: &RadixProblem, twin: &Twin) {
        let words = match twin.len() {
            // Without a tile, no workgroup clears look-back words.
            0 => 0,
            _ if self.in_ring() => RING_ENTRIES as usize * 2 * twin.bins(),
            items => items.div_ceil(self.tile()) * twin.look_back_row(),
        };
        assert!(self.part(memory, row.tile_words, words).iter().all(|word| *word == 0), "look-back words are cleared");
    }

    /// Checks that look-back words are cleared, and that given bucket starts follow the row of counts. `input`: the
    /// twin with the maximum count.
    fn check_begun(&self, memory: &[u8], row: &RadixProblem, input: &Twin, twin: &Twin) {
        self.check_cleared(memory, row, twin);
        if twin.format.output() == OUTPUT_PLACED && twin.len() != 0 {
            let found = self.part(memory, row.histogram, 2 * twin.bins()).split_off(twin.bins());
            assert_eq!(found, input.starts(twin.len()), "where buckets begin");
        }
    }

    /// Checks the look-back state after a pass: every tile has published its inclusive prefixes. In the ring: the
    /// entries of this pass.
    pub(super) fn check_look_back(&self, memory: &[u8], pass: PackedPass, row: &RadixProblem, twin: &Twin, to: Move) {
        let prefixes = twin.prefixes(self.tile(), pass.index());
        if !self.in_ring() {
            let expected: Vec<u32> = prefixes.iter().map(|prefix| look_back_word(PREFIX, to.before, *prefix)).collect();
            let words = self.part(memory, row.tile_words, prefixes.len() / twin.bins() * twin.look_back_row());
            let found: Vec<u32> =
                words.chunks(twin.look_back_row()).flat_map(|row| &row[..twin.bins()]).copied().collect();
            assert_eq!(found, expected, "every tile's prefixes are published");
            return;
        }
        // The problems of a batch share the ring, and the twin's global tile indices are unknown. So only single
        // problems are checked.
        if self.problems.len() == 1 {
            let ring = Ring::of(pass, prefixes.len() / twin.bins(), twin.bins());
            let words = self.part(memory, row.tile_words, RING_ENTRIES as usize * 2 * twin.bins());
            ring.check(&words, &prefixes, 0..prefixes.len() / twin.bins(), 0..0);
        }
    }

    /// Checks the tile map and the indirect commands after the prepare pass.
    pub(super) fn check_line(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass) {
        let mut expected = vec![self.problems.len() as u32];
        let mut tiles = 0;
        for problem in &self.problems {
            expected.extend([problem.count() as u32, tiles, 0]);
            tiles += problem.count().div_ceil(self.tile()) as u32;
        }
        expected.extend([0, tiles, 0]);
        assert_eq!(self.part(memory, member(pass, "states").unwrap(), expected.len()), expected, "states");
        if let Some(arguments) = plan.resources.iter().find(|resource| resource.name == "arguments") {
            let fold = |groups| <[u32; 2]>::from(crate::core::record::fold(groups, 7));
            let ([x, y], [chunks_x, chunks_y]) = (fold(tiles), fold(tiles.div_ceil(member(pass, "chunk").unwrap())));
            let expected = [x, y, 1, chunks_x, chunks_y, 1];
            assert_eq!(self.words(memory, arguments.range.address, 6), expected, "indirect arguments");
        }
    }

    /// Checks the results and the declared accesses of all passes.
    pub(super) fn prove(&self) {
        self.follow(|memory, plan, pass| self.run_declared(memory, plan, pass));
    }

    /// Checks the results of all passes.
    pub(super) fn follow(&self, run: impl Fn(&[u8], &Plan<'_>, &Pass) -> Vec<u8>) {
        self.with_plan(|plan, mut memory, rows| {
            let mut twins = self.twins();
            for pass in &plan.passes {
                memory = run(&memory, plan, pass);
                self.check(&memory, plan, pass, rows, &mut twins);
            }
            for ((twin, begun), (problem, info)) in
                twins.iter().zip(self.twins()).zip(self.problems.iter().zip(&self.sorts.infos))
            {
                let format = &twin.format;
                // Other outputs are checked after the pass that writes them.
                if format.output() != OUTPUT_BUCKETS {
                    continue;
                }
                twin.assert_sorted(&begun);
                let steps = [format.key_step(), if format.values_separate() { format.value_size } else { 0 }];
                let dropped = [self.sorts.info.drop_keys, false];
                for (i, (array, items)) in result(format, info).into_iter().zip(twin.output()).enumerate() {
                    let step = steps[i];
                    if array == 0 || step == 0 {
                        continue;
                    }
                    assert!(
                        dropped[i] || self.bytes(&memory, array, items.len()) == items,
                        "the result is where it belongs"
                    );
                    let all = problem.size * step as usize;
                    let (found, before) = (self.bytes(&memory, array, all), self.bytes(&self.initial, array, all));
                    assert!(found[items.len()..] == before[items.len()..], "what lies past the count stays");
                }
            }
        });
        assert_silence(&self.context);
    }
}

pub(super) fn is_prepared(plan: &Plan<'_>) -> bool {
    plan.passes.iter().any(|pass| pass.kernel == Kernel::RadixPrepare)
}

/// A word of the push constants by its name, if the kernel has it.
pub(super) fn member(pass: &Pass, name: &str) -> Option<u32> {
    let (glsl, _, offset) = pass.kernel.push().fields.iter().find(|(_, field, _)| *field == name)?;
    assert_eq!(*glsl, "uint", "{name} is a word");
    Some(bytemuck::pod_read_unaligned(&pass.push.bytes()[*offset..][..4]))
}

/// The pass in the push constants of a kernel. Kernels without this member belong to pass 0.
pub(super) fn packed_pass(pass: &Pass, format: &Format) -> PackedPass {
    member(pass, "pass").map_or(PackedPass::new(0, format.digits(), 0, 0), bytemuck::cast)
}
