//! The primitives that the program measures, a file or folder each.

mod copy;
mod hash;
mod merge;
mod sort;
mod split;

use crate::workload::{Case, Primitive};

macro_rules! measured {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        /// The copy, then every primitive of the library. A new one adds its module above.
        pub(crate) static PRIMITIVES: &[&dyn Primitive] = &[&copy::BufferCopy, $(&$module::PRIMITIVE),*];
    };
}
trommel::primitives!(measured);

/// Work that raises the clock of an idle GPU: the first that a primitive has.
pub(crate) fn heating() -> Case {
    PRIMITIVES.iter().find_map(|primitive| primitive.heating()).expect("a primitive has such work")
}
