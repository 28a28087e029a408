//! The kernels of the library. The `interface.rs` of each folder lists its own. `VARIANTS` in each folder of glsl/
//! lists the sources.
//!
//! An entry names the module, the struct of its push constants, the structs that it reads or writes in memory (the rows
//! of its problems first), and its specialization constants. `tests/modules.rs` compares all of them with the module.

pub use crate::core::pipelines::Variant;

use crate::Result;
use crate::core::kernels::{inflate, kernels};
use crate::core::pipelines::MAX_CONSTANTS;
use crate::shared::*;
use std::ffi::CStr;

every_kernel!(kernels);

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
