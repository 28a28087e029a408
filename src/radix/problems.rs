//! The problem table of a plan and its scratch layout. Pure arithmetic: no address is dereferenced.

use super::config::{Algorithm, Config};
use super::format::Format;
use super::items::{Items, Placement};
use super::job::{Job, Role};
use super::merging::Merging;
use super::split_rows::{InfoFacts, label_row};
use crate::core::memory::{BoundingRanges, Range};
use crate::core::plan::{Rows, Table};
use crate::core::primitive::Jobs;
use crate::core::scratch::{Layout as ScratchLayout, PART_ALIGNMENT};
use crate::shared::{
    ARGUMENTS, Address, BucketInfoProblem, CountingInfoProblem, FLAG_ODD, LAYOUT_DROP_KEYS, LAYOUT_INTERLEAVED, LAYOUT_KEYS_APART,
    LAYOUT_VALUES_APART, LabelProblem, MODE_DIRECT, PREFIX_BINS, ProblemState, RADIX, RING_GROUPS, RING_TAG_SHIFT, RadixProblem,
    Segment,
};
use crate::{Error, Result};

const WORD_BYTES: u32 = 4;
const WORD: u64 = WORD_BYTES as u64;
/// Size of an indirect command in bytes.
pub(crate) const INDIRECT_COMMAND: u64 = 12;
/// Unit of scratch offsets in bytes: a word then reaches 2^40 bytes.
const PART: u64 = PART_ALIGNMENT;
/// Maximum size of one problem's tile words in bytes: kernels index them with a `uint`.
const MOST_TILE_WORDS: u64 = 1 << 32;
/// Maximum number of workgroups in y that every device supports.
pub(crate) const MOST_GROUPS_Y: u64 = 65535;
/// Workgroups of a histogram without a prepare pass. The first tile of each pass adds up their rows.
pub(super) const DIRECT_HISTOGRAMS: u32 = 32;

/// The addresses of a problem's arrays, by placement.
#[derive(Clone, Copy, Debug)]
struct Arrays {
    keys: u64,
    values: u64,
    to_keys: u64,
    to_values: u64,
    /// Null for arrays in scratch.
    alternate_keys: u64,
    alternate_values: u64,
}

impl Arrays {
    fn of(format: &Format, info: &Items) -> Self {
        let (keys, values) = (info.keys.address, info.values.address);
        let (keys_out, values_out) = (info.keys_out.address, info.values_out.address);
        let (mut to, mut alternate) = ((keys, values), (0, 0));
        match format.placement {
            Placement::InPlace => {}
            Placement::Preserve => to = (keys_out, values_out),
            Placement::DoubleBuffer if format.rule() == FLAG_ODD => (to, alternate) = ((keys_out, values_out), (keys, values)),
            Placement::DoubleBuffer => alternate = (keys_out, values_out),
        }
        // The value of an item follows its key. Without items, the address is unused and may have any value.
        let values = if format.has(LAYOUT_INTERLEAVED) { keys.wrapping_add(format.key_size.into()) } else { values };
        let (alternate_keys, alternate_values) = alternate;
        Self { keys, values, to_keys: to.0, to_values: to.1, alternate_keys, alternate_values }
    }
}

/// Size of each part of a problem's scratch in bytes; or the exclusive sums over preceding problems, which are offsets.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    histogram: u64,
    tile_words: u64,
    keys: u64,
    values: u64,
}

/// Distance of neighboring planes in bytes: see behind() in glsl/radix/planes.glsl.
fn plane_bytes(max_count: u32) -> u64 {
    u64::from(max_count).next_multiple_of(4) * WORD
}

/// Capacity of the output in items: the smaller one of keys and values.
fn output_items(format: &Format, info: &Items) -> u32 {
    let keys = (!format.has(LAYOUT_DROP_KEYS)).then(|| info.keys_out.size / u64::from(format.key_step()));
    let values = format.values_separate().then(|| info.values_out.size / u64::from(format.value_size));
    let items = keys.into_iter().chain(values).min().unwrap_or(0);
    u32::try_from(items).unwrap_or(u32::MAX)
}

