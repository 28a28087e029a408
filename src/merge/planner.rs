//! Turns merges into plans.

use super::format::Format;
use super::merger::{COUNTS, MergeInfo};
use super::plan::MergeTable;
use super::sequences::MOST_MORE;
use super::{MergeMethod, MergeOperation, MergeSegments, MergeSequence};
use crate::core::handle::{Handle, Options};
use crate::core::memory::{Access, Argument, Arguments, BoundingRanges, Role as _, check_alignment, roles};
use crate::core::pipelines::Variant;
use crate::core::primitive::{JobKind, Jobs, Planner};
use crate::core::scratch::Layout as ScratchLayout;
use crate::core::variants::{Counts, Recording, variants};
use crate::kernels::Kernel;
use crate::radix::check_no_input;
use crate::shared::{LAYOUT_DROP_KEYS, LAYOUT_INDICES};
use crate::tuning::merge::Shapes;
use crate::tuning::{Profile, Shape};
use crate::{Count, Device, Error, Range, Result};

roles! {
    /// The arguments of a merge.
    enum MergeRole {
        KeysA = "keysA",
        ValuesA = "valuesA",
        KeysB = "keysB",
        ValuesB = "valuesB",
        KeysOut = "keysOut",
        ValuesOut = "valuesOut",
        CountA = "countA",
        CountB = "countB",
        Status = "status",
        CountOut = "countOut",
        OffsetsA = "segments.offsetsA",
        OffsetsB = "segments.offsetsB",
        OffsetsOut = "segments.offsetsOut",
        SegmentCount = "segments.count",
        Marks = "marks",
        MoreKeys = "moreSequences.keys",
        MoreValues = "moreSequences.values",
        MoreCount = "moreSequences.count",
    }
}

/// Merges, which borrow their further sequences.
#[derive(Debug)]
pub(crate) enum MergeJobs {}

impl JobKind for MergeJobs {
    type Job<'j> = MergeInfo<'j>;
    type Role = MergeRole;
}

/// The device's profile and the format: all that plans depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) format: Format,
}

/// The passes of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    /// Merge path in one dispatch: each workgroup finds the items of its tile.
    Fused,
    /// The co-ranks of all tiles, then the tiles.
    Tiles,
    /// One dispatch of this kernel.
    Basic,
    Tiled,
    CircularBuffer,
    LowerBound,
    UpperBound,
    /// A set operation: the balanced co-ranks of all tiles, then the tiles.
    Sets,
    /// The co-ranks of all tiles, the marked items, then the tiles.
    Update,
}

/// Needles that a thread searches for at once.
const NEEDLES: u32 = 4;

/// Merges of equal groups share dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    format: Format,
    pub(crate) algorithm: Algorithm,
    /// Binary logarithm of the number of tiles, rounded up. All merges of a dispatch have the workgroups of the largest
    /// one. 0 for a merge that is recorded alone.
    log2_tiles: u32,
}

