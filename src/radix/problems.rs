//! The problems of a plan and their layout in scratch. Pure arithmetic: no address is dereferenced.

use super::config::Config;
use super::format::Format;
use super::items::{ItemRole, Items, Placement};
use super::outline::Outline;
use crate::core::memory::{BoundingRanges, Range};
use crate::core::scratch::{Layout as ScratchLayout, PART_ALIGNMENT, part_number};
use crate::merge::Merging;
use crate::shared::{
    ARGUMENTS, Address, FLAG_ODD, LAYOUT_DROP_KEYS, LAYOUT_INTERLEAVED, LAYOUT_KEYS_IN_SCRATCH,
    LAYOUT_VALUES_IN_SCRATCH, MODE_DIRECT, PREFIX_BINS, ProblemState, RADIX, RING_GROUPS, RING_TAG_SHIFT, RadixProblem,
    Segment,
};
use crate::tuning::limits::MAX_TILE;
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
            Placement::DoubleBuffer if format.rule() == FLAG_ODD => {
                (to, alternate) = ((keys_out, values_out), (keys, values))
            }
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
pub(crate) fn plane_bytes(max_count: u32) -> u64 {
    u64::from(max_count).next_multiple_of(4) * WORD
}

/// Most items of placed output. The indices of a tile that begins there fit 32 bits: see glsl/radix/capacity.glsl.
const MOST_PLACED: u32 = u32::MAX - MAX_TILE;

/// Capacity of the output in items: the smaller one of keys and values, at most [`MOST_PLACED`].
pub(crate) fn output_items(format: &Format, info: &Items) -> u32 {
    let keys = (!format.has(LAYOUT_DROP_KEYS)).then(|| info.keys_out.size / u64::from(format.key_step()));
    let values = format.values_separate().then(|| info.values_out.size / u64::from(format.value_size));
    let items = keys.into_iter().chain(values).min().unwrap_or(0);
    u32::try_from(items).unwrap_or(u32::MAX).min(MOST_PLACED)
}

