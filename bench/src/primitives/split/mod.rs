//! Splits, and the approaches of programs without a split primitive.

mod binary;
mod buckets;
mod check;
mod families;
mod handle;
mod info;
mod insertion;
mod kernels;
mod reduced_bit;
mod workload;

use crate::shapes::Role;
use crate::workload::{Creation, Family, Primitive, Workload};
use info::{by_bits, long_keys, split_keys, split_pairs};
use std::sync::Arc;
use trommel::tuning::ItemKind;
use trommel::{BucketFunction, SplitOutput, Splitter, SplitterInfo};
use workload::Split;

pub(crate) struct SplitPrimitive;

pub(crate) static PRIMITIVE: SplitPrimitive = SplitPrimitive;

impl Primitive for SplitPrimitive {
    fn families(&self) -> Vec<Family> {
        families::families()
    }

    fn creations(&self) -> Vec<Creation> {
        let field = BucketFunction::Bits { begin_bit: 0 };
        let infos = [
            ("create_splitter_keys_m2", SplitterInfo::keys(2, field)),
            ("create_splitter_pairs_m64", SplitterInfo::pairs(64, field)),
            ("create_splitter_keys_m4096", SplitterInfo::keys(4096, field)),
        ];
        let creation = |(name, info): (&'static str, SplitterInfo)| Creation {
            name,
            create: Box::new(move |library| Ok(Box::new(Splitter::new(library, &info)?))),
        };
        infos.map(creation).into()
    }

    fn tuned(&self, kind: ItemKind, role: Role) -> Vec<Arc<dyn Workload>> {
        let infos = tuned_infos(kind, role);
        infos.into_iter().map(|info| Arc::new(Split::new(by_bits(info))) as Arc<dyn Workload>).collect()
    }
}

/// Splits that take shapes of this kind and role, before their bucket function.
fn tuned_infos(kind: ItemKind, role: Role) -> Vec<SplitterInfo> {
    let (few, fewest, many) = match kind {
        ItemKind::Keys => (split_keys(32), split_keys(2), split_keys(256)),
        ItemKind::Pairs => (split_pairs(32), split_pairs(2), split_pairs(256)),
        ItemKind::Long => (long_keys(split_pairs(32)), long_keys(split_keys(2)), long_keys(split_keys(256))),
    };
    match role {
        Role::Small | Role::Tiles => Vec::new(),
        Role::SingleDispatch | Role::Counted => vec![fewest, few],
        Role::CountedMany => vec![many],
        Role::FewBins => vec![fewest.output(SplitOutput::Bucket(1)), few.output(SplitOutput::Placed)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::ValueType;

    #[test]
    fn tuned_splits_take_the_shapes_that_are_searched() {
        for (kind, role) in ItemKind::ALL.iter().flat_map(|kind| Role::ALL.map(|role| (*kind, role))) {
            let buckets = match role {
                Role::Small | Role::Tiles => 0..0,
                Role::SingleDispatch | Role::Counted => 1..65,
                Role::CountedMany => 65..u32::MAX,
                Role::FewBins => 1..33,
            };
            let infos = tuned_infos(kind, role);
            assert!(infos.iter().all(|info| buckets.contains(&info.buckets)), "{kind:?} {role:?}");
            assert_eq!(infos.is_empty(), buckets.is_empty(), "{kind:?} {role:?}");
            for info in infos {
                let found = match (info.key.bits() > 32, info.value) {
                    (true, _) => ItemKind::Long,
                    (false, ValueType::None) => ItemKind::Keys,
                    (false, _) => ItemKind::Pairs,
                };
                assert_eq!(found, kind, "{info:?}");
            }
        }
    }
}
