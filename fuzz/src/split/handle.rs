//! A splitter on a device: the arrays of a request, with their expected content.

use super::buckets::{Buckets, allows_items_without_bucket, draw_range, placed_at};
use super::results::{COMMANDS, COUNTS, OFFSETS, Results};
use crate::arena::{Array, ArrayRanges};
use crate::items::{Items, Stream, Strides, stable_order, value_size};
use crate::keys;
use crate::primitive::{Ask, Handle, Limits, Prepared};
use ash::vk;
use std::ops::Range;
use trommel::{
    BucketFunction, Count, Layout, Request, STATUS_COUNT_CLAMPED, STATUS_NO_BUCKET, Scratch, Segments, SplitInfo,
    SplitOutput, Splitter, ValueType,
};

/// The status bit of a placed split: some items belong past the end of the output and are not written.
const STATUS_OUTPUT_CLAMPED: u32 = 4;

/// Rows of a dispatch that every device takes.
const MOST_ROWS: u32 = 65535;

#[derive(Debug)]
pub(super) struct Splitting(pub(super) Splitter);

/// Additional items that a placed output has room for.
fn more_room(ask: &Ask) -> usize {
    ask.stream(Stream::Layout).index(70)
}

impl Splitting {
    fn items(&self, ask: &Ask) -> Items {
        Items::draw(ask, self.0.info().key, self.0.info().value)
    }

    /// Items for each workgroup of the indirect commands.
    fn command_items(ask: &Ask, max_groups_x: u32) -> u32 {
        let drawn = ask.stream(Stream::Layout).log_between(1, 3000);
        drawn.max(ask.items.div_ceil(max_groups_x.saturating_mul(MOST_ROWS)))
    }

    fn strides(&self, ask: &Ask) -> Strides {
        let info = self.0.info();
        let none = Items {
            keys: Vec::new(),
            key_size: keys::size(info.key),
            values: Vec::new(),
            value_size: value_size(info.value),
        };
        none.strides(info.layout, info.value, ask)
    }

    /// The output arrays of keys and values, each with the dense items of its source.
    fn outputs(&self, ask: &Ask, items: &Items, more: usize) -> Vec<(Array, Vec<u8>)> {
        let info = self.0.info();
        let mut noise = ask.stream(Stream::Noise);
        let mut room = |role, size: usize, dense: Vec<u8>| {
            (Array::room(role, size.min(4), size, ask.items as usize + more, &mut noise), dense)
        };
        match (info.output, info.layout) {
            (SplitOutput::Counts, _) => Vec::new(),
            (SplitOutput::Ranks, _) => vec![room("values out", 4, Vec::new())],
            (_, Layout::Interleaved) => vec![room("keys out", items.key_size + items.value_size, items.interleaved())],
            _ => {
                let keys = (!info.drop_keys).then(|| room("keys out", items.key_size, items.keys.clone()));
                let has_values = info.value != ValueType::None;
                let values = has_values.then(|| room("values out", items.value_size, items.values.clone()));
                keys.into_iter().chain(values).collect()
            }
        }
    }

