//! Pipelines for the cases chosen, and what they took to create.

use crate::args::Args;
use crate::cases::Case;
use crate::report::Report;
use crate::stats;
use serde_json::json;
use std::time::Instant;
use trommel::{Device, Layout, Order, Placement, Sorter, SorterInfo, ValueType};

/// The sorters that the cases need, and no other: creating pipelines takes time. What cannot be made is known by its reason.
pub(crate) struct Sorters(Vec<(SorterInfo, trommel::Result<Sorter>)>);

impl Sorters {
    pub(crate) fn new(library: &Device, args: &Args, cases: &[Case], report: &mut Report) -> Self {
        let mut sorters: Vec<(SorterInfo, trommel::Result<Sorter>)> = Vec::new();
        let mut made = Vec::new();
        for info in cases.iter().map(Case::info) {
            if sorters.iter().any(|(known, _)| *known == info) {
                continue;
            }
            let (before, start) = (library.pipelines().len(), Instant::now());
            let sorter = Sorter::new(library, &info.strategy(args.strategy.into()));
            let ms = start.elapsed().as_secs_f64() * 1e3;
            if let Ok(sorter) = &sorter {
                let (name, pipelines) = (describe(&info), library.pipelines().len() - before);
                let strategy = sorter.strategy().name();
                report.comment(&format!("sorter of {name}: {strategy}, {pipelines} new pipelines in {ms:.1} ms"));
                made.push(json!({ "name": name, "strategy": strategy, "pipelines": pipelines, "creation_ms": ms }));
            }
            sorters.push((info, sorter));
        }
        let bytes = stats::spirv_bytes(&library.pipelines());
        report.comment(&format!("SPIR-V: {bytes} bytes"));
        report.keep("sorters", json!(made));
        report.keep("spirv_bytes", json!(bytes));
        Self(sorters)
    }

    /// The sorter of a case, or why there is none.
    pub(crate) fn of(&self, case: &Case) -> trommel::Result<&Sorter> {
        let info = case.info();
        let known = self.0.iter().find(|(known, _)| *known == info);
        known.map_or(Err(trommel::Error::Null { argument: "sorter" }), |(_, sorter)| sorter.as_ref().map_err(Clone::clone))
    }
}

/// In words: the keys, and what is not as it mostly is.
fn describe(info: &SorterInfo) -> String {
    let default = SorterInfo { key: info.key, ..SorterInfo::default() };
    let of = |differs: bool, words: String| differs.then_some(words);
    let value = match info.value {
        ValueType::None => None,
        ValueType::Bytes(bytes) => Some(format!("values of {bytes} bytes")),
        value => Some(format!("{value:?} values")),
    };
    let end_bit = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
    let words = [
        Some(format!("{:?} keys", info.key)),
        value,
        of(info.drop_keys, "keys dropped".into()),
        of(info.order != Order::Ascending, "descending".into()),
        of(info.begin_bit != 0 || end_bit != info.key.bits(), format!("bits {}..{end_bit}", info.begin_bit)),
        of(info.placement != Placement::InPlace, format!("{:?}", info.placement)),
        of(info.layout != Layout::Separate, format!("{:?}", info.layout)),
        of(info.segmented, "in segments".into()),
        of(info.max_count != default.max_count, format!("up to {}", info.max_count)),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::KeyType;

    #[test]
    fn descriptions_name_what_is_special() {
        assert_eq!(describe(&SorterInfo::keys()), "U32 keys");
        assert_eq!(describe(&SorterInfo::argsort(KeyType::F32)), "F32 keys, Index values, keys dropped, Preserve");
        let info = SorterInfo { end_bit: 16, value: ValueType::Bytes(64), max_count: u32::MAX, ..SorterInfo::keys() };
        assert_eq!(describe(&info), "U32 keys, values of 64 bytes, bits 0..16, up to 4294967295");
    }
}