impl<'a> Config<'a> {
    pub(crate) fn shapes(&self) -> &'a Shapes {
        self.profile.merge.shapes(self.format.key_words, self.format.value_words)
    }

    /// Largest maximum count that is merged by a single dispatch.
    fn fused_up_to(&self) -> u32 {
        self.shapes().fused_up_to / self.format.key_words.div_ceil(2)
    }

    pub(crate) fn group(&self, max_count: u32, alone: bool) -> Group {
        let algorithm = match (self.format.operation, self.format.method) {
            (MergeOperation::LowerBound, _) => Algorithm::LowerBound,
            (MergeOperation::UpperBound, _) => Algorithm::UpperBound,
            (operation, _) if operation.is_set_operation() => Algorithm::Sets,
            (operation, _) if operation.is_update() => Algorithm::Update,
            // The module of a comparator has one kernel.
            (_, MergeMethod::Path) if max_count <= self.fused_up_to() || self.format.comparator != 0 => {
                Algorithm::Fused
            }
            (_, MergeMethod::Path) => Algorithm::Tiles,
            (_, MergeMethod::Basic) => Algorithm::Basic,
            (_, MergeMethod::Tiled) => Algorithm::Tiled,
            (_, MergeMethod::CircularBuffer) => Algorithm::CircularBuffer,
        };
        let group = Group { format: self.format, algorithm, log2_tiles: 0 };
        if alone {
            return group;
        }
        let tiles = max_count.div_ceil(self.step(algorithm));
        Group { log2_tiles: tiles.max(1).next_power_of_two().ilog2(), ..group }
    }

    /// The items that a workgroup merges at a time, or the needles that it searches for.
    pub(crate) fn tile(&self, algorithm: Algorithm) -> Shape {
        let shapes = self.shapes();
        let words = self.format.key_words;
        match algorithm {
            Algorithm::Fused => shapes.fused.of_words(words),
            Algorithm::Tiles | Algorithm::Basic | Algorithm::Sets | Algorithm::Update => shapes.tile.of_words(words),
            // Shared memory holds a tile of either sequence.
            Algorithm::Tiled | Algorithm::CircularBuffer => shapes.tile.of_words(2 * words),
            Algorithm::LowerBound | Algorithm::UpperBound => Shape { items: NEEDLES, ..shapes.fused },
        }
    }

    /// The subgroup size of a kernel's pipeline. With emulated subgroups, a kernel without an emulated form uses no
    /// subgroup operations, and runs with a size that the device chooses: 0.
    pub(crate) fn lanes(&self, kernel: Kernel) -> u32 {
        let is_free = self.profile.emulated_subgroups && kernel.emulated(true) == kernel;
        if is_free { 0 } else { self.profile.lanes }
    }

    /// Distance of neighboring tiles on the merge path, or in the needles. In a set operation, a tile may have one item
    /// more: a pair of equal keys is never parted.
    pub(crate) fn step(&self, algorithm: Algorithm) -> u32 {
        self.tile(algorithm).tile() - u32::from(algorithm == Algorithm::Sets)
    }

    fn range_ends(&self, alone: bool) -> impl Iterator<Item = u32> + use<'a> {
        let config = *self;
        // One of each shape.
        let algorithms = [Algorithm::Fused, Algorithm::Tiles, Algorithm::Tiled, Algorithm::LowerBound, Algorithm::Sets];
        let ends = algorithms.into_iter().filter(move |_| !alone).flat_map(move |algorithm| {
            let step = config.step(algorithm);
            (0..u32::BITS).map_while(move |log2| step.checked_mul(1 << log2))
        });
        ends.chain([self.fused_up_to(), u32::MAX])
    }
}

impl Config<'_> {
    /// Every variant that some plan uses.
    pub(crate) fn variants(&self, batches: bool) -> Result<Vec<Variant>> {
        let counts = Counts { ends: |alone| self.range_ends(alone), most: self.format.max_count };
        variants(batches, &counts, |Recording { alone, another }, count, visit| {
            // Three sequences have one merge at each depth. The most have several at each depth but the last.
            [2, 3, self.format.sequences].into_iter().filter(|of| *of <= self.format.sequences).try_for_each(|of| {
                let jobs = [count, 0].map(|count| largest(of, count));
                let jobs = Merges { format: &self.format, infos: &jobs[..1 + usize::from(another)] };
                visit(&MergeTable::new(*self, self.group(count, alone), &jobs, 0, &mut ScratchLayout::default())?)
            })
        })
    }
}

/// Merges of one format.
#[derive(Debug)]
pub(crate) struct Merges<'a> {
    pub(crate) format: &'a Format,
    pub(crate) infos: &'a [MergeInfo<'a>],
}

impl Jobs<MergeJobs> for Merges<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(&MergeInfo<'_>)) {
        self.infos.iter().for_each(visit);
    }

    fn bounding_ranges(&self) -> BoundingRanges<MergeRole> {
        self.infos.iter().fold(BoundingRanges::default(), |mut bounds, info| {
            bounds.grow(&arguments(self.format, info));
            bounds
        })
    }
}

/// A merge of so many sequences, with as many passes and as much scratch as any of them with this maximum count.
pub(crate) fn largest(sequences: u32, max_count: u32) -> MergeInfo<'static> {
    const EMPTY: MergeSequence = MergeSequence { count: Count::device(4, 0), keys: Range::NONE, values: Range::NONE };
    const MORE: &[MergeSequence] = &[EMPTY; MOST_MORE];
    let [count, none] = [max_count, 0].map(|max| Count::device(4, max));
    let more = MORE.get(..(sequences as usize).saturating_sub(2)).unwrap_or(MORE);
    MergeInfo { count_a: count, count_b: none, more, status: 4, ..MergeInfo::default() }
}

/// Merges of one format on one device. Immutable: record from many threads.
#[derive(Clone, Debug)]
pub(crate) struct MergePlanner {
    handle: Handle,
    format: Format,
    batches: bool,
}

impl MergePlanner {
    /// Creates every pipeline that the merges may need, or names them for [`Handle::compile`].
    pub(crate) fn new(device: &Device, format: Format, Options { batches, deferred }: Options) -> Result<Self> {
        let mut planner = Self { handle: Handle::new(device), format, batches };
        planner.handle = Handle::complete(&planner, planner.config().variants(batches)?, deferred)?;
        Ok(planner)
    }

