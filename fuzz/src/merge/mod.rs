//! Merges.

mod calls;
mod handle;
mod sequences;
mod several;

use self::handle::Merging;
use crate::comparators::Comparator;
use crate::items::value_size;
use crate::keys::{self, words};
use crate::primitive::{Ask, CountAt, Handle, HandleInfo, Limits, Primitive, draw_max_count};
use crate::profiles::{Draws, Line};
use crate::random::Random;
use crate::second::Second;
use trommel::{
    ComparatorKernel, Device, KeyType, Layout, MergeMethod, MergeOperation, Merger, MergerInfo, Order, ValueType,
};

/// The merge.
#[derive(Clone, Copy, Debug)]
pub struct Merges;

pub(crate) static PRIMITIVE: Merges = Merges;

/// Half of them merge path, which has two ways to run.
const METHODS: [MergeMethod; 6] = [
    MergeMethod::Path,
    MergeMethod::Path,
    MergeMethod::Path,
    MergeMethod::Basic,
    MergeMethod::Tiled,
    MergeMethod::CircularBuffer,
];

const SETS: [MergeOperation; 5] = [
    MergeOperation::Union,
    MergeOperation::Intersection,
    MergeOperation::Difference,
    MergeOperation::SymmetricDifference,
    MergeOperation::Unique,
];

/// A merger of any kind; one in four times a search, one in eight each a set operation, an update, segments, more than
/// two sequences.
fn draw_info(limits: &Limits, random: &mut Random) -> MergerInfo {
    let info = draw_merge(limits, random);
    let bare = MergerInfo { key: info.key, order: info.order, deferred: info.deferred, ..MergerInfo::keys().batches() };
    match random.below(8) {
        0 => MergerInfo { operation: MergeOperation::LowerBound, max_count: info.max_count, ..bare },
        1 => MergerInfo { operation: MergeOperation::UpperBound, max_count: info.max_count, ..bare },
        2 => {
            let info = MergerInfo { method: MergeMethod::Path, ..info.operation(random.pick(&SETS)) };
            // Some only count.
            MergerInfo { drop_keys: info.drop_keys || random.chance(1, 8), ..info }
        }
        3 => {
            let operation = random.pick(&[MergeOperation::Update, MergeOperation::UpdateByValue]);
            let segmented = random.chance(1, 3);
            MergerInfo { method: MergeMethod::Path, segmented, ..info.operation(operation) }
        }
        4 => MergerInfo { method: MergeMethod::Path, segmented: true, ..info },
        5 => MergerInfo { method: MergeMethod::Path, sequences: random.pick(&[3, 4, 5, 8, 16]), ..info },
        _ => info,
    }
}

fn draw_merge(limits: &Limits, random: &mut Random) -> MergerInfo {
    let value = match random.below(20) {
        0..5 => ValueType::None,
        5..9 => ValueType::U32,
        9..14 => ValueType::Bytes(4 * random.between(1, 4)),
        14..17 => ValueType::Index,
        17 => ValueType::Bytes(36),
        18 => ValueType::Bytes(4 * random.between(5, 40)),
        _ => ValueType::Bytes(4 * random.log_between(5, 1024)),
    };
    MergerInfo {
        key: random.pick(&KeyType::ALL),
        order: random.pick(&[Order::Ascending, Order::Descending]),
        value,
        drop_keys: random.chance(1, 6),
        layout: random.pick(&[Layout::Separate, Layout::Separate, Layout::Interleaved]),
        operation: MergeOperation::Merge,
        method: random.pick(&METHODS),
        segmented: false,
        sequences: 0,
        max_count: draw_max_count(limits, random),
        batches: true,
        deferred: random.chance(1, 8),
    }
}

/// A tile: threads and items of each.
fn tile(draws: &Draws<'_>, random: &mut Random) -> String {
    draws.shape(random, 40)
}

fn fused_up_to(draws: &Draws<'_>, random: &mut Random) -> String {
    let up_to = match random.below(4) {
        0 => 0,
        1 => u32::MAX,
        _ => draws.size(random),
    };
    up_to.to_string()
}

impl Primitive for Merges {
    fn name(&self) -> &'static str {
        "merge"
    }

    fn profile_lines(&self) -> &'static [Line] {
        &[
            ("merge.keys.tile", tile),
            ("merge.keys.fused", tile),
            ("merge.keys.fused_up_to", fused_up_to),
            ("merge.pairs.tile", tile),
            ("merge.pairs.fused", tile),
            ("merge.pairs.fused_up_to", fused_up_to),
            ("merge.long.tile", tile),
            ("merge.long.fused", tile),
            ("merge.long.fused_up_to", fused_up_to),
            ("merge.long_pairs.tile", tile),
            ("merge.long_pairs.fused", tile),
            ("merge.long_pairs.fused_up_to", fused_up_to),
        ]
    }

    fn plain_lines(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("merge.keys.tile", "128x1"),
            ("merge.keys.fused", "128x1"),
            ("merge.pairs.tile", "128x1"),
            ("merge.pairs.fused", "128x1"),
            ("merge.long.tile", "128x1"),
            ("merge.long.fused", "128x1"),
            ("merge.long_pairs.tile", "128x1"),
            ("merge.long_pairs.fused", "128x1"),
        ]
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Box<dyn HandleInfo> {
        loop {
            let comparator = random.chance(1, 12).then(|| Comparator::draw(random));
            let kind = Kind { info: draw_info(limits, random), comparator }.with_comparator();
            if kind.info.check().is_ok() {
                return Box::new(kind);
            }
        }
    }
}

