//! Runs the built example of moving boxes as a user does. The example itself checks the items and the tree of a frame,
//! and fails on any difference to a full sort.

#[allow(dead_code, reason = "no real data is read here")]
mod example;
#[allow(dead_code, reason = "nothing is noted here")]
#[path = "common/harness.rs"]
mod harness;

use example::{Example, folder_with};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

static TLAS: Example = Example::new("tlas");

const COLUMNS: [&str; 6] = ["codes", "sort", "merge", "order", "tree", "frame"];

/// Runs the example, checks its output and its JSON file, and returns what it printed and the numbers of the file.
fn update(arguments: &[&str], folder: &Path) -> (String, Value) {
    let output = TLAS.run(&[&["--json", "n.json"], arguments].concat(), folder);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    for text in [&["update", "full sort", "tree: valid, depth "][..], &COLUMNS].concat() {
        assert!(printed.contains(text), "{text} is missing from the table:\n{printed}");
    }
    let numbers = std::fs::read_to_string(folder.join("n.json")).expect("the numbers were written");
    let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    assert!(numbers["device"].as_str().is_some_and(|name| !name.is_empty()), "{numbers}");
    check_times(&numbers["measured"]);
    (printed, numbers)
}

fn check_times(measured: &Value) {
    for way in ["update", "full_sort"] {
        // Null if the queue has no timestamps.
        let times = &measured[way];
        let ms = |column: &str| times[format!("{column}_ms")].as_f64().is_some_and(|ms| ms >= 0.0);
        assert!(times.is_null() || COLUMNS.into_iter().all(ms), "{measured}");
    }
}

/// One box, a word of marks and its neighbors, several tiles of a merge; odd and even numbers of frames, from one box
/// that changes to all of them. The boxes that change wrap around.
fn boxes_of_all_counts_are_updated() {
    let folder = folder_with(&[]);
    for (boxes, share, changed, frames) in [
        ("1", "1", 1, "1"),
        ("2", "0.5", 1, "3"),
        ("31", "0.4", 12, "4"),
        ("32", "1", 32, "2"),
        ("33", "0.01", 1, "1"),
        ("20000", "0.01", 200, "5"),
        ("30011", "0.37", 11_104, "4"),
    ] {
        let arguments = ["--boxes", boxes, "--changed", share, "--frames", frames];
        let (printed, numbers) = update(&arguments, folder.path());
        assert_eq!(numbers["measured"]["changed"], changed, "{printed}");
        assert_eq!(numbers["boxes"].to_string(), boxes);
        assert!(numbers["series"].as_array().is_some_and(Vec::is_empty), "{numbers}");
        let depth = numbers["measured"]["depth"].as_u64().expect("a depth");
        let most = numbers["boxes"].as_u64().expect("a count") - 1;
        assert!(u64::from(most.checked_ilog2().map_or(0, |log| log + 1)) <= depth && depth <= most, "{numbers}");
    }
}

fn the_times_are_plotted() {
    let folder = folder_with(&[]);
    let (printed, numbers) = update(&["--boxes", "3000", "--frames", "2", "--plot", "p.svg"], folder.path());
    assert!(printed.contains("speed-up:") && printed.contains("p.svg"), "{printed}");
    let series = numbers["series"].as_array().expect("measurements");
    let changed: Vec<_> = series.iter().map(|measured| measured["changed"].as_u64().expect("a count")).collect();
    assert_eq!(changed, [3, 6, 15, 30, 60, 150, 300, 600, 1500]);
    series.iter().for_each(check_times);
    let svg = std::fs::read_to_string(folder.path().join("p.svg")).expect("the plot was written");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    for text in ["3000 boxes on ", "boxes that change", "0.1 %", "10 %", "full sort: frame", "update: without the tree"]
    {
        assert!(svg.contains(text), "{text} is missing from the plot");
    }
}

fn what_cannot_be_done_is_refused_in_one_line() {
    let folder = folder_with(&[]);
    let small = ["--boxes", "9", "--frames", "1"];
    let refused: [(&[&str], &str); 2] = [
        (&[&small[..], &["--plot", "no/such/folder.svg"]].concat(), "cannot write no/such/folder.svg"),
        (&[&small[..], &["--json", "no/such/folder.json"]].concat(), "cannot write no/such/folder.json"),
    ];
    TLAS.assert_refused(&refused, folder.path());
    for share in ["0", "-1", "1.5", "nan", "some"] {
        let output = TLAS.run(&["--changed", share], folder.path());
        assert_eq!(output.status.code(), Some(2), "{share}");
    }
}

fn main() -> ExitCode {
    let tests = Vec::from(harness::tests![
        boxes_of_all_counts_are_updated,
        the_times_are_plotted,
        what_cannot_be_done_is_refused_in_one_line,
    ]);
    harness::run(tests, || Ok(()))
}