impl Parts {
    fn of(config: &Config<'_>, algorithm: Algorithm, max_count: u32, prepared: bool) -> Self {
        let format = &config.format;
        let plane = plane_bytes(max_count);
        let merged_planes = algorithm.merging().map(Merging::planes);
        let times = |apart: bool| if apart { 2 } else { merged_planes.unwrap_or(1).max(1) };
        let moves_once = algorithm.moves_once(format);
        let own_planes = merged_planes.map_or(format.placement != Placement::DoubleBuffer && !moves_once, |planes| planes != 0);
        let keys_apart = format.has(LAYOUT_KEYS_APART) && (!moves_once || format.narrow() && !format.has(LAYOUT_DROP_KEYS));
        let values_apart = format.has(LAYOUT_VALUES_APART);
        let together = if format.has(LAYOUT_INTERLEAVED) { format.value_words } else { 0 };
        let (mut keys, mut values) = (0, 0);
        if format.labels().is_some() {
            // Labels have the width of their type. Kept labels need two planes, and one for each word that moves with
            // them.
            keys = if format.keeps_labels() { 2 * plane } else { plane * u64::from(format.key_bits) / 32 };
            values = if moves_once { 0 } else { plane * u64::from(format.value_words) };
        } else if own_planes || keys_apart {
            keys = plane * u64::from(format.key_words + together) * times(format.has(LAYOUT_KEYS_APART));
        }
        if format.labels().is_none() && format.values_separate() && (own_planes || values_apart) {
            values = plane * u64::from(format.value_words) * times(values_apart);
        }
        if values_apart {
            // A copy of the values, while the values in place are read.
            values += plane * u64::from(format.value_size / 4);
        }
        let tiles = algorithm.most_tiles(max_count);
        if algorithm.tiles().is_none() {
            let rows = algorithm.merging().map_or(0, |merging| merging.most_windows(max_count) * u64::from(merging.fan));
            return Self { keys, values, tile_words: (rows * WORD).next_multiple_of(PART), ..Self::default() };
        }
        let digits = u64::from(format.digits());
        // A split that skips the histogram has a row of counts and a row of bucket starts: see glsl/split/clear_look_back.comp.
        let shared_rows = 1 + u64::from(config.begins());
        let rows = if config.counts_apart(prepared) { tiles.clamp(1, DIRECT_HISTOGRAMS.into()) } else { shared_rows };
        // The skipped digits and the bins of prefixes follow the rows. Histograms and tile words begin at multiples of
        // the part size.
        let prefixes = algorithm.finish().map_or(0, |_| u64::from(PREFIX_BINS));
        let row = u64::from(if format.segmented { RADIX } else { format.bins() });
        let histogram = ((rows * digits * row + 1 + prefixes) * WORD).next_multiple_of(PART);
        let histograms =
            if let Algorithm::Segments { whole, .. } = algorithm { u64::from(max_count.div_ceil(whole.tile())) } else { 1 };
        Self {
            histogram: histograms * histogram,
            tile_words: if config.in_ring() { 0 } else { (tiles * u64::from(config.tile_row()) * WORD).next_multiple_of(PART) },
            keys,
            values,
        }
    }

    fn add(&mut self, other: Self) {
        self.histogram += other.histogram;
        self.tile_words += other.tile_words;
        self.keys += other.keys;
        self.values += other.values;
    }
}

/// The problems of one group and their scratch layout: the input of a plan.
pub(crate) struct ProblemTable<'a> {
    pub(super) config: Config<'a>,
    pub(super) algorithm: Algorithm,
    pub(super) jobs: &'a dyn Jobs<Job, Role>,
    /// Device address of scratch.
    pub(super) scratch: u64,
    pub(super) problems: u32,
    /// `MODE_` bits.
    pub(super) mode: u32,
    pub(super) prepared: bool,
    /// Whether constant digits are skipped.
    pub(super) passes_over: bool,
    /// Number of tiles of all problems, at their maximum counts.
    pub(super) tiles: u32,
    /// Largest maximum count of a problem.
    pub(super) most_items: u32,
    /// Maximum number of segments.
    pub(super) most_segments: u32,
    pub(super) any_count_on_device: bool,
    pub(super) any_status: bool,
    /// Whether any problem requests bucket information.
    pub(super) tells: bool,
    pub(super) bounds: BoundingRanges<Role>,
    pub(super) arguments: Range,
    pub(super) tickets: Range,
    pub(super) states: Range,
    pub(super) table: Range,
    pub(super) histograms: Range,
    pub(super) tile_words: Range,
    pub(super) alternate_keys: Range,
    pub(super) alternate_values: Range,
    /// Rows of the pass that writes bucket information.
    pub(super) results: Range,
    /// Rows of the pass that writes labels.
    pub(super) labels: Range,
}

