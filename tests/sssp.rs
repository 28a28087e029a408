//! Runs the built example of shortest paths as a user does: on small graphs, on real ones, and on files that it must
//! reject. The example itself compares every distance of every method with Dijkstra's algorithm, and fails on any
//! difference.

mod example;
#[allow(dead_code, reason = "nothing is noted here")]
#[path = "common/harness.rs"]
mod harness;

use example::{Example, data, folder_with};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

static SSSP: Example = Example::new("sssp");

const METHODS: [&str; 5] = ["bellman-ford", "near-far", "buckets", "sort-near-far", "sort-buckets"];

/// Runs the example, checks its output and its JSON file, and returns the numbers of the file.
fn solve(arguments: &[&str], folder: &Path) -> Value {
    let output = SSSP.run(&[&["--json", "n.json"], arguments].concat(), folder);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    for heading in [
        "method",
        "buckets",
        "steps",
        "idle",
        "rounds",
        "vertices",
        "edges",
        "items",
        "GPU ms",
        "grouping ms",
        "wall ms",
    ] {
        assert!(printed.contains(heading), "{heading} is missing from the table:\n{printed}");
    }
    let numbers = std::fs::read_to_string(folder.join("n.json")).expect("the numbers were written");
    let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
    assert!(numbers["device"].as_str().is_some_and(|name| !name.is_empty()), "{numbers}");
    for row in numbers["methods"].as_array().expect("rows") {
        check_row(row, &numbers);
    }
    numbers
}

fn check_row(row: &Value, numbers: &Value) {
    let number = |name: &str| row[name].as_u64().unwrap_or_else(|| panic!("{name} of {row}"));
    let reached = numbers["reached"].as_u64().expect("a count");
    assert!(number("steps") > number("idle_steps"), "{row}");
    assert!(number("rounds") >= number("steps") - number("idle_steps"), "{row}");
    assert!(number("vertices_relaxed") >= reached, "each vertex is relaxed at least once: {row}");
    if numbers["rounds"] == 1 {
        assert!(number("items") >= number("vertices_relaxed"), "what is relaxed was in a list: {row}");
        assert_eq!(number("rounds"), number("steps") - number("idle_steps"), "{row}");
    }
    for time in ["gpu_ms", "grouping_ms"] {
        // Null if the queue has no timestamps.
        assert!(row[time].is_null() || row[time].as_f64().is_some_and(|ms| ms >= 0.0), "{row}");
    }
    let name = row["method"].as_str().expect("a name");
    let over: Vec<_> = row["speed_up_over"].as_object().expect("speed-ups").keys().collect();
    let ran =
        |other: &str| numbers["methods"].as_array().is_some_and(|rows| rows.iter().any(|row| row["method"] == other));
    let expected = ["bellman-ford", &format!("sort-{name}")].map(str::to_owned);
    let expected: Vec<_> =
        expected.iter().filter(|other| *other != name && ran(other) && !row["gpu_ms"].is_null()).collect();
    assert_eq!(over, expected, "{row}");
}

fn names(numbers: &Value) -> Vec<&str> {
    numbers["methods"].as_array().expect("rows").iter().map(|row| row["method"].as_str().expect("a name")).collect()
}

fn generated_graphs_are_solved_by_all_methods() {
    let folder = folder_with(&[]);
    for (kind, vertices, edges) in [("grid", 900, 2500..3500), ("power-law", 2048, 30_000..32_769)] {
        let numbers =
            solve(&["--generate", kind, "--vertices", &vertices.to_string(), "--method", "all"], folder.path());
        assert_eq!(names(&numbers), METHODS);
        assert_eq!(numbers["vertices"], vertices);
        assert!(numbers["edges"].as_u64().is_some_and(|e| edges.contains(&e)), "{numbers}");
        assert!(numbers["reached"].as_u64().is_some_and(|n| 2 * n > vertices), "{numbers}");
    }
}

fn any_buckets_give_the_same_distances() {
    let folder = folder_with(&[]);
    for (method, options) in [
        ("buckets,sort-buckets", &["--buckets", "2", "--delta", "100"][..]),
        ("buckets", &["--buckets", "10", "--delta", "1"]),
        (
            "buckets,sort-buckets",
            &["--buckets", "32", "--delta", "300", "--batch", "7", "--repeat", "2", "--rounds", "3"],
        ),
        ("buckets", &["--buckets", "256", "--delta", "16777215", "--batch", "1"]),
        ("buckets", &["--buckets", "64", "--delta", "20", "--fill", "100", "--rounds", "64"]),
    ] {
        let graph = ["--generate", "grid", "--vertices", "256", "--method", method];
        let numbers = solve(&[&graph[..], options].concat(), folder.path());
        assert_eq!(names(&numbers).join(","), method);
        assert_eq!(numbers["methods"][0]["buckets"].to_string(), options[1]);
        assert_eq!(numbers["delta"].to_string(), options[3]);
    }
}

