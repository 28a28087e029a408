//! From problems to passes. Pure arithmetic: addresses go through untouched.

use super::SortInfo;
use crate::device::DeviceFacts;
use crate::kernel::{Kernel, Variant};
use crate::memory::Range;
use crate::plan::{Groups, Pass, Plan, Push, Resource, Resources, Table, Upload};
use crate::scratch::Layout;
use crate::shared::{
    ARGUMENTS_CHUNKS, ARGUMENTS_TILES, Address, Constant, PASSES, RADIX, RADIX_BITS, SortProblem, SortPush, SortState,
};
use crate::tuning::{Profile, Shape, SortShapes, Strategy};
use crate::{Error, Result};
use arrayvec::ArrayVec;

/// Most keys of one sort: look-back words count in 30 bits.
pub(crate) const MAX_COUNT: u32 = 1 << 30;

const WORD: u64 = 4;
const INDIRECT_COMMAND: u64 = 12;
/// Most bytes of one problem's tile words: kernels index them by a `uint`.
const MOST_TILE_WORDS: u64 = 1 << 32;
/// Most workgroups in y that every device takes.
const MOST_GROUPS_Y: u64 = 65535;

/// What a sorter is, as far as plans depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortKind<'a> {
    pub(crate) facts: &'a DeviceFacts,
    pub(crate) profile: &'a Profile,
    /// Never [`Strategy::Auto`].
    pub(crate) strategy: Strategy,
    pub(crate) value_words: u32,
}

/// Which kernels serve a problem, by its maximum count. Problems of a class share their dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// One workgroup and one dispatch.
    Small(Shape),
    /// Tiles of this shape.
    Tiled(Shape),
}

/// Where the problems of a plan come from.
pub(crate) trait SortSource {
    /// Calls `visit` for each problem, in the same order each time.
    fn for_each(&self, visit: &mut dyn FnMut(&SortInfo));
}

impl SortSource for SortInfo {
    fn for_each(&self, visit: &mut dyn FnMut(&SortInfo)) {
        visit(self);
    }
}

impl<'a> SortKind<'a> {
    fn shapes(&self) -> &'a SortShapes {
        if self.value_words == 0 { &self.profile.sort_keys } else { &self.profile.sort_pairs }
    }

    pub(crate) fn class(&self, max_count: u32) -> Class {
        let shapes = self.shapes();
        if let Some(shape) = shapes.small.iter().find(|shape| max_count <= shape.tile()) {
            return Class::Small(*shape);
        }
        let tiles = shapes.tiles.iter().find(|sized| max_count <= sized.up_to).or(shapes.tiles.last());
        // A profile without tiles does not pass Profile::checked.
        Class::Tiled(tiles.map_or(Shape { threads: 64, items: 1 }, |sized| sized.shape))
    }

    /// The largest maximum count of each shape but the last.
    pub(crate) fn shape_ends(&self) -> impl Iterator<Item = u32> + use<'a> {
        let shapes = self.shapes();
        shapes.small.iter().map(|shape| shape.tile()).chain(shapes.tiles.iter().map(|sized| sized.up_to))
    }

    /// Every kernel that any problem may need.
    pub(crate) fn variants(&self) -> impl Iterator<Item = Variant> + use<'a> {
        let kind = *self;
        let small = self.shapes().small.iter().map(move |shape| kind.variant(Kernel::SortSmall, *shape));
        let kernels: &[Kernel] = match self.strategy {
            Strategy::ReduceThenScan => &[Kernel::SortPrepare, Kernel::SortCount, Kernel::SortSpine, Kernel::SortReorder],
            _ => &[Kernel::SortPrepare, Kernel::SortHistogram, Kernel::SortOnesweep],
        };
        let tiled = self.shapes().tiles.iter();
        small.chain(tiled.flat_map(move |sized| kernels.iter().map(move |kernel| kind.variant(*kernel, sized.shape))))
    }

    fn variant(&self, kernel: Kernel, shape: Shape) -> Variant {
        let holds_tile = matches!(kernel, Kernel::SortSmall | Kernel::SortOnesweep | Kernel::SortReorder);
        let threads = if holds_tile { shape.threads } else { self.profile.plain_threads };
        let emulated = self.profile.emulated_subgroups;
        // A kernel that has no emulated form runs on subgroups as they are, whose size is the device's own choice then.
        let lanes = if emulated && kernel.emulated(true) == kernel { 0 } else { self.profile.lanes };
        Variant::new(kernel.emulated(emulated), |constant| match constant {
            Constant::Threads => threads,
            Constant::Lanes => lanes,
            Constant::Items => shape.items,
            Constant::Histograms => self.profile.histogram_rows(threads, self.facts),
            Constant::ValueWords => self.value_words,
            Constant::Tile => shape.tile(),
            Constant::SpinLimit => self.profile.spin_limit,
            Constant::DelayEvery => self.profile.delay_every,
        })
    }
}

