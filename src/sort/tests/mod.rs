//! The host's work to record a sort.

#[cfg(feature = "host")]
mod recording;