/// Number of laps of the ring, over all passes, that its tags distinguish.
const RING_TAGS: u64 = 1 << (u32::BITS - RING_TAG_SHIFT);

impl<'a> ProblemTable<'a> {
    /// Lays out the problems of `jobs` in parts of scratch that `layout` allocates.
    pub(crate) fn new(
        config: Config<'a>,
        algorithm: Algorithm,
        jobs: &'a dyn Jobs<Job, Role>,
        scratch: u64,
        layout: &mut ScratchLayout,
    ) -> Result<Self> {
        let (mut problems, mut most_items, mut most_segments) = (0u32, 0u32, 0u32);
        let mut tiles = 0u64;
        let (mut any_count_on_device, mut any_status, mut tells) = (false, false, false);
        jobs.for_each(&mut |job| {
            let info = &job.items;
            problems += 1;
            most_items = most_items.max(info.count.max);
            most_segments = most_segments.max(info.segments.count.max);
            any_count_on_device |= info.counted(&config.format).is_on_device();
            any_status |= info.status != 0;
            // In reduce-then-scan splits, the pass of bucket information also copies given bucket starts.
            tells |= job.tells(&config.format) || job.buckets.starts != Range::NONE && !config.begins();
            // In single-dispatch splits, the pass of bucket information also writes the status.
            tells |= algorithm.recounts() && info.status != 0;
            tiles += algorithm.most_tiles(info.count.max);
        });
        let segmented = config.format.segmented;
        // Only the device knows the number of tiles of segments.
        any_count_on_device |= segmented;
        // Tags must not wrap: an old tag, from before skipped passes, would be taken for a new one.
        let laps = if config.in_ring() {
            tiles.div_ceil(config.profile.hooks.ring_entries.into()) * u64::from(config.format.digits())
        } else {
            0
        };
        let mode = config.mode(algorithm, problems == 1);
        let prepared = mode & MODE_DIRECT == 0 && algorithm.tiles().is_some();
        let bins = u64::from(config.format.bins());
        let mut most_tile_words = 0;
        let mut parts = Parts::default();
        jobs.for_each(&mut |Job { items: info, .. }| {
            let own = Parts::of(&config, algorithm, info.count.max, prepared);
            // Kernels index tile words by the tiles of one segment.
            let segment = algorithm
                .tiles()
                .map_or(0, |tile| u64::from(info.count.max.div_ceil(tile.tile())) * u64::from(config.tile_row()) * WORD);
            most_tile_words = most_tile_words.max(own.tile_words.min(segment));
            parts.add(own);
        });
        // Built-in profiles stay far below both limits. Loaded profiles with small tiles may exceed them.
        let too_many = |limit, why| Err(Error::TooLarge { argument: "count.max", value: most_items.into(), limit, why });
        // The number of items that keeps `needed` within `limit`.
        let items = |needed, limit| u64::from(most_items) * limit / needed;
        if most_tile_words > MOST_TILE_WORDS {
            return too_many(items(most_tile_words, MOST_TILE_WORDS), "the bytes that one index of a kernel reaches");
        }
        let most_groups = u64::from(config.profile.max_groups_x) * MOST_GROUPS_Y;
        let lines = if segmented { algorithm.windows(most_items) } else { problems };
        let rows = if algorithm.tiles().is_some() { bins } else { 1 };
        // Every problem has the workgroups of the largest one.
        let shared = match algorithm {
            Algorithm::Merged(merging) => merging.most_groups(config.profile.plain_threads, most_items),
            Algorithm::Recounted(shape) => most_items.div_ceil(shape.tile()).into(),
            _ => 0,
        };
        let groups = tiles.max(u64::from(lines) * rows).max(u64::from(problems) * shared);
        let limit = most_groups.min(u32::MAX.into());
        if groups > limit {
            return too_many(items(groups, limit), "the workgroups of one dispatch");
        }
        // At most the number of workgroups, which was checked above.
        let tiles = u32::try_from(tiles).unwrap_or(u32::MAX);
        let mut part = |bytes: u64| -> Result<Range> {
            Ok(if bytes == 0 { Range::NONE } else { Range::new(scratch.wrapping_add(layout.part(bytes)?), bytes) })
        };
        let tiled = u64::from(algorithm.tiles().is_some());
        let ring = tiled * u64::from(config.in_ring()) * u64::from(config.profile.hooks.ring_entries) * 2 * bins * WORD;
        let states = WORD + (u64::from(lines) + 1) * size_of::<ProblemState>() as u64;
        // One row alone is in the push constants.
        let rows = |size: usize| if segmented || problems <= 1 { 0 } else { u64::from(problems) * size as u64 };
        let table = if segmented { (u64::from(lines) + 1) * size_of::<Segment>() as u64 } else { rows(size_of::<RadixProblem>()) };
        let results = rows(if algorithm.recounts() { size_of::<CountingInfoProblem>() } else { size_of::<BucketInfoProblem>() });
        // Always allocated, so that sizes do not depend on the location of counts.
        let arguments = part(tiled * u64::from(ARGUMENTS) * INDIRECT_COMMAND)?;
        let tickets = tiled * u64::from(config.scan().is_some()) * u64::from((2 + RING_GROUPS) * config.format.digits()) * WORD;
        Ok(Self {
            config,
            algorithm,
            jobs,
            scratch,
            problems,
            mode,
            prepared,
            passes_over: prepared
                && !segmented
                && config.format.split.is_none()
                && most_items > config.profile.all_digits_up_to
                && laps < RING_TAGS,
            tiles,
            most_items,
            most_segments,
            any_count_on_device,
            any_status,
            tells,
            bounds: jobs.bounding_ranges(),
            arguments: if any_count_on_device && prepared { arguments } else { Range::NONE },
            tickets: part(tickets)?,
            states: part(tiled * states)?,
            table: part(table)?,
            histograms: part(parts.histogram)?,
            tile_words: part(parts.tile_words + ring)?,
            alternate_keys: part(parts.keys)?,
            alternate_values: part(parts.values)?,
            results: part(if config.format.split.is_some() { results } else { 0 })?,
            labels: part(if config.format.labels().is_some() { rows(size_of::<LabelProblem>()) } else { 0 })?,
        })
    }

