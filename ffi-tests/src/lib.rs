//! What the tests of the C ABI share: the library as cargo builds it, its functions, and an engine to try them on.

/// Passes the primitives to a macro.
macro_rules! primitives {
    ($to:ident) => {
        $to! { sort split }
    };
}

mod api;
mod build;
mod engine;
mod package;
mod sort;
mod split;

pub use api::Api;
pub use build::{
    empty_folder, header, library, library_without_primitives, own_target, run, scratch_folder, target, workspace,
};
pub use engine::{Engine, batch_info, range, scratch};
pub use package::{Package, run_quietly};
pub use sort::{library_of_sorts, sort_info, sorter_info};
pub use split::{split_info, splitter_info};
