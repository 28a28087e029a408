//! The functions of a loaded library.

use anyhow::{Context, Result};
use libloading::Library;
use std::ffi::{CStr, c_char};
use std::path::Path;
use trommel::capi::*;

macro_rules! api {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Every function that the library exports.
        #[allow(non_snake_case, reason = "names are those of the header")]
        #[derive(Debug)]
        pub struct Api {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,
            )*
            _library: Library,
        }

        impl Api {
            /// Their names.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// Loads a library.
            ///
            /// # Errors
            /// It cannot be loaded, or lacks a function.
            pub fn load(path: &Path) -> Result<Self> {
                // SAFETY: the library is trommel's, which runs nothing when it is loaded; the header's test compares the
                // signatures.
                unsafe {
                    let library = Library::new(path).with_context(|| path.display().to_string())?;
                    Ok(Self { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* _library: library })
                }
            }
        }
    };
}

api! {
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
    trmCreateSorter: fn(TrmDevice, *const TrmSorterCreateInfo, *mut TrmSorter) -> raw::TrmResult;
    trmDestroySorter: fn(TrmSorter);
    trmGetSorterScratch: fn(TrmSorter, u32, *mut VkDeviceSize) -> raw::TrmResult;
    trmGetSorterTimestampCount: fn(TrmSorter, u32, *mut u32) -> raw::TrmResult;
    trmGetSorterResultSide: fn(TrmSorter, *mut u32) -> raw::TrmResult;
    trmCompileSorter: fn(TrmSorter) -> raw::TrmResult;
    trmGetSorterReady: fn(TrmSorter, *mut VkBool32) -> raw::TrmResult;
    trmCmdSort: fn(VkCommandBuffer, TrmSorter, *const TrmSortInfo) -> raw::TrmResult;
    trmCreateSplitter: fn(TrmDevice, *const TrmSplitterCreateInfo, *mut TrmSplitter) -> raw::TrmResult;
    trmCreateSplitterFromGlsl: fn(
        TrmDevice,
        *const TrmSplitterCreateInfo,
        *const c_char,
        *mut TrmSplitter
    ) -> raw::TrmResult;
    trmCreateSplitterFromSpirv: fn(
        TrmDevice,
        *const TrmSplitterCreateInfo,
        *const u32,
        usize,
        *mut TrmSplitter
    ) -> raw::TrmResult;
    trmDestroySplitter: fn(TrmSplitter);
    trmGetSplitterScratch: fn(TrmSplitter, u32, *mut VkDeviceSize) -> raw::TrmResult;
    trmGetSplitterTimestampCount: fn(TrmSplitter, u32, *mut u32) -> raw::TrmResult;
    trmCompileSplitter: fn(TrmSplitter) -> raw::TrmResult;
    trmGetSplitterReady: fn(TrmSplitter, *mut VkBool32) -> raw::TrmResult;
    trmCmdSplit: fn(VkCommandBuffer, TrmSplitter, *const TrmSplitInfo) -> raw::TrmResult;
    trmGetBatchScratch: fn(*const TrmBatchInfo, *mut VkDeviceSize) -> raw::TrmResult;
    trmCmdBatch: fn(VkCommandBuffer, *const TrmBatchInfo) -> raw::TrmResult;
}

impl Api {
    /// The calling thread's last detail.
    pub fn last_error(&self) -> String {
        // SAFETY: a C string, valid until the next failure on this thread.
        unsafe { CStr::from_ptr((self.trmGetLastError)()) }.to_string_lossy().into_owned()
    }

    /// What a result means.
    pub fn result_string(&self, result: raw::TrmResult) -> String {
        // SAFETY: static text.
        unsafe { CStr::from_ptr((self.trmResultString)(result)) }.to_string_lossy().into_owned()
    }
}