/// Bytes of each part of scratch that a problem needs; or, summed over the problems before one, where its parts begin.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    histogram: u64,
    tile_words: u64,
    keys: u64,
    values: u64,
}

impl Parts {
    fn of(kind: &SortKind<'_>, shape: Shape, max_count: u32) -> Self {
        // Alternate arrays of a batch begin where 16-byte loads may.
        let items = u64::from(max_count).next_multiple_of(4);
        let digits = if kind.strategy == Strategy::ReduceThenScan { 1 } else { PASSES };
        Self {
            histogram: u64::from(digits * RADIX) * WORD,
            tile_words: u64::from(max_count.div_ceil(shape.tile())) * u64::from(RADIX) * WORD,
            keys: items * WORD,
            values: items * u64::from(kind.value_words) * WORD,
        }
    }

    fn add(&mut self, other: Self) {
        self.histogram += other.histogram;
        self.tile_words += other.tile_words;
        self.keys += other.keys;
        self.values += other.values;
    }
}

/// The problems of one class, with the offsets of their parts: all that a plan is made from.
pub(crate) struct SortTable<'a> {
    kind: SortKind<'a>,
    class: Class,
    source: &'a dyn SortSource,
    /// Device address of scratch.
    scratch: u64,
    problems: u32,
    /// Tiles of all problems at their maximum counts.
    tiles: u32,
    any_item: bool,
    any_count_on_device: bool,
    any_status: bool,
    hulls: Hulls,
    arguments: Range,
    tickets: Range,
    states: Range,
    table: Range,
    histograms: Range,
    tile_words: Range,
    alternate_keys: Range,
    alternate_values: Range,
}

/// The smallest ranges around what the problems name.
#[derive(Clone, Copy, Debug, Default)]
struct Hulls {
    keys: Range,
    values: Range,
    counts: Range,
    statuses: Range,
}

fn grow(hull: &mut Range, part: Range) {
    if part.size == 0 || part.address == 0 {
        return;
    }
    if hull.size == 0 {
        *hull = part;
        return;
    }
    let end = hull.address.saturating_add(hull.size).max(part.address.saturating_add(part.size));
    hull.address = hull.address.min(part.address);
    hull.size = end - hull.address;
}

impl<'a> SortTable<'a> {
    /// Lays out the problems of `class` that `source` names, in parts of scratch taken from `layout`.
    pub(crate) fn new(
        kind: SortKind<'a>,
        class: Class,
        source: &'a dyn SortSource,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let mut problems = 0u32;
        let mut tiles = 0u64;
        let (mut any_item, mut any_count_on_device, mut any_status) = (false, false, false);
        let mut most_tile_words = 0;
        let mut hulls = Hulls::default();
        let mut parts = Parts::default();
        source.for_each(&mut |info| {
            if kind.class(info.count.max) != class {
                return;
            }
            problems += 1;
            any_item |= info.count.max != 0;
            any_count_on_device |= info.count.is_on_device();
            any_status |= info.status != 0;
            let bytes = u64::from(info.count.max) * WORD;
            grow(&mut hulls.keys, Range::new(info.keys.address, bytes));
            grow(&mut hulls.values, Range::new(info.values.address, bytes * u64::from(kind.value_words)));
            grow(&mut hulls.counts, Range::new(info.count.address, WORD));
            grow(&mut hulls.statuses, Range::new(info.status, WORD));
            if let Class::Tiled(shape) = class {
                tiles += u64::from(info.count.max.div_ceil(shape.tile()));
                let own = Parts::of(&kind, shape, info.count.max);
                most_tile_words = most_tile_words.max(own.tile_words);
                parts.add(own);
            }
        });
        // No built-in profile comes near either limit; one of small tiles, loaded from elsewhere, may.
        let too_many = |value, limit, why| Err(Error::TooLarge { argument: "count.max", value, limit, why });
        if most_tile_words > MOST_TILE_WORDS {
            return too_many(most_tile_words, MOST_TILE_WORDS, "the bytes that one index of a kernel reaches");
        }
        let most_groups = u64::from(kind.profile.max_groups_x) * MOST_GROUPS_Y;
        let digits = if matches!(class, Class::Tiled(_)) { RADIX } else { 1 };
        let groups = tiles.max(u64::from(problems) * u64::from(digits));
        if groups > most_groups {
            return too_many(groups, most_groups, "the workgroups of one dispatch");
        }
        let tiles = u32::try_from(tiles).map_err(|_| Error::TooLarge {
            argument: "batch",
            value: tiles,
            limit: u64::from(u32::MAX),
            why: "the most tiles of one dispatch",
        })?;
        let mut part = |bytes: u64| -> Result<Range> {
            Ok(if bytes == 0 { Range::NONE } else { Range::new(scratch + layout.part(bytes)?, bytes) })
        };
        let tiled = u64::from(matches!(class, Class::Tiled(_)));
        let look_back = tiled * u64::from(kind.strategy == Strategy::Lookback);
        let several = u64::from(problems > 1);
        // Set apart always, so that sizes do not depend on where counts lie.
        let arguments = part(tiled * 2 * INDIRECT_COMMAND)?;
        Ok(Self {
            kind,
            class,
            source,
            scratch,
            problems,
            tiles,
            any_item,
            any_count_on_device,
            any_status,
            hulls,
            arguments: if any_count_on_device { arguments } else { Range::NONE },
            tickets: part(look_back * u64::from(PASSES) * WORD)?,
            states: part(tiled * (u64::from(problems) + 1) * size_of::<SortState>() as u64)?,
            table: part(several * u64::from(problems) * size_of::<SortProblem>() as u64)?,
            histograms: part(parts.histogram)?,
            tile_words: part(parts.tile_words)?,
            alternate_keys: part(parts.keys)?,
            alternate_values: part(parts.values)?,
        })
    }

