//! The boundary of the C ABI: panics and errors become result codes, and pointers are checked before use.

use super::result::{TrmResult, code};
use super::types::raw;
use crate::{Error, Result};
use std::any::Any;
use std::cell::RefCell;
#[cfg(feature = "runtime-shaders")]
use std::ffi::CStr;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static DETAIL: RefCell<CString> = RefCell::default();
}

/// Runs the body of an exported function that can fail, and returns its result code.
pub(super) fn border(call: impl FnOnce() -> Result<()>) -> raw::TrmResult {
    // Handles are immutable and outputs are written last, so a panic leaves no partial state.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => TrmResult::TrmSuccess as raw::TrmResult,
        Ok(Err(error)) => {
            remember(error.to_string());
            code(&error)
        }
        Err(panic) => {
            remember(panic_text(&*panic).to_owned());
            TrmResult::TrmErrorInternal as raw::TrmResult
        }
    }
}

/// Runs the body of an exported function that cannot fail. Returns `otherwise` if the body panics.
pub(super) fn shielded<T>(otherwise: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}

/// Replaces the body by an error if the primitive's feature is not built.
macro_rules! if_built {
    // `$named`: the feature in the message.
    ($feature:literal, ($($unused:expr),*), $body:expr) => {
        $crate::capi::border::if_built!($feature named $feature, ($($unused),*), $body)
    };
    ($feature:literal named $named:expr, ($($unused:expr),*), $body:expr) => {{
        #[cfg(feature = $feature)]
        let result = $body;
        #[cfg(not(feature = $feature))]
        let result = {
            let _ = ($($unused),*);
            Err($crate::Error::NotBuilt($named))
        };
        result
    }};
}
pub(super) use if_built;

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic")
}

fn remember(detail: String) {
    let detail = CString::new(detail.replace('\0', " ")).unwrap_or_default();
    // Fails only while the thread ends, when no call can read the detail any more.
    let _ = DETAIL.try_with(|last| last.replace(detail));
}

pub(super) fn last_detail() -> *const c_char {
    DETAIL.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns `pointer` if it is neither null nor misaligned.
pub(super) fn checked<T>(argument: &'static str, pointer: *const T) -> Result<*const T> {
    if pointer.is_null() {
        return Err(Error::Null { argument });
    }
    if !pointer.is_aligned() {
        let (value, alignment) = (pointer.addr() as u64, align_of::<T>() as u64);
        return Err(Error::Misaligned { argument, value, alignment });
    }
    Ok(pointer)
}

/// Returns the text of a user-defined function.
///
/// # Safety
/// `source`, unless null, points to a string that ends with a NUL character and lives as long as the result.
#[cfg(feature = "runtime-shaders")]
pub(super) unsafe fn source_text<'a>(source: *const c_char) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    let source = unsafe { CStr::from_ptr(checked("source", source)?) }.to_str();
    source.map_err(|error| Error::Malformed { argument: "source", why: error.to_string() })
}

/// Returns the words of a module.
///
/// # Safety
/// `code`, unless null or misaligned, points to `code_size` bytes that live as long as the result.
#[allow(dead_code, reason = "some builds have no primitive that takes modules of the caller")]
pub(super) unsafe fn module_code<'a>(code: *const u32, code_size: usize) -> Result<&'a [u32]> {
    crate::core::memory::check_multiple("codeSize", code_size as u64, 4)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(checked("code", code)?, code_size / 4) })
}

/// Writes a result to an output parameter.
///
/// # Safety
/// `output`, unless null or misaligned, may be written.
pub(super) unsafe fn write<T>(argument: &'static str, output: *mut T, make: impl FnOnce() -> Result<T>) -> Result<()> {
    checked(argument, output)?;
    let value = make()?;
    // SAFETY: the caller's promise.
    unsafe { output.write(value) };
    Ok(())
}

/// Writes a new handle to an output parameter, or NULL on failure.
///
/// # Safety
/// As [`write`].
pub(super) unsafe fn create<T>(
    argument: &'static str,
    output: *mut *mut T,
    make: impl FnOnce() -> Result<T>,
) -> Result<()> {
    checked(argument, output)?;
    // SAFETY: the caller's promise.
    unsafe {
        output.write(std::ptr::null_mut());
        write(argument, output, || Ok(Box::into_raw(Box::new(make()?))))
    }
}

/// Returns the object of a handle.
///
/// # Safety
/// The handle is null, misaligned, or a handle of this type that has not been destroyed.
pub(super) unsafe fn object<'a, T>(argument: &'static str, handle: *mut T) -> Result<&'a T> {
    // SAFETY: the caller's promise.
    Ok(unsafe { &*checked(argument, handle)? })
}

/// Destroys the object of a handle; null is ignored.
///
/// # Safety
/// As [`object`]. The handle is not used by any other thread, nor later.
pub(super) unsafe fn destroy<T>(handle: *mut T) {
    shielded((), || {
        if checked("handle", handle).is_ok() {
            // SAFETY: handles come from create().
            drop(unsafe { Box::from_raw(handle) });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn detail() -> String {
        // SAFETY: a C string that does not change until the next failure on this thread.
        unsafe { CStr::from_ptr(last_detail()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(border(|| panic!("one is {}", 1)), TrmResult::TrmErrorInternal as i32);
        assert_eq!(detail(), "one is 1");
        assert_eq!(shielded(7, || panic!("again")), 7);
    }

    #[test]
    fn an_error_leaves_its_detail_and_a_success_keeps_it() {
        assert_eq!(border(|| Err(Error::Null { argument: "a\0b" })), TrmResult::TrmErrorNull as i32);
        assert_eq!(border(|| Ok(())), 0);
        assert_eq!(detail(), "a b is null");
    }

    #[test]
    fn a_handle_that_cannot_be_made_is_null() {
        let mut handle = std::ptr::dangling_mut::<u32>();
        // SAFETY: `handle` may be written.
        let result = unsafe { create("handle", &raw mut handle, || Err(Error::NotBuilt("x"))) };
        assert!(result.is_err() && handle.is_null());
    }
}
