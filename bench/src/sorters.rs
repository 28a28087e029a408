//! Pipelines for the cases chosen, and what they took to create.

use crate::args::Args;
use crate::cases::Case;
use crate::report::Report;
use crate::stats;
use serde_json::json;
use std::time::Instant;
use trommel::{Device, Sorter, SorterInfo};

/// The sorters that the cases need, and no other: creating pipelines takes time.
pub(crate) struct Sorters {
    keys: Option<Sorter>,
    pairs: Option<Sorter>,
}

impl Sorters {
    pub(crate) fn new(library: &Device, args: &Args, cases: &[Case], report: &mut Report) -> trommel::Result<Self> {
        let mut made = Vec::new();
        let mut make = |values: bool, info: SorterInfo, name: &str| -> trommel::Result<Option<Sorter>> {
            if !cases.iter().any(|case| case.work.has_values() == values) {
                return Ok(None);
            }
            let (before, start) = (library.pipelines().len(), Instant::now());
            let sorter = Sorter::new(library, &info.strategy(args.strategy.into()))?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            let pipelines = library.pipelines().len() - before;
            report.comment(&format!("{name}: {:?}, {pipelines} new pipelines in {ms:.1} ms", sorter.strategy()));
            let strategy = format!("{:?}", sorter.strategy());
            made.push(json!({ "name": name, "strategy": strategy, "pipelines": pipelines, "creation_ms": ms }));
            Ok(Some(sorter))
        };
        let keys = make(false, SorterInfo::keys(), "sorter of keys")?;
        let pairs = make(true, SorterInfo::pairs(), "sorter of pairs")?;
        let bytes = stats::spirv_bytes(&library.pipelines());
        report.comment(&format!("SPIR-V: {bytes} bytes"));
        report.keep("sorters", json!(made));
        report.keep("spirv_bytes", json!(bytes));
        Ok(Self { keys, pairs })
    }

    /// The sorter of a case. One that sorts nothing has that of keys.
    pub(crate) fn of(&self, case: &Case) -> trommel::Result<&Sorter> {
        let sorter = if case.work.has_values() { &self.pairs } else { &self.keys };
        sorter.as_ref().ok_or(trommel::Error::Null { argument: "sorter" })
    }
}
