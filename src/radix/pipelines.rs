//! Collects the variants of all plans that a sorter or splitter can record. Nothing else describes which pipelines it
//! needs.

use super::config::Config;
use super::format::Format;
use super::items::Items;
use super::operation::{Algorithm, Method, with_few};
use crate::core::memory::BoundingRanges;
use crate::core::pipelines::Variant;
use crate::core::plan::Plan;
use crate::core::primitive::Jobs;
use crate::core::scratch::Layout;
use crate::{Error, Result, Strategy};

/// A way to record a request.
#[derive(Clone, Copy, Debug)]
struct Recording {
    /// Whether the request is recorded alone.
    alone: bool,
    /// Whether the group has another request. It has no items, so that limits stay as far as possible.
    another: bool,
}

/// A request alone; in a batch, as the only one of its group; and with another one.
const RECORDINGS: [Recording; 3] = [
    Recording { alone: true, another: false },
    Recording { alone: false, another: false },
    Recording { alone: false, another: true },
];

/// The jobs of a group.
struct Group<'a, M: Method> {
    method: &'a M,
    jobs: &'a [M::Job],
    format: &'a Format,
}

impl<M: Method> Jobs<M::Job, M::Role> for Group<'_, M> {
    fn for_each(&self, visit: &mut dyn FnMut(&M::Job)) {
        self.jobs.iter().for_each(visit);
    }

    fn bounding_ranges(&self) -> BoundingRanges<M::Role> {
        self.jobs.iter().fold(BoundingRanges::default(), |mut bounds, job| {
            bounds.grow(&self.method.arguments(self.format, job));
            bounds
        })
    }
}

/// Returns every variant that some plan uses. `of_few`: the strategy of [`with_few`]. `batches`: whether
/// requests are also recorded together.
///
/// Plans change only at the range ends of [`Algorithm::range_ends`]. So the first and the last count of each range use
/// all its variants.
pub(crate) fn variants<M: Method>(
    method: &M,
    config: Config<'_>,
    of_few: Option<Strategy>,
    batches: bool,
) -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for recording in RECORDINGS.into_iter().filter(|recording| recording.alone || batches) {
        let config = Config { alone: recording.alone, ..config };
        let few = of_few.map(|strategy| Config { strategy, ..config });
        let ends = M::Algorithm::range_ends(config).chain(few.into_iter().flat_map(M::Algorithm::range_ends));
        let ends = ends.chain([0, config.profile.radix.all_digits_up_to, u32::MAX]);
        let mut counts: Vec<u32> =
            ends.flat_map(|end| [end, end.saturating_add(1)]).map(|count| count.min(config.format.max_count)).collect();
        counts.sort_unstable();
        counts.dedup();
        for count in counts {
            let config = if recording.alone { with_few::<M::Algorithm>(config, of_few, count) } else { config };
            let jobs = [count, 0].map(|count| method.largest(Items::largest(count)));
            let jobs = Group { method, jobs: &jobs[..1 + usize::from(recording.another)], format: &config.format };
            match method.lay_out(config, M::Algorithm::of(&config, count), &jobs, 0, &mut Layout::default()) {
                Ok(table) => {
                    for variant in Plan::of(&table)?.variants {
                        if !variants.contains(&variant) {
                            variants.push(variant);
                        }
                    }
                }
                // Recording rejects such counts as well.
                Err(Error::TooLarge { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(variants)
}
