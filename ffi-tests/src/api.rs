//! The functions of a loaded library.

use anyhow::{Context, Result};
use libloading::Library;
use std::ffi::{CStr, c_char};
use std::ops::Deref;
use std::path::Path;
use trommel::capi::*;

/// Declares `Functions`: functions of the library by name.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// Functions that the library exports.
        #[allow(non_snake_case, reason = "names are those of the header")]
        #[derive(Debug)]
        pub struct Functions {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
        }

        impl Functions {
            /// Names of the functions.
            pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// # Safety
            /// The library is trommel's, and outlives the functions.
            pub(crate) unsafe fn load(library: &libloading::Library) -> anyhow::Result<Self> {
                // SAFETY: the header's test compares the signatures.
                unsafe { Ok(Self { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* }) }
            }
        }
    };
}
pub(crate) use functions;

functions! {
    trmGetVersion: fn() -> u32;
    trmResultString: fn(raw::TrmResult) -> *const c_char;
    trmGetLastError: fn() -> *const c_char;
    trmGetDeviceRequirements: fn(
        *const TrmDeviceRequirementsInfo,
        *mut VkPhysicalDeviceVulkan12Features,
        *mut VkPhysicalDeviceVulkan13Features,
        *mut u32,
        *mut *const c_char,
        *mut u32,
        *mut c_char
    ) -> raw::TrmResult;
    trmCreateDevice: fn(*const TrmDeviceCreateInfo, *mut TrmDevice) -> raw::TrmResult;
    trmDestroyDevice: fn(TrmDevice);
    trmGetBatchScratch: fn(*const TrmBatchInfo, *mut VkDeviceSize) -> raw::TrmResult;
    trmCmdBatch: fn(VkCommandBuffer, *const TrmBatchInfo) -> raw::TrmResult;
}

macro_rules! api {
    ($(
        $feature:literal: $primitive:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        /// Every function that the library exports: those without a primitive by name, the others behind their
        /// primitive.
        #[derive(Debug)]
        pub struct Api {
            functions: Functions,
            $(
                #[doc = concat!("The functions of ", stringify!($primitive), ".")]
                pub $primitive: crate::$primitive::Functions,
            )*
            _library: Library,
        }

        impl Api {
            /// Returns the names of all functions.
            pub fn names() -> impl Iterator<Item = &'static str> {
                [Functions::NAMES, $(crate::$primitive::Functions::NAMES),*].into_iter().flatten().copied()
            }

            /// Loads a library.
            ///
            /// # Errors
            /// It cannot be loaded, or lacks a function.
            pub fn load(path: &Path) -> Result<Self> {
                // SAFETY: the library is trommel's, which runs nothing when it is loaded.
                unsafe {
                    let library = Library::new(path).with_context(|| path.display().to_string())?;
                    Ok(Self {
                        functions: Functions::load(&library)?,
                        $($primitive: crate::$primitive::Functions::load(&library)?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}
trommel::primitives!(api);

impl Deref for Api {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

impl Api {
    /// The calling thread's last error message.
    pub fn last_error(&self) -> String {
        // SAFETY: a C string, valid until the next failure on this thread.
        unsafe { CStr::from_ptr((self.trmGetLastError)()) }.to_string_lossy().into_owned()
    }

    /// The text of a result.
    pub fn result_string(&self, result: raw::TrmResult) -> String {
        // SAFETY: static text.
        unsafe { CStr::from_ptr((self.trmResultString)(result)) }.to_string_lossy().into_owned()
    }
}
