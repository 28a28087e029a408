//! Sorts.

mod families;
pub(crate) mod handle;
pub(crate) mod workload;

use crate::shapes::Role;
use crate::workload::{Case, Creation, Family, Primitive, Recorder, Workload};
use ash::vk;
use std::sync::Arc;
use trommel::tuning::ItemKind;
use trommel::{Count, Device, KeyType, Range, Request, Scratch, SortInfo, Sorter, SorterInfo};
use workload::Sort;

pub(crate) struct SortPrimitive;

pub(crate) static PRIMITIVE: SortPrimitive = SortPrimitive;

impl Primitive for SortPrimitive {
    fn families(&self) -> Vec<Family> {
        families::families()
    }

    fn creations(&self) -> Vec<Creation> {
        let (keys, pairs) = (SorterInfo::keys(), SorterInfo::pairs());
        let infos = [
            ("create_sorter_keys_u32", keys),
            ("create_sorter_pairs_u32_u32", pairs),
            ("create_sorter_pairs_u32_u32_2^20", SorterInfo { max_count: 1 << 20, ..pairs }),
            ("create_sorter_pairs_u32_u32_batches", pairs.batches()),
            ("create_sorter_pairs_u32_u32_segmented", SorterInfo { segmented: true, ..pairs }),
            ("create_sorter_keys_f64", SorterInfo { key: KeyType::F64, ..keys }),
        ];
        let creation = |(name, info): (&'static str, SorterInfo)| Creation {
            name,
            create: Box::new(move |library| Ok(Box::new(Sorter::new(library, &info)?))),
        };
        infos.map(creation).into()
    }

    fn heating(&self) -> Option<Case> {
        Some(Case { name: "heat".into(), work: Arc::new(Sort::new(SorterInfo::keys())), n: 1 << 22 })
    }

    fn recorder(&self, library: &Device) -> trommel::Result<Option<Box<dyn Recorder>>> {
        Ok(Some(Box::new(SortRecorder(Sorter::new(library, &SorterInfo::keys().batches())?))))
    }

    fn tuned(&self, kind: ItemKind, role: Role) -> Vec<Arc<dyn Workload>> {
        let (keys, pairs) = (SorterInfo::keys(), SorterInfo::pairs());
        let long = |info| SorterInfo { key: KeyType::U64, ..info };
        let infos = match (role, kind) {
            (Role::Small | Role::Tiles, ItemKind::Keys) => vec![keys],
            (Role::Small | Role::Tiles, ItemKind::Pairs) => vec![pairs],
            (Role::Small | Role::Tiles, ItemKind::Long) => vec![long(keys), long(pairs)],
            _ => Vec::new(),
        };
        infos.into_iter().map(|info| Arc::new(Sort::new(info)) as Arc<dyn Workload>).collect()
    }
}

struct SortRecorder(Sorter);

impl Recorder for SortRecorder {
    fn label(&self) -> &'static str {
        "sort_keys_u32"
    }

    fn request(&self, address: u64, count: u32) -> Request<'_> {
        Request::Sort(&self.0, SortRecorder::info(address, count))
    }

    fn scratch_size(&self, count: u32) -> trommel::Result<u64> {
        self.0.scratch_size(count)
    }

    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        address: u64,
        count: u32,
        scratch: Scratch,
    ) -> trommel::Result<()> {
        // SAFETY: nothing is executed.
        unsafe { self.0.cmd_sort(commands, &SortInfo { scratch, ..SortRecorder::info(address, count) }) }
    }
}

impl SortRecorder {
    fn info(address: u64, count: u32) -> SortInfo {
        SortInfo { count: Count::host(count), keys: Range::new(address, u64::from(count) * 4), ..SortInfo::default() }
    }
}
