//! The CPU twin of hash tables.
