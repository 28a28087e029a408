//! A crate with nothing in it: rustc says what any static library links to.