impl Parts {
    fn of(config: &Config<'_>, outline: &Outline, max_count: u32, prepared: bool) -> Self {
        let format = &config.format;
        let plane = plane_bytes(max_count);
        let merged_planes = outline.merging.map(Merging::planes);
        let times = |apart: bool| if apart { 2 } else { merged_planes.unwrap_or(1).max(1) };
        let moves_once = outline.moves_once;
        let own_planes =
            merged_planes.map_or(format.placement != Placement::DoubleBuffer && !moves_once, |planes| planes != 0);
        let keys_apart =
            format.has(LAYOUT_KEYS_IN_SCRATCH) && (!moves_once || format.narrow() && !format.has(LAYOUT_DROP_KEYS));
        let values_apart = format.has(LAYOUT_VALUES_IN_SCRATCH);
        let together = if format.has(LAYOUT_INTERLEAVED) { format.value_words } else { 0 };
        let (mut keys, mut values) = (0, 0);
        if format.binning.labels {
            // Labels have the width of their type. Kept labels need two planes, and one for each word that moves with
            // them.
            keys = if format.keeps_labels() { 2 * plane } else { plane * u64::from(format.key_bits) / 32 };
            values = if moves_once { 0 } else { plane * u64::from(format.value_words) };
        } else if own_planes || keys_apart {
            keys = plane * u64::from(format.key_words + together) * times(format.has(LAYOUT_KEYS_IN_SCRATCH));
        }
        if !format.binning.labels && format.values_separate() && (own_planes || values_apart) {
            values = plane * u64::from(format.value_words) * times(values_apart);
        }
        if values_apart {
            // A copy of the values, while the values in place are read.
            values += plane * u64::from(format.value_size / 4);
        }
        let tiles = outline.most_tiles(max_count);
        if outline.tile.is_none() {
            let rows = outline.merging.map_or(0, |merging| merging.most_windows(max_count) * u64::from(merging.fan));
            return Self { keys, values, tile_words: (rows * WORD).next_multiple_of(PART), ..Self::default() };
        }
        let digits = u64::from(format.digits());
        // Passes without a histogram have a row of counts and a row of bin starts: see glsl/split/clear_look_back.comp.
        let shared_rows = 1 + u64::from(config.skips_histogram());
        let rows =
            if config.has_row_per_group(prepared) { tiles.clamp(1, DIRECT_HISTOGRAMS.into()) } else { shared_rows };
        // The skipped digits and the bins of prefixes follow the rows. Histograms and tile words begin at multiples of
        // the part size.
        let prefixes = outline.prefixes.map_or(0, |_| u64::from(PREFIX_BINS));
        let row = u64::from(if format.segmented { RADIX } else { format.bins() });
        let histogram = ((rows * digits * row + 1 + prefixes) * WORD).next_multiple_of(PART);
        let histograms = outline.segments.map_or(1, |segments| u64::from(max_count.div_ceil(segments.tile())));
        Self {
            histogram: histograms * histogram,
            tile_words: if config.in_ring() {
                0
            } else {
                (tiles * u64::from(config.tile_row()) * WORD).next_multiple_of(PART)
            },
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

/// The problems of one group and their scratch layout: the input of radix passes.
pub(crate) struct Problems<'a> {
    pub(crate) config: Config<'a>,
    pub(crate) outline: Outline,
    /// Device address of scratch.
    pub(crate) scratch: u64,
    pub(crate) count: u32,
    /// `MODE_` bits.
    pub(crate) mode: u32,
    pub(crate) prepared: bool,
    /// Whether constant digits are skipped.
    pub(crate) skips_digits: bool,
    /// Number of tiles of all problems, at their maximum counts.
    pub(crate) tiles: u32,
    /// Largest maximum count of a problem.
    pub(crate) most_items: u32,
    /// Maximum number of segments.
    pub(crate) most_segments: u32,
    pub(crate) any_count_on_device: bool,
    pub(crate) any_status: bool,
    pub(crate) bounds: BoundingRanges<ItemRole>,
    /// The row of a single problem, which is in the push constants. Zeros if there are several.
    pub(crate) row: RadixProblem,
    pub(crate) commands: Range,
    pub(crate) tickets: Range,
    pub(crate) states: Range,
    pub(crate) rows: Range,
    pub(crate) histograms: Range,
    pub(crate) tile_words: Range,
    pub(crate) alternate_keys: Range,
    pub(crate) alternate_values: Range,
}

/// Visits the items of each problem, in the same order each time.
pub(crate) type EachItems<'v> = dyn Fn(&mut dyn FnMut(&Items)) + 'v;

/// Number of laps of the ring, over all passes, that its tags distinguish.
const RING_TAGS: u64 = 1 << (u32::BITS - RING_TAG_SHIFT);

impl<'a> Problems<'a> {
    /// Lays out problems in parts of scratch that `layout` allocates.
    pub(crate) fn new(
        config: Config<'a>,
        outline: Outline,
        each: &EachItems<'_>,
        bounds: BoundingRanges<ItemRole>,
        scratch: u64,
        layout: &mut ScratchLayout,
    ) -> Result<Self> {
        let (mut count, mut most_items, mut most_segments) = (0u32, 0u32, 0u32);
        let mut tiles = 0u64;
        let segmented = config.format.segmented;
        // Only the device knows the number of tiles of segments.
        let (mut any_count_on_device, mut any_status) = (segmented, false);
        each(&mut |items| {
            count += 1;
            most_items = most_items.max(items.count.max);
            most_segments = most_segments.max(items.segments.count.max);
            any_count_on_device |= items.counted(&config.format).is_on_device();
            any_status |= items.status != 0;
            tiles += outline.most_tiles(items.count.max);
        });
        let mode = outline.mode(count == 1);
        let prepared = mode & MODE_DIRECT == 0 && outline.tile.is_some();
        let bins = u64::from(config.format.bins());
        let mut most_tile_words = 0;
        let mut parts = Parts::default();
        each(&mut |items| {
            let own = Parts::of(&config, &outline, items.count.max, prepared);
            // Kernels index tile words by the tiles of one segment.
            let segment = outline.tile.map_or(0, |tile| {
                u64::from(items.count.max.div_ceil(tile.tile())) * u64::from(config.tile_row()) * WORD
            });
            most_tile_words = most_tile_words.max(own.tile_words.min(segment));
            parts.add(own);
        });
        // Built-in profiles stay far below both limits. Loaded profiles with small tiles may exceed them.
        let too_many =
            |limit, why| Err(Error::TooLarge { argument: "count.max", value: most_items.into(), limit, why });
        // The number of items that keeps `needed` within `limit`.
        let within = |needed, limit| u64::from(most_items) * limit / needed;
        if most_tile_words > MOST_TILE_WORDS {
            return too_many(within(most_tile_words, MOST_TILE_WORDS), "the bytes that one index of a kernel reaches");
        }
        let most_groups = u64::from(config.profile.max_groups_x) * MOST_GROUPS_Y;
        let lines = if segmented { outline.windows(most_items) } else { count };
        let rows = if outline.tile.is_some() { bins } else { 1 };
        // Every problem has the workgroups of the largest one.
        let shared = outline.most_groups(config.profile.plain_threads, most_items);
        let groups = tiles.max(u64::from(lines) * rows).max(u64::from(count) * shared);
        let limit = most_groups.min(u32::MAX.into());
        if groups > limit {
            return too_many(within(groups, limit), "the workgroups of one dispatch");
        }
        // Tags must not wrap: an old tag, from before skipped passes, would be taken for a new one.
        let laps = if config.in_ring() {
            tiles.div_ceil(config.profile.hooks.ring_entries.into()) * u64::from(config.format.digits())
        } else {
            0
        };
        let is_large = most_items > config.profile.radix.all_digits_up_to;
        let mut problems = Self {
            config,
            outline,
            scratch,
            count,
            mode,
            prepared,
            skips_digits: outline.skips_digits && prepared && is_large && laps < RING_TAGS,
            // At most the number of workgroups, which was checked above.
            tiles: u32::try_from(tiles).unwrap_or(u32::MAX),
            most_items,
            most_segments,
            any_count_on_device,
            any_status,
            bounds,
            row: RadixProblem::default(),
            commands: Range::NONE,
            tickets: Range::NONE,
            states: Range::NONE,
            rows: Range::NONE,
            histograms: Range::NONE,
            tile_words: Range::NONE,
            alternate_keys: Range::NONE,
            alternate_values: Range::NONE,
        };
        let tiled = u64::from(outline.tile.is_some());
        let ring = tiled * u64::from(config.in_ring()) * u64::from(config.profile.hooks.ring_entries) * 2 * bins * WORD;
        let states = WORD + (u64::from(lines) + 1) * size_of::<ProblemState>() as u64;
        let rows = if segmented {
            (u64::from(lines) + 1) * size_of::<Segment>() as u64
        } else {
            problems.row_bytes::<RadixProblem>()
        };
        // Always allocated, so that sizes do not depend on the location of counts.
        let commands = problems.part(layout, tiled * u64::from(ARGUMENTS) * INDIRECT_COMMAND)?;
        let tickets =
            tiled * u64::from(config.scan().is_some()) * u64::from((2 + RING_GROUPS) * config.format.digits()) * WORD;
        problems.commands = if any_count_on_device && prepared { commands } else { Range::NONE };
        problems.tickets = problems.part(layout, tickets)?;
        problems.states = problems.part(layout, tiled * states)?;
        problems.rows = problems.part(layout, rows)?;
        problems.histograms = problems.part(layout, parts.histogram)?;
        problems.tile_words = problems.part(layout, parts.tile_words + ring)?;
        problems.alternate_keys = problems.part(layout, parts.keys)?;
        problems.alternate_values = problems.part(layout, parts.values)?;
        if count == 1 {
            let mut row = RadixProblem::default();
            each(&mut |items| row = problems.rows().next(items));
            problems.row = row;
        }
        Ok(problems)
    }

    /// Allocates a part of scratch.
    fn part(&self, layout: &mut ScratchLayout, bytes: u64) -> Result<Range> {
        layout.range(self.scratch, bytes)
    }

    /// Allocates a table with a row of type `R` for each problem. One row alone is in the push constants, and segments
    /// have none.
    pub(crate) fn table<R>(&self, layout: &mut ScratchLayout) -> Result<Range> {
        self.part(layout, self.row_bytes::<R>())
    }

    fn row_bytes<R>(&self) -> u64 {
        if self.config.format.segmented || self.count <= 1 { 0 } else { u64::from(self.count) * size_of::<R>() as u64 }
    }

    /// Rows of the problems, in order.
    pub(crate) fn rows(&self) -> ProblemRows<'_, 'a> {
        ProblemRows { problems: self, before: Parts::default() }
    }

    /// The offset of a part of scratch, in units of 256 bytes.
    pub(crate) fn part_of(&self, range: Range) -> u32 {
        part_number(self.scratch, range)
    }

    /// The offset of a part of scratch in bytes.
    pub(crate) fn offset_of(&self, range: Range) -> u64 {
        range.address.wrapping_sub(self.scratch)
    }
}

/// Makes the rows of problems, whose parts of scratch lie one behind the other.
pub(crate) struct ProblemRows<'p, 'a> {
    problems: &'p Problems<'a>,
    /// The parts of preceding problems.
    before: Parts,
}

impl ProblemRows<'_, '_> {
    /// The row of the next problem.
    pub(crate) fn next(&mut self, items: &Items) -> RadixProblem {
        let (problems, before) = (self.problems, self.before);
        let format = &problems.config.format;
        // Arrays that the caller does not provide are in scratch.
        let array = |given: u64, range: Range, offset: u64| {
            Address::from(if given != 0 || range.size == 0 { given } else { range.address.wrapping_add(offset) })
        };
        let mut arrays = Arrays::of(format, items);
        let merged = problems.outline.merging.is_some();
        if merged || format.has(LAYOUT_KEYS_IN_SCRATCH) {
            arrays.alternate_keys = 0;
        }
        if merged || format.has(LAYOUT_VALUES_IN_SCRATCH) {
            arrays.alternate_values = 0;
        }
        let (key_unit, value_step) = (if format.narrow() { 1 } else { WORD_BYTES }, format.value_size);
        let key_stride = if items.key_stride == 0 { format.key_step() } else { items.key_stride };
        let dense_value = if format.has(LAYOUT_INTERLEAVED) { format.key_step() } else { value_step };
        let value_stride = if items.value_stride == 0 { dense_value } else { items.value_stride };
        let part =
            |range: Range, offset: u64| problems.part_of(Range::new(range.address.wrapping_add(offset), range.size));
        self.before.add(Parts::of(&problems.config, &problems.outline, items.count.max, problems.prepared));
        RadixProblem {
            keys: arrays.keys.into(),
            values: arrays.values.into(),
            to_keys: arrays.to_keys.into(),
            to_values: arrays.to_values.into(),
            alternate_keys: array(arrays.alternate_keys, problems.alternate_keys, before.keys),
            alternate_values: array(arrays.alternate_values, problems.alternate_values, before.values),
            // The device counts segments, not their items.
            count: if format.segmented { 0 } else { items.count.address }.into(),
            status: items.status.into(),
            max_count: items.count.max,
            strides: (key_stride / key_unit) | ((value_stride / WORD_BYTES) << 16),
            histogram: part(problems.histograms, before.histogram),
            tile_words: part(problems.tile_words, before.tile_words),
            ..RadixProblem::default()
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
            output_items(
                &format,
                &Items { keys_out: Range::new(8, keys), values_out: Range::new(8, values), ..Items::default() },
            )
        };
        assert_eq!(items(PAIRS, 40, 400), 10);
        assert_eq!(items(PAIRS, 400, 43), 10);
        assert_eq!(items(ItemsInfo { drop_keys: true, ..PAIRS }, 0, 40), 10);
        assert_eq!(items(ItemsInfo::KEYS, 40, 0), 10);
        assert_eq!(items(ItemsInfo::KEYS, u64::MAX, 0), MOST_PLACED);
    }
}
