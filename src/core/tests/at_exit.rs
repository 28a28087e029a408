//! What a test process does before it exits.

use std::sync::{Mutex, PoisonError};

static CLOSING: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Calls `close` when the process exits, before all exit handlers; as often as this was called.
///
/// The validation layer frees its state in exit handlers, and aborts if a device outlives that state. It registers some
/// of them late, on the first use of a feature, so a handler of ours could come after them. Destructors of the main
/// thread's variables come before all handlers.
pub(crate) fn at_exit(close: fn()) {
    CLOSING.lock().unwrap_or_else(PoisonError::into_inner).push(close);
}

struct CloseAll;

impl Drop for CloseAll {
    fn drop(&mut self) {
        for close in CLOSING.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            close();
        }
    }
}

thread_local! {
    static ON_MAIN_THREAD: CloseAll = const { CloseAll };
}

/// Each test has a thread of its own. The main thread is reached before `main`; elsewhere contexts stay open.
#[used]
// SAFETY: the section holds functions without arguments, and this one needs nothing that `main` sets up.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = enter;

extern "C" fn enter() {
    ON_MAIN_THREAD.with(|_| ());
}
