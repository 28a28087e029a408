//! The kernels of the library. The `interface.rs` of each folder lists its own. `VARIANTS` in each folder of glsl/
//! lists the sources.
//!
//! An entry names the module, the struct of its push constants, the structs that it reads or writes in memory (the rows
//! of its problems first), and its specialization constants. `tests/modules.rs` compares all of them with the module.
//!
//! A build without a primitive embeds no modules. `cargo xtask shaders` uses such a build: it compiles a new kernel
//! before there is a module to embed.

pub use crate::core::pipelines::Variant;

use crate::Result;
use crate::core::kernels::{embedded, inflate, kernels};
use crate::core::pipelines::MAX_CONSTANTS;
use crate::shared::{self, *};
use std::ffi::CStr;

macro_rules! kernels_of_all {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        shared::radix::folder_kernels! { $([shared::$module::folder_kernels])* [kernels] }
    };
}
primitives!(kernels_of_all);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_spirv_1_6() {
        for kernel in Kernel::ALL {
            let words = kernel.spirv().unwrap();
            assert_eq!(words[0], 0x0723_0203, "{} is not SPIR-V", kernel.name());
            assert_eq!(words[1], 0x0001_0600, "{} is not version 1.6: gl_SubgroupSize would lie", kernel.name());
        }
    }
}