    fn for_each_job(&self, visit: &mut dyn FnMut(&RadixProblem, &Job)) {
        let format = &self.config.format;
        let mut before = Parts::default();
        // Arrays that the caller does not provide are in scratch.
        let array = |given: u64, range: Range, offset: u64| {
            Address::from(if given != 0 || range.size == 0 { given } else { range.address.wrapping_add(offset) })
        };
        self.jobs.for_each(&mut |job| {
            let Job { items: info, buckets } = job;
            let mut arrays = Arrays::of(format, info);
            let merged = self.algorithm.merging().is_some();
            if merged || format.has(LAYOUT_KEYS_APART) {
                arrays.alternate_keys = 0;
            }
            if merged || format.has(LAYOUT_VALUES_APART) {
                arrays.alternate_values = 0;
            }
            let (key_unit, value_step) = (if format.narrow() { 1 } else { WORD_BYTES }, format.value_size);
            let key_stride = if info.key_stride == 0 { format.key_step() } else { info.key_stride };
            let dense_value = if format.has(LAYOUT_INTERLEAVED) { format.key_step() } else { value_step };
            let value_stride = if info.value_stride == 0 { dense_value } else { info.value_stride };
            let own = |range: Range, offset: u64| self.part_of(Range::new(range.address.wrapping_add(offset), range.size));
            let problem = RadixProblem {
                keys: arrays.keys.into(),
                values: arrays.values.into(),
                to_keys: arrays.to_keys.into(),
                to_values: arrays.to_values.into(),
                alternate_keys: array(arrays.alternate_keys, self.alternate_keys, before.keys),
                alternate_values: array(arrays.alternate_values, self.alternate_values, before.values),
                // The device counts segments, not their items.
                count: if format.segmented { 0 } else { info.count.address }.into(),
                status: info.status.into(),
                range: bytemuck::cast(buckets.range),
                max_count: info.count.max,
                strides: (key_stride / key_unit) | ((value_stride / WORD_BYTES) << 16),
                histogram: own(self.histograms, before.histogram),
                tile_words: own(self.tile_words, before.tile_words),
            };
            visit(&problem, job);
            before.add(Parts::of(&self.config, self.algorithm, info.count.max, self.prepared));
        });
    }

