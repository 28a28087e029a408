//! The variants of all plans that a sorter or splitter can record.

use super::config::Config;
use super::format::Format;
use super::items::Items;
use super::operation::{Algorithm, Method, with_few};
use crate::core;
use crate::core::memory::BoundingRanges;
use crate::core::pipelines::Variant;
use crate::core::primitive::Jobs;
use crate::core::scratch::Layout;
use crate::core::variants::{Counts, Recording};
use crate::{Result, Strategy};

/// The jobs of a group.
struct Group<'a, M: Method> {
    method: &'a M,
    jobs: &'a [M::Job],
    format: &'a Format,
}

impl<M: Method> Jobs<(M::Job, M::Role)> for Group<'_, M> {
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

/// Returns every variant that some plan uses. `of_few`: the strategy of [`with_few`]. `batches`: whether requests are
/// also recorded together.
pub(crate) fn variants<M: Method>(
    method: &M,
    config: Config<'_>,
    of_few: Option<Strategy>,
    batches: bool,
) -> Result<Vec<Variant>> {
    let ends = |alone| {
        let config = Config { alone, ..config };
        let few = of_few.map(|strategy| Config { strategy, ..config });
        let ends = M::Algorithm::range_ends(config).chain(few.into_iter().flat_map(M::Algorithm::range_ends));
        ends.chain([config.profile.radix.all_digits_up_to])
    };
    let counts = Counts { ends, most: config.format.max_count };
    core::variants::variants(batches, &counts, |Recording { alone, another }, count, visit| {
        let config = Config { alone, ..config };
        let config = if alone { with_few::<M::Algorithm>(config, of_few, count) } else { config };
        let jobs = [count, 0].map(|count| method.largest(Items::largest(count)));
        let jobs = Group { method, jobs: &jobs[..1 + usize::from(another)], format: &config.format };
        let algorithm = M::Algorithm::of(&config, count);
        visit(&method.lay_out(config, algorithm, &jobs, 0, &mut Layout::default())?)
    })
}
