//! Sizes, offsets and enum values of the ABI, as tables. A test compares them with those of C and C++ compilers.

use super::{radix, result, types, version};

/// A member of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The name in Rust.
    pub name: &'static str,
    pub offset: usize,
    pub size: usize,
}

/// A struct of the header.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    pub name: &'static str,
    pub size: usize,
    pub alignment: usize,
    pub members: &'static [Member],
}

/// A struct of the C ABI.
pub trait Layout {
    const STRUCT: Struct;
}

pub(super) const fn size_of_member<S, M>(_: fn(&S) -> &M) -> usize {
    size_of::<M>()
}

/// What one file of this folder declares in the header.
#[derive(Clone, Copy, Debug)]
pub struct Declarations {
    pub structs: &'static [Struct],
    /// Enum values and constants.
    pub values: &'static [(&'static str, i64)],
}

/// Implements [`Layout`] for structs, and declares a file's `DECLARATIONS`.
macro_rules! declarations {
    (
        structs { $($name:ident { $($member:ident),* $(,)? })* }
        values { $($text:literal = $value:expr,)* }
    ) => {
        $(impl $crate::capi::layout::Layout for $name {
            const STRUCT: $crate::capi::layout::Struct = $crate::capi::layout::Struct {
                name: stringify!($name),
                size: size_of::<$name>(),
                alignment: align_of::<$name>(),
                members: &[$($crate::capi::layout::Member {
                    name: stringify!($member),
                    offset: std::mem::offset_of!($name, $member),
                    size: $crate::capi::layout::size_of_member(|s: &$name| &s.$member),
                }),*],
            };
        })*

        pub(in crate::capi) const DECLARATIONS: $crate::capi::layout::Declarations =
            $crate::capi::layout::Declarations {
            structs: &[$(<$name as $crate::capi::layout::Layout>::STRUCT),*],
            values: &[$(($text, $value as i64)),*],
        };
    };
}
pub(super) use declarations;

macro_rules! declarations_of_all {
    ($(
        $feature:literal: $primitive:ident, $request:ident $types:tt, $info:ident,
        $interface:literal, $settings:literal;
    )*) => {
        const ALL: &[Declarations] = &[
            version::DECLARATIONS,
            types::DECLARATIONS,
            result::DECLARATIONS,
            radix::DECLARATIONS,
            $(super::$primitive::DECLARATIONS,)*
        ];
    };
}
primitives!(declarations_of_all);

/// Returns every struct of the header.
pub fn structs() -> impl Iterator<Item = &'static Struct> {
    ALL.iter().flat_map(|file| file.structs)
}

/// Returns every enum value and constant of the header.
pub fn values() -> impl Iterator<Item = &'static (&'static str, i64)> {
    ALL.iter().flat_map(|file| file.values)
}