    pub(super) fn for_each_problem(&self, visit: &mut dyn FnMut(&RadixProblem)) {
        self.for_each_job(&mut |problem, _| visit(problem));
    }

    /// Calls `visit` with the rows of bucket information.
    pub(super) fn for_each_result<R: for<'r> From<InfoFacts<'r>>>(&self, visit: &mut dyn FnMut(&R)) {
        let format = &self.config.format;
        let ends_behind = format.segmented && !format.digits().is_multiple_of(2);
        self.for_each_job(&mut |problem, Job { items, buckets }| {
            // The final location of labels: see labels_end_in_second_plane() in glsl/radix/planes.glsl.
            let labels = if ends_behind { plane_bytes(problem.max_count) } else { 0 };
            visit(&R::from(InfoFacts { problem, buckets, capacity: output_items(format, items), labels }));
        });
    }

    /// Calls `visit` with the rows of labels.
    pub(super) fn for_each_label(&self, visit: &mut dyn FnMut(&LabelProblem)) {
        let Some(labels) = self.config.format.labels() else { return };
        self.for_each_job(&mut |problem, Job { buckets, .. }| visit(&label_row(problem, buckets, &labels)));
    }

    /// The offset of a part of scratch, in units of 256 bytes.
    pub(super) fn part_of(&self, range: Range) -> u32 {
        if range.size == 0 {
            return 0;
        }
        let part = u32::try_from(range.address.wrapping_sub(self.scratch) / PART);
        debug_assert!(part.is_ok(), "layouts are no larger than MAX_SCRATCH");
        part.unwrap_or(u32::MAX)
    }
}

impl Table for ProblemTable<'_> {
    fn for_each_row(&self, rows: Rows, row: &mut dyn FnMut(&[u8])) {
        match rows {
            Rows::Problems => self.for_each_problem(&mut |problem| row(bytemuck::bytes_of(problem))),
            Rows::Results if self.algorithm.recounts() => {
                self.for_each_result::<CountingInfoProblem>(&mut |problem| row(bytemuck::bytes_of(problem)));
            }
            Rows::Results => self.for_each_result::<BucketInfoProblem>(&mut |problem| row(bytemuck::bytes_of(problem))),
            Rows::Labels => self.for_each_label(&mut |problem| row(bytemuck::bytes_of(problem))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radix::{ItemsInfo, ValueType};

    const PAIRS: ItemsInfo = ItemsInfo { value: ValueType::U32, ..ItemsInfo::KEYS };

    #[test]
    fn outputs_have_room_for_what_both_arrays_hold() {
        let items = |sorter: ItemsInfo, keys, values| {
            let format = Format::new(&sorter).expect("the format is valid");
            output_items(&format, &Items { keys_out: Range::new(8, keys), values_out: Range::new(8, values), ..Items::default() })
        };
        assert_eq!(items(PAIRS, 40, 400), 10);
        assert_eq!(items(PAIRS, 400, 43), 10);
        assert_eq!(items(ItemsInfo { drop_keys: true, ..PAIRS }, 0, 40), 10);
        assert_eq!(items(ItemsInfo::KEYS, 40, 0), 10);
        assert_eq!(items(ItemsInfo::KEYS, u64::MAX, 0), u32::MAX);
    }
}