    /// Draws the start of each bucket: buckets in any order, with gaps. Hostile starts overlap or are past the output.
    fn starts(ask: &Ask, counts: &[u32], more: usize) -> Vec<u32> {
        let mut random = ask.stream(Stream::Buckets);
        let room = ask.items + u32::try_from(more).unwrap_or(0);
        if ask.hostile {
            let mut start = |count: &u32| match random.below(4) {
                0 => random.pick(&[room, room + 1, u32::MAX, u32::MAX - 1, 1 << 31, 1 << 30]),
                1 => random.between(0, room),
                _ => random.between(0, room - count),
            };
            return counts.iter().map(&mut start).collect();
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        random.shuffle(&mut order);
        let mut spare = room - counts.iter().sum::<u32>();
        let (mut starts, mut end) = (vec![0; counts.len()], 0);
        for bucket in order {
            let gap = random.between(0, spare).min(random.log_between(0, spare));
            spare -= gap;
            starts[bucket] = end + gap;
            end = starts[bucket] + counts[bucket];
        }
        starts
    }

    fn placed_starts(&self, ask: &Ask, buckets: &Buckets, run: &Range<usize>) -> Vec<u32> {
        let mut counts = buckets.counts(run);
        counts.truncate(buckets.count + usize::from(allows_items_without_bucket(self.0.info())));
        Self::starts(ask, &counts, more_room(ask))
    }

    /// Whether some items belong past the end of the output, by the given bucket starts.
    fn overflows(&self, ask: &Ask, buckets: &Buckets, runs: &[Range<usize>]) -> bool {
        let room = u64::from(ask.items) + more_room(ask) as u64;
        let overflow = |run| {
            placed_at(&self.placed_starts(ask, buckets, run), buckets, run).iter().any(|(target, _)| *target >= room)
        };
        runs.iter().any(overflow)
    }

    /// The arrays of items that a split writes, and the given bucket starts.
    fn write(&self, ask: &Ask, items: &Items, buckets: &Buckets, runs: Option<&[Range<usize>]>) -> Vec<Array> {
        let info = self.0.info();
        let placed = info.output == SplitOutput::Placed;
        let more = if placed { more_room(ask) } else { 0 };
        let outputs = self.outputs(ask, items, more);
        let Some(runs) = runs else {
            return outputs
                .into_iter()
                .map(|(mut array, _)| {
                    array.free_all();
                    array
                })
                .collect();
        };
        let order = stable_order(runs, ask.items as usize, |index| buckets.of[index]);
        let mut arrays = Vec::new();
        let mut starts = None;
        if placed {
            let found = self.placed_starts(ask, buckets, &runs[0]);
            arrays.push(Array::words("starts", &found));
            starts = Some(found);
        }
        for (mut array, dense) in outputs {
            match info.output {
                _ if buckets.unsorted && info.output == SplitOutput::Buckets && !info.segmented => {
                    let end = runs[0].end * array.item;
                    runs[0].clone().for_each(|target| array.expect(target, &dense, target));
                    array.permuted = Some(0..end);
                }
                _ if buckets.unsorted => array.free_all(),
                SplitOutput::Ranks => {
                    let mut next = vec![0u32; buckets.count + 1];
                    for index in runs[0].clone() {
                        let rank = &mut next[buckets.of[index] as usize];
                        array.expected[4 * index..][..4].copy_from_slice(&rank.to_le_bytes());
                        *rank += 1;
                    }
                }
                SplitOutput::Bucket(one) => {
                    let wanted = order[runs[0].clone()].iter().filter(|index| buckets.of[**index as usize] == one);
                    wanted.enumerate().for_each(|(target, index)| array.expect(target, &dense, *index as usize));
                }
                SplitOutput::Placed => {
                    let mut times = vec![0u32; ask.items as usize + more];
                    for (target, index) in placed_at(starts.as_deref().unwrap_or(&[]), buckets, &runs[0]) {
                        if let Some(times) = usize::try_from(target).ok().and_then(|target| times.get_mut(target)) {
                            array.expect(usize::try_from(target).unwrap_or(0), &dense, index);
                            *times += 1;
                        }
                    }
                    // Where buckets overlap, either item may remain.
                    let twice = times.iter().enumerate().filter(|(_, times)| **times > 1);
                    twice.for_each(|(target, _)| array.free_items(target..target + 1));
                }
                _ => runs
                    .iter()
                    .flat_map(Clone::clone)
                    .for_each(|target| array.expect(target, &dense, order[target] as usize)),
            }
            arrays.push(array);
        }
        arrays
    }

    fn info(&self, ask: &Ask, ranges: &ArrayRanges) -> SplitInfo {
        let (info, strides) = (self.0.info(), self.strides(ask));
        let max_groups_x = self.0.device().profile().max_groups_x;
        let (low, width) = if info.function == BucketFunction::Range {
            draw_range(info, &self.items(ask), &mut ask.stream(Stream::Buckets))
        } else {
            (0, 0)
        };
        SplitInfo {
            count: if ask.segments.is_some() {
                Count::host(ask.items)
            } else {
                ask.count.of(ask.items, "count", ranges)
            },
            keys: ranges.range("keys"),
            values: ranges.range("values"),
            keys_out: ranges.range("keys out"),
            values_out: ranges.range("values out"),
            key_stride: strides.key,
            value_stride: strides.value,
            segments: ask.segments.map_or(Segments::default(), |segments| Segments {
                offsets: ranges.range("segment offsets"),
                count: segments.count.of(segments.max, "count", ranges),
            }),
            low,
            width,
            splitters: ranges.range("splitters"),
            bucket_ids: ranges.range("bucket ids"),
            starts: ranges.range("starts"),
            offsets: ranges.range("offsets"),
            counts: ranges.range("counts"),
            commands: ranges.range("commands"),
            command_items: Self::command_items(ask, max_groups_x),
            status: ranges.address("status"),
            ..SplitInfo::default()
        }
    }
}

impl Handle for Splitting {
    fn arrays(&self, ask: &Ask, limits: &Limits) -> Vec<Array> {
        let (info, items, offsets) = (self.0.info(), self.items(ask), ask.offsets());
        let runs = ask.runs(&offsets);
        let buckets = Buckets::new(info, &items, ask);
        let reads_values = !matches!(info.value, ValueType::None | ValueType::Index);
        let mut arrays = items.inputs(info.layout, self.strides(ask), reads_values, ask);
        arrays.extend(self.write(ask, &items, &buckets, runs.as_deref()));
        arrays.extend(buckets.given.clone().filter(|given| !given.before.is_empty()));
        arrays.extend(ask.segments.map_or(ask.count, |segments| segments.count).array("count"));
        arrays.extend(ask.segments.map(|_| Array::words("segment offsets", &offsets)));

        let mut noise = ask.stream(Stream::Noise);
        let determined = runs.as_deref().unwrap_or(&[]);
        let segments = ask.segments.map(|segments| (segments.max, offsets[determined.len()].min(ask.items)));
        let max_groups_x = limits.profile.max_groups_x;
        let results =
            Results::new(&buckets, determined, segments, Self::command_items(ask, max_groups_x), max_groups_x);
        let all = [
            (OFFSETS, "offsets", results.offsets),
            (COUNTS, "counts", results.counts),
            (COMMANDS, "commands", results.commands),
        ];
        for (_, role, words) in all.into_iter().filter(|(bit, ..)| ask.results & bit != 0) {
            let mut array = Array::results(role, &words, &mut noise);
            if runs.is_none() || buckets.unsorted {
                array.free_all();
            }
            arrays.push(array);
        }
        if ask.status {
            let without_bucket = determined.iter().any(|run| buckets.of[run.clone()].contains(&info.buckets));
            let clamped = if ask.is_clamped(&offsets) { STATUS_COUNT_CLAMPED } else { 0 };
            let overflows = info.output == SplitOutput::Placed && self.overflows(ask, &buckets, determined);
            let expected = clamped
                | if without_bucket { STATUS_NO_BUCKET } else { 0 }
                | if overflows { STATUS_OUTPUT_CLAMPED } else { 0 };
            let mut status = Array::results("status", &[expected], &mut noise);
            // With unsorted splitters, the bucket of an item is undefined, and so is its room in the output.
            if runs.is_none() || buckets.unsorted && info.output == SplitOutput::Placed {
                status.free_all();
            }
            arrays.push(status);
        }
        arrays
    }

