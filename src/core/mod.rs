//! The foundation of all primitives. This folder knows no primitive. Requests become plans ([`primitive`]), plans
//! become commands ([`record`]), and many requests share commands ([`batch`]). One request may be composed of several
//! ([`compose`]). Kernels become pipelines ([`pipelines`]).

#[cfg(feature = "primitive")]
pub(crate) mod batch;
pub(crate) mod check_memory;
#[cfg_attr(not(test), allow(dead_code, reason = "for primitives that are made of others"))]
pub(crate) mod compose;
pub(crate) mod ffi;
pub(crate) mod handle;
pub(crate) mod kernels;
pub(crate) mod memory;
pub(crate) mod pipelines;
pub(crate) mod plan;
pub(crate) mod primitive;
pub(crate) mod record;
pub(crate) mod scratch;
pub(crate) mod settings;
pub(crate) mod specialize;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod variants;
