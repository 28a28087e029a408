//! Random tests of every primitive: handles, requests and profiles are drawn, executed, and every byte of their memory
//! is compared with an oracle that shares no code with the library. A seed, a kind and a case name the same test on
//! every machine with the same device.

pub mod arena;
pub mod calls;
pub mod comparators;
pub mod hash;
pub mod items;
pub mod keys;
pub mod kind;
pub mod machine;
pub mod merge;
pub mod primitive;
pub mod profiles;
pub mod random;
pub mod second;
pub mod shrink;
pub mod sort;
pub mod split;
pub mod tally;
pub mod tester;

/// A primitive, for requests that are executed and for calls of the C ABI.
trait Primitive: primitive::Primitive + calls::Primitive {}
impl<P: primitive::Primitive + calls::Primitive> Primitive for P {}

macro_rules! tested {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        /// Every primitive of the library. A new one adds its module above.
        const PRIMITIVES: &[&dyn Primitive] = &[$(&$module::PRIMITIVE),*];
    };
}
trommel::primitives!(tested);
