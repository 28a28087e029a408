//! Merges of sorted runs: push constants. See src/shared.rs.

use super::interface::{Address, GlslType, SharedStruct, StructLayout, shared_constants, shared_structs};
use super::radix::*;
use bytemuck::{Pod, Zeroable};

shared_constants! {}

shared_structs! {
    /// Push constants of the merge kernels.
    struct MergePush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
        /// Number of preceding levels. Level 0 sorts runs, the others merge them.
        level: u32,
        /// Number of the last level.
        levels: u32,
        /// Items of a run.
        run_items: u32,
    }
}
