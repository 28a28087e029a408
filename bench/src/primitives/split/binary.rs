//! A split by several bits as binary splits, one a bit, least significant first. They overwrite their input and write
//! no offsets.

use super::check::check;
use super::handle::SplitStep;
use super::info::{begin_bit, items};
use super::workload::{arguments, bytes};
use crate::arrays::{ArrayInfo, Contents, Memory};
use crate::handles::Handles;
use crate::inputs::Keys;
use crate::problems::max_count;
use crate::workload::{Operation, Step, Workload};
use std::sync::Arc;
use trommel::{BucketFunction, Count, SplitInfo, Splitter, SplitterInfo};

#[derive(Clone, Copy, Debug)]
pub(super) struct Binary {
    /// The split by all bits.
    pub(super) info: SplitterInfo,
    pub(super) keys: Keys,
}

impl Binary {
    fn splitter_infos(&self, n: u32) -> impl Iterator<Item = SplitterInfo> + use<> {
        let info = SplitterInfo { max_count: max_count(n), ..self.info };
        let first = begin_bit(&info);
        let field = first..first + info.buckets.ilog2();
        field.map(move |begin_bit| SplitterInfo { buckets: 2, function: BucketFunction::Bits { begin_bit }, ..info })
    }
}

impl Workload for Binary {
    fn bytes_per_item(&self) -> u32 {
        self.info.buckets.ilog2() * bytes(&self.info)
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        let splitters = self.splitter_infos(n).map(|info| handles.get(info)).collect::<trommel::Result<_>>()?;
        Ok(Box::new(BinarySplits { binary: *self, n, splitters }))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        check(&self.info, vec![std::ops::Range { start: 0, end: n }], contents, None)
    }

    fn with_keys(&self, keys: Keys) -> Arc<dyn Workload> {
        Arc::new(Self { keys, ..*self })
    }
}

struct BinarySplits {
    binary: Binary,
    n: u32,
    splitters: Vec<Splitter>,
}

impl Operation for BinarySplits {
    fn arrays(&self) -> Vec<ArrayInfo> {
        items(&self.binary.info).arrays(self.binary.keys, self.n).into()
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        self.splitters.iter().try_fold(0, |most, splitter| Ok(splitter.scratch_size(self.n)?.max(most)))
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        let step = |(index, splitter)| -> Box<dyn Step + 'a> {
            let info = SplitInfo { count: Count::host(self.n), ..arguments(memory, index % 2) };
            Box::new(SplitStep { splitter, info, capacity: self.n })
        };
        self.splitters.iter().enumerate().map(step).collect()
    }

    fn output_sides(&self) -> Vec<usize> {
        vec![self.splitters.len() % 2; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_significant_bit_comes_first() {
        let info = SplitterInfo::pairs(8, BucketFunction::Bits { begin_bit: 29 });
        let two = |begin_bit| SplitterInfo::pairs(2, BucketFunction::Bits { begin_bit });
        assert!(Binary { info, keys: Keys::Random }.splitter_infos(1).eq([29, 30, 31].map(two)));
    }
}