    fn for_each_problem(&self, visit: &mut dyn FnMut(&SortProblem)) {
        let mut before = Parts::default();
        let part = |range: Range, offset: u64| Address::from(if range.size == 0 { 0 } else { range.address + offset });
        self.source.for_each(&mut |info| {
            if self.kind.class(info.count.max) != self.class {
                return;
            }
            let mut problem = SortProblem {
                keys: info.keys.address.into(),
                values: if self.kind.value_words == 0 { Address::default() } else { info.values.address.into() },
                count: info.count.address.into(),
                status: info.status.into(),
                max_count: info.count.max,
                ..SortProblem::default()
            };
            if let Class::Tiled(shape) = self.class {
                problem.histogram = part(self.histograms, before.histogram);
                problem.tile_words = part(self.tile_words, before.tile_words);
                problem.alternate_keys = part(self.alternate_keys, before.keys);
                problem.alternate_values = part(self.alternate_values, before.values);
                before.add(Parts::of(&self.kind, shape, info.count.max));
            }
            visit(&problem);
        });
    }

    /// The passes, as the class and the strategy have them.
    pub(crate) fn plan(&'a self) -> Plan<'a> {
        let mut builder = Builder::new(self);
        match (self.class, self.kind.strategy) {
            // Nothing to sort and nothing to tell.
            _ if !self.any_item && !self.any_status => {}
            (Class::Small(shape), _) => builder.small(shape),
            (Class::Tiled(shape), Strategy::ReduceThenScan) => builder.reduce_then_scan(shape),
            (Class::Tiled(shape), _) => builder.look_back(shape),
        }
        builder.finish()
    }
}

impl Table for SortTable<'_> {
    fn for_each_row(&self, row: &mut dyn FnMut(&[u8])) {
        self.for_each_problem(&mut |problem| row(bytemuck::bytes_of(problem)));
    }
}

/// A resource: its index in the plan, or none where the plan does not have it.
#[derive(Clone, Copy)]
struct Id(Option<usize>);

struct Builder<'a> {
    table: &'a SortTable<'a>,
    plan: Plan<'a>,
    push: SortPush,
    keys: [Id; 2],
    values: [Id; 2],
    counts: Id,
    statuses: Id,
    arguments: Id,
    tickets: Id,
    states: Id,
    rows: Id,
    histograms: Id,
    tile_words: Id,
}

fn set(ids: &[Id]) -> Resources {
    ids.iter().filter_map(|id| id.0).fold(Resources::default(), |all, id| all.union(Resources::of(&[id])))
}

impl<'a> Builder<'a> {
    fn new(table: &'a SortTable<'a>) -> Self {
        let mut resources = ArrayVec::new();
        let mut add = |name, range: Range| {
            Id((range.size != 0).then(|| {
                resources.push(Resource { name, range });
                resources.len() - 1
            }))
        };
        let ids = (
            [add("keys", table.hulls.keys), add("alternate_keys", table.alternate_keys)],
            [add("values", table.hulls.values), add("alternate_values", table.alternate_values)],
            add("counts", table.hulls.counts),
            add("statuses", table.hulls.statuses),
            add("arguments", table.arguments),
            add("tickets", table.tickets),
            add("states", table.states),
            add("problems", table.table),
            add("histograms", table.histograms),
            add("tile_words", table.tile_words),
        );
        let mut push = SortPush {
            problems: table.table.address.into(),
            states: table.states.address.into(),
            arguments: table.arguments.address.into(),
            tickets: table.tickets.address.into(),
            problem_count: table.problems,
            chunk: table.tiles.div_ceil(table.kind.profile.histogram_groups).max(1),
            max_groups_x: table.kind.profile.max_groups_x,
            ..SortPush::default()
        };
        if table.problems == 1 {
            table.for_each_problem(&mut |problem| push.problem = *problem);
        }
        let upload = ids.7.0.map(|resource| Upload { table, offset: table.table.address - table.scratch, resource });
        let (keys, values, counts, statuses, arguments, tickets, states, rows, histograms, tile_words) = ids;
        let plan = Plan { name: "sort", resources, upload, passes: ArrayVec::new() };
        Self { table, plan, push, keys, values, counts, statuses, arguments, tickets, states, rows, histograms, tile_words }
    }

