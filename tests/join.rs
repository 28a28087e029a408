//! Runs the built example of a join as a user does. The example itself compares each result with that of the CPU.

#[allow(dead_code, reason = "no data is read")]
mod example;
#[allow(dead_code, reason = "nothing is noted here")]
#[path = "common/harness.rs"]
mod harness;

use example::{Example, folder_with};
use serde_json::Value;
use std::process::ExitCode;

static JOIN: Example = Example::new("join");

fn relations_are_joined() {
    let folder = folder_with(&[]);
    for rows in [1u64, 90, 20_000] {
        let output = JOIN.run(&["--rows", &rows.to_string(), "--runs", "2", "--json", "n.json"], folder.path());
        let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{rows}: {printed}");
        let numbers = std::fs::read_to_string(folder.path().join("n.json")).expect("the numbers were written");
        let numbers: Value = serde_json::from_str(&numbers).expect("JSON");
        let of = |name: &str| numbers[name].as_u64().expect("a number");
        assert!(printed.contains(&format!("{} of them without a customer", of("unmatched"))), "{printed}");
        assert!(printed.contains(&format!("{} cities with orders", of("cities"))), "{printed}");
        // A quarter of the orders has no customer, and nearly every city has an order.
        assert!(rows < 1000 || (rows / 5..rows / 3).contains(&of("unmatched")), "{numbers}");
        assert!(rows < 1000 || of("cities") == rows / 100, "{numbers}");
        // Null if the queue has no timestamps.
        let times = &numbers["ms"];
        assert!(times.is_null() || times.as_array().is_some_and(|times| times.len() == 7), "{numbers}");
    }
}

fn what_cannot_be_joined_is_refused_in_one_line() {
    let folder = folder_with(&[]);
    let refused: [(&[&str], &str); 1] =
        [(&["--rows", "9", "--runs", "1", "--json", "no/such/folder.json"], "cannot write no/such/folder.json")];
    JOIN.assert_refused(&refused, folder.path());
    assert_eq!(JOIN.run(&["--rows", "0"], folder.path()).status.code(), Some(2));
}

fn main() -> ExitCode {
    let tests = Vec::from(harness::tests![relations_are_joined, what_cannot_be_joined_is_refused_in_one_line]);
    harness::run(tests, || Ok(()))
}