/// The compiled module of a comparator.
fn module(comparator: &Comparator) -> Vec<u32> {
    words(match comparator.name {
        "masked" => include_bytes!("../../../tests/kernels/masked_u32.spv"),
        _ => include_bytes!("../../../tests/kernels/last_word_u32x3.spv"),
    })
}

/// A merger, and the comparator that takes the place of its order.
#[derive(Clone, Copy, Debug)]
struct Kind {
    info: MergerInfo,
    comparator: Option<&'static Comparator>,
}

impl Kind {
    /// A merger without a comparator.
    #[cfg(test)]
    const fn of(info: MergerInfo) -> Self {
        Self { info, comparator: None }
    }

    /// The number of a key by which merges compare it.
    fn rank(&self, key: &[u8]) -> u128 {
        if let Some(comparator) = self.comparator {
            return comparator.rank(key);
        }
        let position = keys::position(self.info.key, key);
        if self.info.order == Order::Descending { u128::MAX - position } else { position }
    }

    /// With what a comparator requires: a merge of two sequences by merge path, in its own order.
    fn with_comparator(self) -> Self {
        let Some(Comparator { key, .. }) = self.comparator else { return self };
        let plain = MergerInfo::keys();
        let (order, operation, method) = (plain.order, plain.operation, plain.method);
        Self { info: MergerInfo { key: *key, order, operation, method, sequences: 0, ..self.info }, ..self }
    }
}

impl HandleInfo for Kind {
    fn create(&self, device: &Device) -> trommel::Result<Box<dyn Handle>> {
        let merger = match self.comparator {
            None => Merger::new(device, &self.info)?,
            Some(comparator) => {
                let kernel = ComparatorKernel::from_spirv(&module(comparator))?;
                // SAFETY: the compiler has created the module from a valid function.
                unsafe { Merger::with_comparator(device, &self.info, &kernel)? }
            }
        };
        if self.info.deferred {
            merger.compile()?;
        }
        Ok(Box::new(Merging { merger, kind: *self }))
    }

    fn describe(&self) -> String {
        let comparator = self.comparator.map(|comparator| format!(" by {} {:x?}", comparator.name, comparator.words));
        format!("{:?}{}", self.info, comparator.unwrap_or_default())
    }

    fn is_segmented(&self) -> bool {
        self.info.segmented
    }

    fn primitive(&self) -> &'static str {
        Merges.name()
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Ask {
        let most = if self.info.max_count == 0 { u32::MAX } else { self.info.max_count };
        let limits = Limits { max_items: limits.max_items.min(most), ..limits.clone() };
        let bytes = keys::size(self.info.key) + value_size(self.info.value);
        if self.info.sequences > 2 {
            // Items, nodes in scratch, and the result.
            return Ask { count: CountAt::Host, ..Ask::draw(&limits, 4 * bytes, false, random) };
        }
        let ask = Ask::draw(&limits, 2 * bytes, self.info.segmented, random);
        if self.info.operation == MergeOperation::Unique {
            return ask;
        }
        let ask = ask.divided(random);
        if !self.info.segmented {
            return ask;
        }
        // The last offsets are the counts.
        let second = ask.second.map(|second| Second { count: CountAt::Host, ..second });
        Ask { count: CountAt::Host, second, ..ask }
    }

    fn simpler(&self) -> Vec<Box<dyn HandleInfo>> {
        let (info, plain) = (self.info, MergerInfo::keys());
        let all = [
            MergerInfo { deferred: false, ..info },
            MergerInfo { method: plain.method, ..info },
            MergerInfo { max_count: 0, ..info },
            MergerInfo { operation: plain.operation, ..info },
            MergerInfo { segmented: false, ..info },
            MergerInfo { sequences: 0, ..info },
            MergerInfo { sequences: if info.sequences > 3 { 3 } else { info.sequences }, ..info },
            MergerInfo { value: ValueType::None, drop_keys: false, layout: plain.layout, ..info },
            MergerInfo { value: ValueType::None, drop_keys: false, ..info },
            MergerInfo { value: ValueType::U32, ..info },
            MergerInfo { drop_keys: false, ..info },
            MergerInfo { layout: plain.layout, ..info },
            MergerInfo { order: plain.order, ..info },
            MergerInfo { key: KeyType::U32, ..info },
        ];
        let all = all.map(|info| Self { info, ..*self }.with_comparator());
        let all = self.comparator.map(|_| Self { comparator: None, ..*self }).into_iter().chain(all);
        let others =
            all.filter(|simpler| simpler.info != info || simpler.comparator.is_some() != self.comparator.is_some());
        let valid = others.filter(|simpler| simpler.info.check().is_ok());
        valid.map(|kind| Box::new(kind) as Box<dyn HandleInfo>).collect()
    }
}
