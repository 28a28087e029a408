//! The output: comment lines, one line a case, and the JSON record.

use crate::gpu::Gpu;
use crate::handles::Created;
use crate::timing::Samples;
use crate::workload::Case;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use trommel::Profile;

/// Prints lines past the progress bar, and gathers the record.
pub(crate) struct Report {
    bar: ProgressBar,
    record: Map<String, Value>,
    cases: Vec<Value>,
}

impl Report {
    /// A bar of `steps`, seen on a terminal only.
    pub(crate) fn new(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Self { bar, record: Map::new(), cases: Vec::new() }
    }

    /// Shows the current step.
    pub(crate) fn step(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    pub(crate) fn stepped(&self) {
        self.bar.inc(1);
    }

    pub(crate) fn print(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
    }

    pub(crate) fn comment(&self, text: &str) {
        for line in text.lines() {
            self.print(&format!("# {line}"));
        }
    }

    /// Adds to the record.
    pub(crate) fn keep(&mut self, name: &str, value: Value) {
        self.record.insert(name.into(), value);
    }

    /// The device and its driver.
    pub(crate) fn device(&mut self, gpu: &Gpu) {
        let (about, family) = (&gpu.about, gpu.context.queue_family());
        let version = env!("CARGO_PKG_VERSION");
        self.comment(&format!(
            "{}, {} {}, Vulkan {}",
            gpu.context.name(),
            about.driver,
            about.driver_info,
            about.api_version
        ));
        self.comment(&format!("trommel {version}, queue family {family} ({:?})", about.queue_flags));
        self.keep("version", json!(version));
        self.keep(
            "device",
            json!({
                "name": gpu.context.name(), "driver": about.driver, "driver_info": about.driver_info,
                "api_version": about.api_version, "memory_bytes": about.memory,
                "queue_family": family, "queue_flags": format!("{:?}", about.queue_flags),
            }),
        );
    }

    /// The profile of the library.
    pub(crate) fn profile(&mut self, profile: &Profile) {
        let text = profile.to_string();
        text.lines().for_each(|line| self.comment(&format!("profile: {line}")));
        self.keep("profile", json!(text));
    }

    /// Handles with their pipelines, and the size of the modules of all pipelines.
    pub(crate) fn handles(&mut self, created: &[Created], spirv_bytes: usize) {
        let mut entries = Vec::new();
        for Created { name, strategy, pipelines, time } in created {
            let ms = time.as_secs_f64() * 1e3;
            self.comment(&format!("{name}: {strategy}, {pipelines} new pipelines in {ms:.1} ms"));
            entries.push(json!({ "name": name, "strategy": strategy, "pipelines": pipelines, "creation_ms": ms }));
        }
        self.comment(&format!("SPIR-V: {spirv_bytes} bytes"));
        self.keep("primitives", json!(entries));
        self.keep("spirv_bytes", json!(spirv_bytes));
    }

    /// One line, and its entry in the record.
    pub(crate) fn case(&mut self, case: &Case, samples: &Samples, passes: &[(String, Samples)]) {
        let (ms, bytes) = (samples.median(), case.work.bytes_per_item());
        let items = case.work.item_count(case.n);
        self.print(&line(&case.name, case.n, ms, f64::from(items) * f64::from(bytes)));
        for (name, samples) in passes {
            self.comment(&format!("    {name:<26} {:9.2} us", samples.median() * 1e3));
        }
        let passes: Vec<_> =
            passes.iter().map(|(name, s)| json!({ "kernel": name, "median_ms": whole_ns(s.median()) })).collect();
        let all: Vec<_> = samples.all().iter().copied().map(whole_ns).collect();
        self.cases.push(json!({
            "name": case.name, "n": case.n, "median_ms": whole_ns(ms), "samples_ms": all,
            "items": items, "bytes_per_item": bytes, "passes": passes,
        }));
    }

    /// The record as text: a line for each case, so that two records compare well.
    pub(crate) fn finish(self) -> String {
        self.bar.finish_and_clear();
        let members: Vec<_> = self.record.iter().map(|(name, value)| format!("{}: {value},\n", json!(name))).collect();
        let cases: Vec<_> = self.cases.iter().map(Value::to_string).collect();
        format!("{{\n{}\"cases\": [\n{}\n]\n}}\n", members.concat(), cases.join(",\n"))
    }
}

/// Milliseconds with no more digits than the clock has.
fn whole_ns(ms: f64) -> f64 {
    (ms * 1e6).round() / 1e6
}

/// The line of a case, in the format of the peers.
fn line(name: &str, n: u32, ms: f64, bytes: f64) -> String {
    let (items, bytes) = (f64::from(n) / ms * 1e-6, bytes / ms * 1e-6);
    format!("{name:<34} n={n:<10} {ms:9.4} ms  {items:9.3} Gitems/s  {bytes:8.1} GB/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `^(name.+?)\s+n=(\d+)\s+([0-9.]+) ms`, the pattern that joins our lines with the peers'.
    fn read(line: &str) -> Option<(&str, u32, f64)> {
        let (name, rest) = line.split_once(" n=")?;
        let (n, rest) = rest.split_once(' ')?;
        let (ms, _) = rest.trim_start().split_once(" ms")?;
        let is_plain = |c: char| c.is_ascii_digit() || c == '.';
        Some((name.trim_end(), n.parse().ok()?, ms.chars().all(is_plain).then(|| ms.parse().ok())??))
    }

    #[test]
    fn lines_are_those_of_the_peers() {
        let theirs = "sort_keys_u32                      n=1048576       0.0692 ms     15.156 Gitems/s     545.6 GB/s";
        assert_eq!(line("sort_keys_u32", 1 << 20, 0.069_185, f64::from(1u32 << 20) * 36.0), theirs);
    }

    #[test]
    fn the_record_is_json() {
        let mut report = Report::new(1);
        let case = crate::cases::select(&["sort_keys_u32".into()], &[1024], false).remove(0);
        let samples = Samples::new(vec![0.010_000_000_1, 0.02, 0.03]);
        report.keep("version", json!("1.2"));
        report.case(&case, &samples, &[("sort_small".into(), samples.clone())]);
        report.case(&case, &samples, &[]);
        let record: Value = serde_json::from_str(&report.finish()).unwrap();
        assert_eq!(record["version"], "1.2");
        assert_eq!(record["cases"][1]["n"], 1024);
        assert_eq!(record["cases"][0]["samples_ms"][0], 0.01);
        assert_eq!(record["cases"][0]["passes"][0], json!({ "kernel": "sort_small", "median_ms": 0.02 }));
    }

    #[test]
    fn lines_are_read_back() {
        for (name, n, ms) in [("a", 1, 0.0001), ("sort_pairs_u32_u32_low_entropy_and_longer", 1 << 30, 123_456.789)] {
            let line = line(name, n, ms, 1.0);
            let (found, count, time) = read(&line).unwrap();
            assert_eq!((found, count), (name, n), "{line}");
            assert!((time - ms).abs() < 1e-4, "{line}");
        }
        assert_eq!(read("#     radix_onesweep   12.00 us"), None, "comments are no cases");
    }
}
