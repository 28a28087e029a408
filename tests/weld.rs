//! Runs the built example of vertex welding as a user does. The example itself compares each mesh with that of the CPU.

mod example;
#[allow(dead_code, reason = "nothing is noted here")]
#[path = "common/harness.rs"]
mod harness;

use example::{Example, data, folder_with};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

static WELD: Example = Example::new("weld");

/// Runs the example. Returns the numbers of corners, vertices, degenerate triangles and T-corners.
fn weld(arguments: &[&str], folder: &Path) -> [u64; 4] {
    let output = WELD.run(&[&["--runs", "1", "--json", "n.json"], arguments].concat(), folder);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    let numbers = std::fs::read_to_string(folder.join("n.json")).expect("the numbers were written");
    let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    let all = ["corners", "vertices", "degenerate", "t_corners"].map(|name| numbers[name].as_u64().expect("a number"));
    for text in [format!(": {} vertices", all[1]), format!("{} T-corners", all[3])] {
        assert!(printed.contains(&text), "{text} is missing:\n{printed}");
    }
    // Null if the queue has no timestamps.
    let times = &numbers["ms"];
    assert!(times.is_null() || times.as_array().is_some_and(|times| times.len() == 5), "{numbers}");
    all
}

/// Two squares of c and c / 2 cells: they share the border's vertices that both have.
fn terrains_have_the_vertices_of_their_grids() {
    let folder = folder_with(&[]);
    for log in [1, 2, 5] {
        let cells = 1u64 << log;
        let half = cells / 2;
        let vertices = (cells + 1) * (cells + 1) + half * (half + 1);
        let found = weld(&["--terrain", &log.to_string()], folder.path());
        assert_eq!(found, [6 * (cells * cells + half * half), vertices, 0, half]);
    }
    // Few cells: neighbors become one vertex, and triangles degenerate.
    let [corners, vertices, degenerate, _] = weld(&["--terrain", "5", "--cells", "8"], folder.path());
    assert!(vertices < 200 && degenerate > 1000 && corners == 7680, "{vertices} {degenerate}");
}

fn files_are_welded() {
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 1 1 1e-9\nf 1 2 3\nf 1 5 4\n";
    let folder = folder_with(&[("square.obj", square)]);
    assert_eq!(weld(&["square.obj"], folder.path()), [6, 4, 0, 0]);
    if let Some(meshes) = data("meshes") {
        let bunny = meshes.join("stanford-bunny.obj");
        let found = weld(&[bunny.to_str().expect("a readable path")], folder.path());
        assert_eq!(found, [3 * 69_451, 34_834, 0, 0]);
    }
}

fn what_cannot_be_welded_is_refused_in_one_line() {
    let folder = folder_with(&[("empty.obj", "v 0 0 0\n")]);
    let refused: [(&[&str], &str); 3] = [
        (&["nowhere.obj"], "cannot open nowhere.obj"),
        (&["empty.obj"], "the mesh is empty"),
        (&["--terrain", "1", "--runs", "1", "--json", "no/such/folder.json"], "cannot write no/such/folder.json"),
    ];
    WELD.assert_refused(&refused, folder.path());
    assert_eq!(WELD.run(&["--cells", "0"], folder.path()).status.code(), Some(2));
}

fn main() -> ExitCode {
    let tests = Vec::from(harness::tests![
        terrains_have_the_vertices_of_their_grids,
        files_are_welded,
        what_cannot_be_welded_is_refused_in_one_line,
    ]);
    harness::run(tests, || Ok(()))
}
