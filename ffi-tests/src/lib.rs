//! Code that the tests of the C ABI share: the library as cargo builds it, its functions, and an engine to call them.

mod api;
mod build;
mod engine;
pub mod hash;
pub mod merge;
mod package;
pub mod sort;
pub mod split;

pub use api::Api;
pub use build::{
    empty_folder, header, library, library_without_primitives, own_target, run, scratch_folder, target, workspace,
};
pub use engine::{Engine, batch_info, range, scratch};
pub use package::{Package, run_quietly};
