//! Hash tables on the device that the environment selects, against the standard library's map.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

// Tests of recording declare this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
#[path = "hash/calls.rs"]
mod calls;
#[path = "hash/check.rs"]
mod check;
#[path = "hash/collisions.rs"]
mod collisions;
mod common;
#[path = "hash/concurrent.rs"]
mod concurrent;
#[path = "hash/finding.rs"]
mod finding;
#[path = "hash/layout.rs"]
mod layout;
#[path = "hash/memory.rs"]
mod memory;
#[path = "merge/problem.rs"]
mod merge;
#[path = "hash/mixed.rs"]
mod mixed;
#[path = "hash/model.rs"]
mod model;
#[path = "hash/multimaps.rs"]
mod multimaps;
#[path = "hash/recording.rs"]
mod recording;
#[path = "hash/refused.rs"]
mod refused;
#[path = "hash/rehashing.rs"]
mod rehashing;
#[path = "hash/resizing.rs"]
mod resizing;
#[path = "hash/results.rs"]
mod results;
#[path = "hash/saved.rs"]
mod saved;
#[path = "hash/searching.rs"]
mod searching;
#[path = "hash/selecting.rs"]
mod selecting;
#[path = "sort/problem.rs"]
mod sort;
#[path = "hash/stencils.rs"]
mod stencils;
#[path = "hash/table.rs"]
mod table;
#[path = "hash/types.rs"]
mod types;

use common::{coverage, harness};
use std::process::ExitCode;

/// Tests of results. Other tests dispatch the same kernels, with the same accesses. Drivers and layers with slow
/// pipelines leave these tests out.
const WITH_KERNELS_OF_OTHERS: [&str; 22] = [
    "results::full_tables",
    "results::adversarial_keys",
    "results::keys_of_one_path",
    "results::churn",
    "results::slices_without_keys",
    "results::workgroups_without_a_slice",
    "rehashing::too_small",
    "rehashing::more_keys_than_the_count",
    "rehashing::without_erased_slots",
    "multimaps::full_tables",
    "multimaps::churn",
    "resizing::reserves",
    "stencils::every_operation",
    "stencils::full_tables",
    "stencils::other_tables",
    "mixed::sizes",
    "mixed::equal_keys",
    "mixed::keys_with_equal_hashes",
    "mixed::full_tables",
    "mixed::other_tables",
    "recording::secondary_command_buffers",
    "recording::timestamps",
];

fn main() -> ExitCode {
    let tests = harness::tests![
        results::every_format,
        results::sizes,
        results::counts_on_the_device,
        results::full_tables,
        results::equal_keys,
        results::combined_values,
        results::adversarial_keys,
        results::keys_of_one_path,
        results::longest_paths,
        results::churn,
        results::slices_without_keys,
        results::workgroups_without_a_slice,
        collisions::equal_hashes,
        finding::insertions_that_find,
        rehashing::every_format,
        rehashing::too_small,
        rehashing::more_keys_than_the_count,
        rehashing::without_erased_slots,
        multimaps::every_format,
        multimaps::many_equal_keys,
        multimaps::more_equal_keys_than_probes,
        multimaps::rooms_of_retrievals,
        multimaps::counts_on_the_device,
        multimaps::full_tables,
        multimaps::churn,
        selecting::selected_exports,
        selecting::selected_erasures,
        selecting::distinct_keys,
        resizing::growing_and_shrinking,
        resizing::reserves,
        stencils::every_operation,
        stencils::sizes,
        stencils::full_tables,
        stencils::other_tables,
        mixed::every_format,
        mixed::sizes,
        mixed::equal_keys,
        mixed::keys_with_equal_hashes,
        mixed::full_tables,
        mixed::other_tables,
        concurrent::concurrent_operations,
        concurrent::full_tables_without_reuse,
        concurrent::refusals,
        searching::searches_in_shaders,
        searching::insertions_in_shaders,
        searching::values_in_shaders,
        saved::tables_in_other_memory,
        saved::faults_of_saved_tables,
        saved::faults_of_linear_tables,
        saved::faults_of_multimaps,
        saved::claims_of_no_item,
        saved::probes_by_load,
        saved::probes_of_linear_tables_by_load,
        recording::batches_of_tables_sorts_and_merges,
        recording::twenty_runs,
        recording::strangers,
        recording::secondary_command_buffers,
        recording::timestamps,
        refused::refusals,
        refused::operations_of_multimaps,
        refused::ranges_of_multimaps,
    ];
    let runs = |test: &libtest_mimic::Trial| !common::brief() || !WITH_KERNELS_OF_OTHERS.contains(&test.name());
    let tests = tests.into_iter().filter(runs).collect();
    harness::run(tests, || coverage::prove("hash", include_str!("hash/coverage.txt")))
}