    pub(crate) fn format(&self) -> &Format {
        &self.format
    }

    fn check_more(&self, info: &MergeInfo<'_>) -> Result<()> {
        for MergeSequence { count, keys, values } in info.more {
            check_alignment("moreSequences.count.address", count.address)?;
            let items = u64::from(count.max);
            let arrays = [(MergeRole::MoreKeys, keys), (MergeRole::MoreValues, values)];
            for ((role, range), bytes) in arrays.into_iter().zip(item_bytes(&self.format)) {
                range.check(*role.names(), 4, items * bytes, Some(items))?;
            }
        }
        Ok(())
    }

    fn check_details(&self, info: &MergeInfo<'_>) -> Result<()> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.into() });
        let MergeSegments { count, offsets_a, offsets_b, offsets_out } = info.segments;
        if !self.format.operation.is_update() && info.marks != Range::NONE {
            return malformed("marks", "the merger's operation is not an update");
        }
        if self.format.comparator == 0 {
            check_no_input(info.user_address, info.user_words, "the merger has no comparator")?;
        }
        if !self.format.segmented {
            let is_set = info.segments != MergeSegments::default();
            return if is_set { malformed("segments", "the merger is not segmented") } else { Ok(()) };
        }
        for (argument, count) in [("countA.address", info.count_a), ("countB.address", info.count_b)] {
            if count.is_on_device() {
                return malformed(argument, "the last offset is the number of items");
            }
        }
        check_alignment("segments.count.address", count.address)?;
        let bytes = (u64::from(count.max) + 1) * 4;
        offsets_a.check(*MergeRole::OffsetsA.names(), 4, bytes, None)?;
        offsets_b.check(*MergeRole::OffsetsB.names(), 4, bytes, None)?;
        if offsets_out == Range::NONE {
            return Ok(());
        }
        offsets_out.check(*MergeRole::OffsetsOut.names(), 4, bytes, None)
    }

    fn config(&self) -> Config<'_> {
        Config { profile: self.handle.device().profile(), format: self.format }
    }
}

/// The words with the marks of an update.
pub(crate) fn marks(format: &Format, info: &MergeInfo<'_>) -> Range {
    let words = match format.operation {
        MergeOperation::Update => u64::from(info.count_a.max.div_ceil(32)),
        MergeOperation::UpdateByValue => (info.marks.size / 4).min(MOST_MARK_WORDS),
        _ => 0,
    };
    Range::new(info.marks.address, 4 * words)
}

/// Words with a mark for each value.
const MOST_MARK_WORDS: u64 = 1 << 27;

/// Bytes of a key, and of a value that is read from an array of its own.
fn item_bytes(format: &Format) -> [u64; 2] {
    let reads_values = format.has_value_arrays() && !format.has(LAYOUT_INDICES);
    [format.key_step(), if reads_values { 4 * format.value_words } else { 0 }].map(u64::from)
}

/// Calls `visit` with the memory of the sequences after B.
pub(crate) fn more_arguments(format: &Format, info: &MergeInfo<'_>, visit: &mut dyn FnMut(Argument<MergeRole>)) {
    let [key_bytes, value_bytes] = item_bytes(format);
    for MergeSequence { count, keys, values } in info.more {
        let items = u64::from(count.max);
        let mut read =
            |role, address, bytes| visit(Argument { role, range: Range::new(address, bytes), access: Access::Read });
        read(MergeRole::MoreKeys, keys.address, items * key_bytes);
        read(MergeRole::MoreValues, values.address, items * value_bytes);
        read(MergeRole::MoreCount, count.address, if count.is_on_device() { 4 } else { 0 });
    }
}

