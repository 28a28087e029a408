//! The macro that declares kernels: each folder lists its own, `src/kernels.rs` collects them.

use crate::{Error, Result};

/// The compressed module of a kernel.
#[cfg(feature = "primitive")]
macro_rules! embedded {
    ($name:literal) => {
        include_bytes!(concat!("../spirv/", $name, ".spv.z"))
    };
}

/// No module: its file may not exist yet.
#[cfg(not(feature = "primitive"))]
macro_rules! embedded {
    ($name:literal) => {
        b""
    };
}

pub(crate) use embedded;

/// The SPIR-V of a compressed module (zlib: RFC 1950).
pub(crate) fn inflate(compressed: &[u8]) -> Result<Vec<u32>> {
    if compressed.is_empty() {
        return Err(Error::NotBuilt("primitive"));
    }
    let corrupt = |why: &dyn std::fmt::Debug| Error::Internal(format!("a module is corrupt: {why:?}"));
    // Modules take a quarter of their size.
    let (mut decoder, mut words) = (fdeflate::Decompressor::new(), vec![0u32; compressed.len()]);
    let (mut consumed, mut produced) = (0, 0);
    loop {
        let output = bytemuck::cast_slice_mut(&mut words);
        let (input, more) =
            decoder.read(&compressed[consumed..], output, produced, true).map_err(|error| corrupt(&error))?;
        (consumed, produced) = (consumed + input, produced + more);
        if decoder.is_done() {
            break;
        }
        words.resize(words.len() + compressed.len(), 0);
    }
    if !produced.is_multiple_of(size_of::<u32>()) {
        return Err(corrupt(&"it is not made of words"));
    }
    words.truncate(produced / size_of::<u32>());
    words.iter_mut().for_each(|word| *word = u32::from_le(*word));
    Ok(words)
}

macro_rules! kernels {
    ($(
        native { $(
            $(#[$doc:meta])* $kernel:ident = $name:literal,
                push $push:ident, memory [$($memory:ident),*],
                [$($constant:ident),* $(,)?];
        )* }
        emulated { $($emulated:ident = $emulated_name:literal, of $native:ident;)* }
    )*) => {
        /// A compiled module. A line of `glsl/<folder>/VARIANTS` names its source and macros.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel {
            $($($(#[$doc])* $kernel,)*)*
            $($(
                #[doc = concat!("[`Kernel::", stringify!($native), "`] with subgroups out of shared memory.")]
                $emulated,
            )*)*
        }

        impl Kernel {
            /// Every kernel.
            pub const ALL: &[Self] = &[$($(Self::$kernel,)*)* $($(Self::$emulated,)*)*];

            /// The module's file name in `spirv/`.
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$kernel => $name,)*)* $($(Self::$emulated => $emulated_name,)*)* }
            }

            /// The name that debuggers and profilers show.
            pub(crate) const fn label(self) -> &'static CStr {
                let label = match self {
                    $($(Self::$kernel => concat!("trommel ", $name, "\0"),)*)*
                    $($(Self::$emulated => concat!("trommel ", $emulated_name, "\0"),)*)*
                };
                match CStr::from_bytes_with_nul(label.as_bytes()) {
                    Ok(label) => label,
                    Err(_) => c"trommel",
                }
            }

            /// The struct of the module's push constants.
            pub const fn push(self) -> &'static StructLayout {
                match self {
                    $($(Self::$kernel => &<$push as SharedStruct>::LAYOUT,)*)*
                    $($(Self::$emulated => Self::$native.push(),)*)*
                }
            }

            /// The structs that the module reads or writes in memory; the rows of its problems first.
            pub const fn memory(self) -> &'static [StructLayout] {
                match self {
                    $($(Self::$kernel => &[$(<$memory as SharedStruct>::LAYOUT),*],)*)*
                    $($(Self::$emulated => Self::$native.memory(),)*)*
                }
            }

            /// The specialization constants that the module declares.
            pub const fn constants(self) -> &'static [Constant] {
                match self {
                    $($(Self::$kernel => {
                        const CONSTANTS: &[Constant] = &[$(Constant::$constant),*];
                        const { assert!(CONSTANTS.len() <= MAX_CONSTANTS, "a variant has no room for so many") };
                        CONSTANTS
                    })*)*
                    $($(Self::$emulated => Self::$native.constants(),)*)*
                }
            }

            /// The same kernel with emulated subgroups, where it uses subgroups at all.
            pub(crate) fn emulated(self, emulated: bool) -> Self {
                match self {
                    $($(Self::$native if emulated => Self::$emulated,)*)*
                    other => other,
                }
            }

            /// The module as SPIR-V 1.6.
            ///
            /// # Errors
            /// [`Error::Internal`] if the embedded module is corrupt, [`Error::NotBuilt`] without a primitive.
            pub fn spirv(self) -> Result<Vec<u32>> {
                inflate(match self {
                    $($(Self::$kernel => embedded!($name),)*)*
                    $($(Self::$emulated => embedded!($emulated_name),)*)*
                })
            }
        }
    };
}

pub(crate) use kernels;
