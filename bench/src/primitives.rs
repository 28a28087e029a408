//! Pipelines for the cases chosen, and what they took to create.

use crate::args::Args;
use crate::cases::Case;
use crate::kernels::{Kernel, KernelInfo};
use crate::report::Report;
use crate::stats;
use serde_json::json;
use std::time::Instant;
use trommel::host::Context;
use trommel::{
    BucketFunction, Device, Layout, Order, Placement, Sorter, SorterInfo, SplitMethod, SplitOutput, Splitter, SplitterInfo,
    Strategy, ValueType,
};

/// What a primitive is made as, its strategy aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrimitiveInfo {
    Sort(SorterInfo),
    Split(SplitterInfo),
    /// None of the library's.
    Kernel(KernelInfo),
}

impl PrimitiveInfo {
    /// The same for batches, too.
    pub(crate) fn batches(self) -> Self {
        match self {
            Self::Sort(info) => Self::Sort(info.batches()),
            Self::Split(info) => Self::Split(info.batches()),
            Self::Kernel(_) => self,
        }
    }
}

/// What records the work of cases.
#[derive(Clone, Debug)]
pub(crate) enum Primitive {
    Sort(Sorter),
    Split(Splitter),
    Kernel(Kernel),
}

impl Primitive {
    pub(crate) fn new(context: &Context, library: &Device, info: &PrimitiveInfo, strategy: Strategy) -> trommel::Result<Self> {
        match info {
            PrimitiveInfo::Sort(info) => Sorter::new(library, &info.strategy(strategy)).map(Self::Sort),
            PrimitiveInfo::Split(info) => {
                // What is only counted, or ranked by subgroups, has one strategy, whatever is asked for.
                let any = info.output != SplitOutput::Counts && info.method == SplitMethod::Workgroup;
                let strategy = if any { strategy } else { Strategy::Auto };
                Splitter::new(library, &info.strategy(strategy)).map(Self::Split)
            }
            PrimitiveInfo::Kernel(info) => Kernel::new(context, *info).map(Self::Kernel),
        }
    }

    pub(crate) fn scratch_size(&self, n: u32) -> trommel::Result<u64> {
        match self {
            Self::Sort(sorter) => sorter.scratch_size(n),
            Self::Split(splitter) => splitter.scratch_size(n),
            Self::Kernel(_) => Ok(0),
        }
    }

    pub(crate) fn timestamp_count(&self, n: u32) -> trommel::Result<u32> {
        match self {
            Self::Sort(sorter) => sorter.timestamp_count(n),
            Self::Split(splitter) => splitter.timestamp_count(n),
            Self::Kernel(_) => Ok(Kernel::TIMESTAMPS),
        }
    }

    /// Of what is the library's.
    fn strategy(&self) -> Option<Strategy> {
        match self {
            Self::Sort(sorter) => Some(sorter.strategy()),
            Self::Split(splitter) => Some(splitter.strategy()),
            Self::Kernel(_) => None,
        }
    }
}

/// The primitives that the cases need, and no other: creating pipelines takes time. What cannot be made is known by its reason.
pub(crate) struct Primitives(Vec<(PrimitiveInfo, trommel::Result<Primitive>)>);

impl Primitives {
    pub(crate) fn new(context: &Context, library: &Device, args: &Args, cases: &[Case], report: &mut Report) -> Self {
        let mut primitives: Vec<(PrimitiveInfo, trommel::Result<Primitive>)> = Vec::new();
        let mut made = Vec::new();
        for info in cases.iter().flat_map(Case::primitives) {
            if primitives.iter().any(|(known, _)| *known == info) {
                continue;
            }
            let (before, start) = (library.pipelines().len(), Instant::now());
            let primitive = Primitive::new(context, library, &info, args.strategy.into());
            let ms = start.elapsed().as_secs_f64() * 1e3;
            if let Some(strategy) = primitive.as_ref().ok().and_then(Primitive::strategy) {
                let (name, pipelines, strategy) = (info.describe(), library.pipelines().len() - before, strategy.name());
                report.comment(&format!("{name}: {strategy}, {pipelines} new pipelines in {ms:.1} ms"));
                made.push(json!({ "name": name, "strategy": strategy, "pipelines": pipelines, "creation_ms": ms }));
            }
            primitives.push((info, primitive));
        }
        let bytes = stats::spirv_bytes(&library.pipelines());
        report.comment(&format!("SPIR-V: {bytes} bytes"));
        report.keep("primitives", json!(made));
        report.keep("spirv_bytes", json!(bytes));
        Self(primitives)
    }

