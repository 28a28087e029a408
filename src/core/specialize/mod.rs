//! Specializes SPIR-V on the host: constants replace the specialization constants, and dead code goes.
//!
//! A kernel is one module for all formats, layouts and strategies; one pipeline needs a tenth of its instructions. Vulkan drivers parse
//! and transform the whole module before they drop the rest. Lavapipe makes a pipeline of `sort_onesweep` in 455 ms from the whole
//! module (421 KB), and in 100 ms from the specialized one (41 KB).
//!
//! The pass is sparse conditional constant propagation (Wegman and Zadeck 1991), followed by dead-code elimination. It keeps the
//! structure of the control flow: loops stay loops, and a switch stays a switch, because other blocks may break out of it.

mod module;
mod values;
mod writer;

use module::Module;
use values::Values;

/// What becomes of the hints that loops be unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unroll {
    /// They stay: on GPUs, arrays then lie in registers.
    AsMarked,
    /// Every loop asks not to be unrolled. CPU drivers then compile less code. SwiftShader unrolls all marked loops of known length, and
    /// takes gigabytes for some modules.
    Never,
}

/// Returns `code` with the specialization constants fixed. `value` maps the id of a specialization constant to its 32 bits; `None`
/// leaves the default.
///
/// `None` if the module contains an instruction that this pass does not know, a call, or a second function: the driver can
/// specialize any module.
pub(crate) fn specialize(code: &[u32], unroll: Unroll, value: impl Fn(u32) -> Option<u32>) -> Option<Vec<u32>> {
    let module = Module::parse(code)?;
    let values = Values::propagate(&module, value)?;
    writer::write(&module, &values, unroll)
}

#[cfg(test)]
mod tests;