    fn prepare<'a>(&'a self, ask: &Ask, ranges: &ArrayRanges) -> Box<dyn Prepared + 'a> {
        Box::new(Request::Split(&self.0, self.info(ask, ranges)))
    }

    fn scratch_size(&self, ask: &Ask) -> trommel::Result<u64> {
        self.0.scratch_size(ask.items)
    }

    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        ask: &Ask,
        ranges: &ArrayRanges,
        scratch: Scratch,
    ) -> trommel::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.cmd_split(commands, &SplitInfo { scratch, ..self.info(ask, ranges) }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::tests::ask;

    #[test]
    fn starts_leave_room_for_every_bucket_unless_they_are_hostile() {
        let buckets = Buckets { of: vec![1, 0, 2, 1, 1], count: 2, given: None, low: 0, width: 0, unsorted: false };
        let all = 0..5;
        let mut overlaps = 0;
        for seed in 0..100 {
            for hostile in [false, true] {
                let ask = Ask { hostile, seed, ..ask(5) };
                let starts = Splitting::starts(&ask, &buckets.counts(&all), 4);
                let mut targets: Vec<u64> =
                    placed_at(&starts, &buckets, &all).iter().map(|(target, _)| *target).collect();
                targets.sort_unstable();
                targets.dedup();
                assert!(hostile || targets.last().is_some_and(|target| *target < 9));
                assert!(hostile || targets.len() == 5, "buckets are apart");
                overlaps += usize::from(targets.len() < 5);
            }
        }
        assert!(overlaps > 20, "{overlaps}");
        assert_eq!(placed_at(&[7, 2, 0], &buckets, &all), [(2, 0), (7, 1), (0, 2), (3, 3), (4, 4)]);
    }
}