    /// The primitives of a case in the order of their use, or why one is missing.
    pub(crate) fn of(&self, case: &Case) -> trommel::Result<Vec<Primitive>> {
        let find = |info: PrimitiveInfo| {
            let known = self.0.iter().find(|(known, _)| *known == info);
            known.map_or(Err(trommel::Error::Null { argument: "primitive" }), |(_, primitive)| primitive.clone())
        };
        case.primitives().into_iter().map(find).collect()
    }
}

impl PrimitiveInfo {
    /// In words: the keys, and what is not as it mostly is.
    fn describe(&self) -> String {
        match self {
            Self::Sort(info) => format!("sorter of {}", describe_sorter(info)),
            Self::Split(info) => format!("splitter of {}", describe_splitter(info)),
            Self::Kernel(info) => format!("kernel {:?}", info.task),
        }
    }
}

fn describe_sorter(info: &SorterInfo) -> String {
    let default = SorterInfo { key: info.key, ..SorterInfo::default() };
    let end_bit = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
    join([
        Some(format!("{:?} keys", info.key)),
        describe_value(info.value),
        of(info.drop_keys, "keys dropped".into()),
        of(info.order != Order::Ascending, "descending".into()),
        of(info.begin_bit != 0 || end_bit != info.key.bits(), format!("bits {}..{end_bit}", info.begin_bit)),
        of(info.placement != Placement::InPlace, format!("{:?}", info.placement)),
        of(info.layout != Layout::Separate, format!("{:?}", info.layout)),
        of(info.segmented, "in segments".into()),
        of(info.max_count != default.max_count, format!("up to {}", info.max_count)),
    ])
}

fn describe_splitter(info: &SplitterInfo) -> String {
    let function = match info.function {
        BucketFunction::Bits { begin_bit } => format!("bits from {begin_bit}"),
        other => format!("{other:?}"),
    };
    join([
        Some(format!("{:?} keys", info.key)),
        describe_value(info.value),
        of(info.drop_keys, "keys dropped".into()),
        Some(format!("{} buckets by {function}", info.buckets)),
        of(info.output != SplitOutput::Buckets, format!("{:?}", info.output)),
        of(info.method != SplitMethod::Workgroup, format!("by {:?}", info.method)),
        of(info.segmented, "in segments".into()),
        of(info.layout != Layout::Separate, format!("{:?}", info.layout)),
        of(info.max_count != SplitterInfo::default().max_count, format!("up to {}", info.max_count)),
    ])
}

fn describe_value(value: ValueType) -> Option<String> {
    match value {
        ValueType::None => None,
        ValueType::Bytes(bytes) => Some(format!("values of {bytes} bytes")),
        value => Some(format!("{value:?} values")),
    }
}

fn of(differs: bool, words: String) -> Option<String> {
    differs.then_some(words)
}

fn join<const N: usize>(words: [Option<String>; N]) -> String {
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::KeyType;

    #[test]
    fn descriptions_name_what_is_special() {
        assert_eq!(describe_sorter(&SorterInfo::keys()), "U32 keys");
        assert_eq!(describe_sorter(&SorterInfo::argsort(KeyType::F32)), "F32 keys, Index values, keys dropped, Preserve");
        let info = SorterInfo { end_bit: 16, value: ValueType::Bytes(64), max_count: u32::MAX, ..SorterInfo::keys() };
        assert_eq!(describe_sorter(&info), "U32 keys, values of 64 bytes, bits 0..16, up to 4294967295");
        let by_bits = SplitterInfo::pairs(32, BucketFunction::Bits { begin_bit: 27 });
        assert_eq!(PrimitiveInfo::Split(by_bits).describe(), "splitter of U32 keys, U32 values, 32 buckets by bits from 27");
        let by_range = SplitterInfo::keys(3, BucketFunction::Range);
        assert_eq!(describe_splitter(&by_range), "U32 keys, 3 buckets by Range");
        assert_eq!(describe_splitter(&by_range.output(SplitOutput::Bucket(1))), "U32 keys, 3 buckets by Range, Bucket(1)");
    }
}