    fn finish(mut self) -> Plan<'a> {
        if self.plan.passes.is_empty() {
            self.plan.upload = None;
        }
        self.plan
    }

    fn pass(&mut self, kernel: Kernel, shape: Shape, groups: Groups, reads: &[Id], writes: &[Id]) {
        self.plan.passes.push(Pass {
            variant: self.table.kind.variant(kernel, shape),
            groups,
            push: Push::new(&self.push),
            reads: set(reads),
            writes: set(writes),
        });
    }

    /// What tells a tile whose it is: nothing, where the push constants say it all.
    fn line(&self) -> [Id; 2] {
        let resolved = self.table.any_count_on_device || self.table.problems > 1;
        [if resolved { self.states } else { Id(None) }, self.rows]
    }

    fn groups(&self, fixed: u32, command: u32) -> Groups {
        match self.arguments.0 {
            Some(resource) => Groups::Indirect {
                offset: self.table.arguments.address - self.table.scratch + u64::from(command) * INDIRECT_COMMAND,
                resource,
            },
            None => Groups::Fixed(fixed),
        }
    }

    fn small(&mut self, shape: Shape) {
        let ([keys, _], [values, _]) = (self.keys, self.values);
        let groups = Groups::Fixed(self.table.problems);
        self.pass(Kernel::SortSmall, shape, groups, &[keys, values, self.counts, self.rows], &[keys, values, self.statuses]);
    }

    fn prepare(&mut self, shape: Shape, cleared: &[Id]) {
        let reads = [self.counts, self.rows];
        let writes = [self.states, self.arguments, self.statuses];
        let writes: ArrayVec<Id, 8> = writes.iter().chain(cleared).copied().collect();
        self.pass(Kernel::SortPrepare, shape, Groups::Fixed(self.table.problems), &reads, &writes);
    }

    fn look_back(&mut self, shape: Shape) {
        let [states, rows] = self.line();
        let (histograms, tile_words, tickets) = (self.histograms, self.tile_words, self.tickets);
        self.prepare(shape, &[histograms, tickets]);

        let chunks = self.groups(self.table.tiles.div_ceil(self.push.chunk), ARGUMENTS_CHUNKS);
        let keys = self.keys[0];
        self.pass(Kernel::SortHistogram, shape, chunks, &[keys, states, rows, histograms], &[histograms, tile_words]);

        let tiles = self.groups(self.table.tiles, ARGUMENTS_TILES);
        for digit in 0..PASSES {
            self.turn(digit);
            let (from, to) = self.direction(digit);
            let reads = [self.keys[from], self.values[from], states, rows, histograms, tile_words, tickets];
            self.pass(Kernel::SortOnesweep, shape, tiles, &reads, &[self.keys[to], self.values[to], tile_words, tickets]);
        }
    }

    fn reduce_then_scan(&mut self, shape: Shape) {
        let [states, rows] = self.line();
        let (histograms, tile_words) = (self.histograms, self.tile_words);
        if self.table.any_count_on_device || self.table.any_status || self.table.problems > 1 {
            self.prepare(shape, &[]);
        }
        let tiles = self.groups(self.table.tiles, ARGUMENTS_TILES);
        let digits = Groups::Fixed(self.table.problems * RADIX);
        for digit in 0..PASSES {
            self.turn(digit);
            let (from, to) = self.direction(digit);
            self.pass(Kernel::SortCount, shape, tiles, &[self.keys[from], states, rows], &[tile_words]);
            self.pass(Kernel::SortSpine, shape, digits, &[tile_words, states, rows], &[tile_words, histograms]);
            let reads = [self.keys[from], self.values[from], states, rows, tile_words, histograms];
            self.pass(Kernel::SortReorder, shape, tiles, &reads, &[self.keys[to], self.values[to]]);
        }
    }

    fn turn(&mut self, digit: u32) {
        self.push.pass_index = digit;
        self.push.shift = digit * RADIX_BITS;
    }

    fn direction(&self, digit: u32) -> (usize, usize) {
        if digit.is_multiple_of(2) { (0, 1) } else { (1, 0) }
    }
}
