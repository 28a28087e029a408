//! Memory in front of an inaccessible guard page, and the signal handler that reports the call that has touched it.

use std::cell::Cell;
use std::ptr::null_mut;

const PAGE: usize = 4096;
/// Data pages before the guard page.
const PAGES: usize = 3;
/// Bytes that an untouched block has.
const POISON: u8 = 0xa5;

/// A block of memory with a guard page directly behind it.
pub(crate) struct Block(*mut u8);

impl Block {
    /// Maps the block.
    pub(crate) fn new() -> std::io::Result<Self> {
        let bytes = (PAGES + 1) * PAGE;
        // SAFETY: an anonymous mapping at an address that the kernel chooses. mprotect() then blocks its last page.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return Err(std::io::Error::last_os_error());
            }
            let start = start.cast::<u8>();
            if libc::mprotect(start.add(PAGES * PAGE).cast(), PAGE, libc::PROT_NONE) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            start.write_bytes(POISON, PAGES * PAGE);
            Ok(Self(start))
        }
    }

    /// Places `bytes` as close to the guard page as `alignment` allows, with poison on both sides.
    pub(crate) fn place(&self, bytes: &[u8], alignment: usize) -> *mut u8 {
        let room = PAGES * PAGE;
        assert!(bytes.len() <= room - 64, "a block has room");
        let start = (room - bytes.len()) & !(alignment - 1);
        // SAFETY: all of it lies before the guard page.
        unsafe {
            self.0.add(start - 64).write_bytes(POISON, room - start + 64);
            self.0.add(start).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.0.add(start)
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the mapping is this block's own. Unmapping cannot fail for a mapping that exists.
        unsafe { libc::munmap(self.0.cast(), (PAGES + 1) * PAGE) };
    }
}

thread_local! {
    /// Seed and number of the call that this thread makes.
    static CURRENT: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Notes which call comes next, for the handler.
pub(crate) fn set_current(seed: u64, call: u64) {
    CURRENT.set((seed, call));
}

/// Writes a number in decimal; a signal handler may not allocate.
fn digits(mut number: u64, text: &mut [u8; 20]) -> &[u8] {
    let mut start = text.len();
    loop {
        start -= 1;
        text[start] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            return &text[start..];
        }
    }
}

extern "C" fn report(signal: libc::c_int) {
    let (seed, call) = CURRENT.get();
    let write = |text: &[u8]| {
        // SAFETY: write() is safe in a signal handler, the bytes are there.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
    };
    write(b"FAILED: the call ended with signal ");
    write(digits(u64::from(signal.unsigned_abs()), &mut [0; 20]));
    write(b"; reproduce: trommel-fuzz-calls --seed ");
    write(digits(seed, &mut [0; 20]));
    write(b" --call ");
    write(digits(call, &mut [0; 20]));
    write(b"\n");
    // SAFETY: _exit() is safe in a signal handler.
    unsafe { libc::_exit(101) };
}

/// Signals that end the process print the reproducer of the call first.
pub(crate) fn install_handler() {
    let handler = report as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGFPE] {
        // SAFETY: the handler calls nothing but functions that are safe there.
        unsafe { libc::signal(signal, handler) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_end_at_the_guard_page() {
        let block = Block::new().expect("memory");
        for (len, alignment, gap) in [(16, 8, 0), (20, 8, 4), (1, 1, 0), (7, 4, 1)] {
            let bytes = vec![1; len];
            let start = block.place(&bytes, alignment);
            assert_eq!(start.addr() % alignment, 0);
            assert_eq!((start.addr() + len + gap) % PAGE, 0, "{len} bytes");
        }
    }

    #[test]
    fn a_touched_guard_page_ends_the_process() {
        let block = Block::new().expect("memory");
        let last = block.place(&[1], 1);
        // SAFETY: the child does nothing but touch the page and end; write() and _exit() are all that its handler
        // calls.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                install_handler();
                libc::close(2);
                last.add(1).read_volatile();
                libc::_exit(0);
            }
            let mut status = 0;
            libc::waitpid(child, &raw mut status, 0);
            assert_eq!(libc::WEXITSTATUS(status), 101, "reading behind the block is caught");
        }
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        assert_eq!(digits(0, &mut [0; 20]), b"0");
        assert_eq!(digits(u64::MAX, &mut [0; 20]), b"18446744073709551615");
    }
}
