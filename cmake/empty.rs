//! An empty crate: rustc prints the libraries that every static library links to.
