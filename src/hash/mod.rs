//! Hash tables in device memory: maps and sets of keys of 32 to 128 bits, changed and queried by batches.
//!
//! Create a [`Hasher`] for each operation once; [`Hasher::cmd_hash`] appends the operation to a command buffer. A table
//! is a range of device memory that the application allocates: [`table_size`] bytes. Every key and every value is
//! allowed, and a full table reports the keys that are left over.
//!
//! A batch that changes a table is sorted by the first bits of the hashes of its keys. Then one workgroup applies the
//! keys of each slice of the table in shared memory. A query probes buckets directly. [`HashScheme::Linear`] is another
//! scheme: one invocation finds the slot of a key.

mod compaction;
mod composition;
mod export;
mod format;
mod hasher;
#[cfg(feature = "host")]
pub(crate) mod host;
mod info;
// `shared` declares this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
mod interface;
mod linear;
mod mixed;
mod plan;
mod planner;
mod resize;
mod saved;
mod slices;
mod statistics;
mod steps;
#[cfg(test)]
#[cfg(feature = "hash")]
mod tests;
mod values;

/// The text of `trommel_hash.glsl`, which searches tables in an application's own shaders. Its head says how it is
/// included.
pub const GLSL: &str = include_str!("../../glsl/lib/trommel_hash.glsl");

/// The text of `trommel_hash_linear.glsl`, by which shaders of an application search and change tables with linear
/// probing. Its head says how it is included.
pub const LINEAR_GLSL: &str = include_str!("../../glsl/lib/trommel_hash_linear.glsl");

/// The text of `trommel_hash_multimap.glsl`, by which shaders of an application read the values of the keys of
/// multimaps. Its head says how it is included.
pub const MULTIMAP_GLSL: &str = include_str!("../../glsl/lib/trommel_hash_multimap.glsl");

pub use format::table_size;
pub use hasher::{HashInfo, Hasher};
pub use info::{HashOpcode, HashOperation, HashScheme, HasherInfo};
pub use saved::check_table;
pub use statistics::HashStatistics;
