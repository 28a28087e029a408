//! Kernels of sorts: constants, push constants. See src/shared.rs.

use super::interface::{Address, GlslType, SharedStruct, StructLayout, shared_constants, shared_structs};
use super::radix::*;
use bytemuck::{Pod, Zeroable};

shared_constants! {
    /// Items on either side of a tile that the sort of equal prefixes keeps in shared memory.
    const FINISH_MARGIN = 32;
    /// Maximum number of steps for each key in the sort of equal prefixes. Beyond it, passes over every digit are as
    /// fast.
    const MOST_STEPS = 24;
}

shared_structs! {
    /// Push constants of `sort_small` and `sort_buckets`.
    struct SmallPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
    }

    /// Push constants of `sort_rank`.
    struct RankPush {
        problem: RadixProblem,
        pass: PackedPass,
    }
}