/// The memory that a merge names, without scratch and without the sequences after B.
pub(crate) fn arguments(format: &Format, info: &MergeInfo<'_>) -> Arguments<MergeRole> {
    let (a, b) = (u64::from(info.count_a.max), u64::from(info.count_b.max));
    let keys = |range: Range, items: u64| Range::new(range.address, items * u64::from(format.key_step()));
    let values = |range: Range, items: u64, is_used: bool| {
        let words = if is_used && format.has_value_arrays() { format.value_words } else { 0 };
        Range::new(range.address, items * u64::from(4 * words))
    };
    let word = |address| Range::new(address, if address == 0 { 0 } else { 4 });
    let reads_values = !format.has(LAYOUT_INDICES);
    let written = format.output_items(a, b) + info.more_items();
    let offsets = |range: Range| {
        let words = if format.segmented { u64::from(info.segments.count.max) + 1 } else { 0 };
        Range::new(range.address, 4 * words)
    };
    let offsets_out =
        if info.segments.offsets_out == Range::NONE { Range::NONE } else { offsets(info.segments.offsets_out) };
    let keys_out = if format.has(LAYOUT_DROP_KEYS) { Range::NONE } else { keys(info.keys_out, written) };
    let all = [
        (MergeRole::KeysA, keys(info.keys_a, a), false),
        (MergeRole::ValuesA, values(info.values_a, a, reads_values), false),
        (MergeRole::KeysB, keys(info.keys_b, b), false),
        (MergeRole::ValuesB, values(info.values_b, b, reads_values), false),
        (MergeRole::KeysOut, keys_out, true),
        (MergeRole::ValuesOut, values(info.values_out, written, true), true),
        (MergeRole::CountA, word(info.count_a.address), false),
        (MergeRole::CountB, word(info.count_b.address), false),
        (MergeRole::Status, word(info.status), true),
        (MergeRole::CountOut, word(info.count_out), true),
        (MergeRole::OffsetsA, offsets(info.segments.offsets_a), false),
        (MergeRole::OffsetsB, offsets(info.segments.offsets_b), false),
        (MergeRole::OffsetsOut, offsets_out, true),
        (
            MergeRole::SegmentCount,
            if format.segmented { word(info.segments.count.address) } else { Range::NONE },
            false,
        ),
        (MergeRole::Marks, marks(format, info), false),
    ];
    // Most merges use few members, and all pairs of arguments are compared.
    let used = all.into_iter().filter(|(_, range, _)| range.size != 0);
    used.map(|(role, range, written)| Argument { role, range, access: Access::writing(written) }).collect()
}

impl Planner for MergePlanner {
    type Kind = MergeJobs;
    type Group = Group;
    type Table<'a> = MergeTable<'a>;

    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn allows_batches(&self) -> bool {
        self.batches
    }

    fn check_count(&self, max_count: u32) -> Result<()> {
        if max_count > self.format.max_count {
            let (value, limit) = (max_count.into(), self.format.max_count.into());
            return Err(Error::TooLarge { argument: COUNTS, value, limit, why: "the merger's maxCount" });
        }
        Ok(())
    }

    fn arguments(&self, info: &MergeInfo<'_>) -> Arguments<MergeRole> {
        arguments(&self.format, info)
    }

    fn check(&self, info: &MergeInfo<'_>, arguments: &Arguments<MergeRole>) -> Result<()> {
        check_alignment("countA.address", info.count_a.address)?;
        check_alignment("countB.address", info.count_b.address)?;
        check_alignment("status", info.status)?;
        check_alignment("countOut", info.count_out)?;
        if self.format.only_counts() && info.count_out == 0 {
            return Err(Error::Null { argument: "countOut" });
        }
        let (a, b) = (u64::from(info.count_a.max), u64::from(info.count_b.max));
        let written = self.format.output_items(a, b) + info.more_items();
        for argument in arguments {
            let (range, items) = match argument.role {
                MergeRole::KeysA => (info.keys_a, a),
                MergeRole::ValuesA => (info.values_a, a),
                MergeRole::KeysB => (info.keys_b, b),
                MergeRole::ValuesB => (info.values_b, b),
                MergeRole::KeysOut => (info.keys_out, written),
                MergeRole::ValuesOut => (info.values_out, written),
                MergeRole::Marks => (info.marks, a),
                _ => continue,
            };
            range.check(*argument.role.names(), 4, argument.range.size, Some(items))?;
        }
        self.check_more(info)?;
        self.check_details(info)
    }

    fn for_each_more(&self, info: &MergeInfo<'_>, visit: &mut dyn FnMut(Argument<MergeRole>)) {
        more_arguments(&self.format, info, visit);
    }

    fn group(&self, max_count: u32, alone: bool) -> Group {
        self.config().group(max_count, alone)
    }

    fn shares(_group: &Group) -> bool {
        true
    }

    fn lay_out<'a>(
        &'a self,
        group: Group,
        jobs: &'a dyn Jobs<MergeJobs>,
        scratch: u64,
        layout: &mut ScratchLayout,
    ) -> Result<MergeTable<'a>> {
        MergeTable::new(self.config(), group, jobs, scratch, layout)
    }

    fn largest(&self, max_count: u32) -> MergeInfo<'static> {
        largest(self.format.sequences, max_count)
    }

    fn range_ends(&self, alone: bool) -> impl Iterator<Item = u32> {
        self.config().range_ends(alone)
    }
}
