//! Collects the variants of all plans that a handle can record. Nothing else describes which pipelines it needs.

use super::pipelines::Variant;
use super::plan::Plan;
use super::primitive::PlanSource;
use crate::{Error, Result};

/// A way to record a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recording {
    /// Whether the request is recorded alone.
    pub(crate) alone: bool,
    /// Whether the group has another request. It has no items, so that limits stay as far as possible.
    pub(crate) another: bool,
}

/// A request alone; in a batch, as the only one of its group; and with another one.
const RECORDINGS: [Recording; 3] = [
    Recording { alone: true, another: false },
    Recording { alone: false, another: false },
    Recording { alone: false, another: true },
];

/// Maximum counts at which plans change.
pub(crate) struct Counts<E> {
    /// The last count of each range, for requests that are recorded alone or with others.
    pub(crate) ends: E,
    /// The handle's maximum count.
    pub(crate) most: u32,
}

/// Receives the laid out requests of a recording.
pub(crate) type Visit<'v> = dyn FnMut(&dyn PlanSource) -> Result<()> + 'v;

/// Returns every variant that some plan uses.
///
/// `batches`: whether requests are also recorded together. `lay_out` lays out a request with as many passes as any of
/// this maximum count, and passes the result on.
///
/// Plans change only at the ends of ranges. So the first and the last count of each range use all its variants.
pub(crate) fn variants<I: IntoIterator<Item = u32>>(
    batches: bool,
    counts: &Counts<impl Fn(bool) -> I>,
    mut lay_out: impl FnMut(Recording, u32, &mut Visit<'_>) -> Result<()>,
) -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for recording in RECORDINGS.into_iter().filter(|recording| recording.alone || batches) {
        let ends = (counts.ends)(recording.alone).into_iter().chain([0, u32::MAX]);
        let mut tried: Vec<u32> =
            ends.flat_map(|end| [end, end.saturating_add(1)]).map(|count| count.min(counts.most)).collect();
        tried.sort_unstable();
        tried.dedup();
        for count in tried {
            let mut add = |source: &dyn PlanSource| {
                for variant in Plan::of(source)?.variants {
                    if !variants.contains(&variant) {
                        variants.push(variant);
                    }
                }
                Ok(())
            };
            match lay_out(recording, count, &mut add) {
                // Recording rejects such counts as well.
                Ok(()) | Err(Error::TooLarge { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(variants)
}