fn known_distances_are_found() {
    // A vertex with so many edges that they are divided into tasks. Each of these edges leads to a second such vertex.
    let star: String = (2..6002).map(|leaf| format!("0,{leaf},{leaf}\n{leaf},1,{}\n", 6005 - leaf)).collect();
    let folder = folder_with(&[
        ("one.gr", "p sp 1 0\n"),
        ("apart.gr", "c two by two\np sp 4 2\na 1 2 5\na 4 3 7\n"),
        ("zero.gr", "p sp 3 3\na 1 2 0\na 2 3 0\na 3 1 0\n"),
        ("loop.csv", "from,to,weight\n0,0,3\n0,1,4\n0,1,2\n"),
        ("far.gr", "p sp 4 4\na 1 2 4000000000\na 2 3 294967293\na 1 4 1\na 3 4 4294967295\n"),
        ("star.csv", &star),
    ]);
    for (arguments, reached, farthest) in [
        (&["--graph", "one.gr"][..], 1, 0u32),
        (&["--graph", "apart.gr"], 2, 5),
        (&["--graph", "apart.gr", "--source", "2"], 2, 7),
        (&["--graph", "apart.gr", "--source", "2", "--directed"], 1, 0),
        (&["--graph", "zero.gr", "--delta", "1"], 3, 0),
        (&["--graph", "loop.csv"], 2, 2),
        (&["--graph", "far.gr", "--source", "0"], 4, 4_294_967_293),
        (&["--graph", "star.csv", "--source", "0"], 6002, 6005),
    ] {
        let methods = ["--method", "bellman-ford,buckets"];
        let numbers = solve(&[arguments, &methods].concat(), folder.path());
        assert_eq!((&numbers["reached"], &numbers["farthest"]), (&reached.into(), &farthest.into()), "{arguments:?}");
    }
}

/// Along a chain, each vertex shortens the path to a hub, and so the paths to its leaves, far beyond the bucket. Each
/// round appends the leaves again, more often than the lists have room for.
fn rounds_end_where_the_pile_is_full() {
    const CHAIN: u32 = 60;
    const LEAVES: u32 = 500;
    let hub = CHAIN + 1;
    let chain = (0..CHAIN).map(|i| format!("{i},{},1\n{i},{hub},{}\n", i + 1, 200 - 2 * i));
    let leaves = (0..LEAVES).map(|i| format!("{hub},{},1000000\n", hub + 1 + i));
    let folder = folder_with(&[("fan.csv", &chain.chain(leaves).collect::<String>())]);
    let graph = ["--graph", "fan.csv", "--directed", "--source", "0", "--delta", "10000"];
    let numbers = solve(&[&graph[..], &["--rounds", "64", "--method", "buckets"]].concat(), folder.path());
    assert_eq!(numbers["farthest"], 1_000_000 + 200 - (CHAIN - 1));
    let [vertices, edges] = ["vertices", "edges"].map(|name| numbers[name].as_u64().expect("a count"));
    let longest = numbers["methods"][0]["longest_list"].as_u64().expect("a count");
    assert!((vertices + edges + 1..=vertices + 2 * edges).contains(&longest), "{longest}: {numbers}");
}

fn real_graphs_are_solved_by_all_methods(graphs: &Path) {
    let folder = folder_with(&[]);
    for (file, vertices, edges) in
        [("rome99-undirected.gr", 3353, 2 * 4444), ("musae_facebook_edges.csv", 22_470, 2 * 171_002)]
    {
        let path = graphs.join(file);
        let numbers = solve(&["--graph", path.to_str().expect("a name"), "--rounds", "8"], folder.path());
        assert_eq!(names(&numbers), METHODS);
        assert_eq!((&numbers["vertices"], &numbers["edges"]), (&vertices.into(), &edges.into()), "{file}");
        assert!(numbers["reached"].as_u64().is_some_and(|n| 10 * n > 9 * vertices), "{numbers}");
    }
}

fn bad_input_is_refused_in_one_line() {
    let folder = folder_with(&[
        ("empty.gr", ""),
        ("short.gr", "p sp 2 1\na 1 2\n"),
        ("beyond.gr", "p sp 2 1\na 1 3 4\n"),
        ("none.gr", "p sp 0 0\n"),
        ("empty.csv", ""),
        ("words.csv", "0,1\n1,two\n"),
        ("graph.txt", "0,1\n"),
        ("long.gr", "p sp 3 2\na 1 2 4294967295\na 2 3 1\n"),
        ("fine.csv", "0,1\n"),
    ]);
    let refused: [(&[&str], &str); 12] = [
        (&["--graph", "missing.gr"], "cannot read missing.gr"),
        (&["--graph", "empty.gr"], "no line `p sp"),
        (&["--graph", "short.gr"], "line 2"),
        (&["--graph", "beyond.gr"], "line 2: 3 is no vertex of 1 to 2"),
        (&["--graph", "none.gr"], "no vertices"),
        (&["--graph", "empty.csv"], "no vertices"),
        (&["--graph", "words.csv"], "line 2: \"two\""),
        (&["--graph", "graph.txt"], "neither .gr nor .csv"),
        (&["--graph", "long.gr", "--source", "0"], "does not fit 32 bits"),
        (&["--graph", "fine.csv", "--source", "2"], "vertex 2 is none of 2"),
        (&["--graph", "fine.csv", "--buckets", "256", "--delta", "16777217"], "more than 32 bits hold"),
        (&["--graph", "fine.csv", "--method", "near-far", "--json", "no/such/folder.json"], "cannot write"),
    ];
    SSSP.assert_refused(&refused, folder.path());
}

fn main() -> ExitCode {
    let mut tests = Vec::from(harness::tests![
        generated_graphs_are_solved_by_all_methods,
        any_buckets_give_the_same_distances,
        known_distances_are_found,
        rounds_end_where_the_pile_is_full,
        bad_input_is_refused_in_one_line,
    ]);
    // Runs on real data if it is available. Otherwise the test is listed and counted as ignored.
    let graphs = data("graphs");
    let is_missing = graphs.is_none();
    let on_real_data = harness::test("real_graphs_are_solved_by_all_methods", move || {
        graphs.iter().for_each(|graphs| real_graphs_are_solved_by_all_methods(graphs))
    });
    tests.push(on_real_data.with_ignored_flag(is_missing));
    harness::run(tests, || Ok(()))
}
