//! Which pipelines a sorter or a splitter needs: those of the plans that it can record. Nothing else describes them.

use super::config::Config;
use super::format::Format;
use super::job::{Job, Role};
use super::problems::ProblemTable;
use crate::core::memory::BoundingRanges;
use crate::core::pipelines::Variant;
use crate::core::plan::Plan;
use crate::core::primitive::Jobs;
use crate::core::scratch::Layout;
use crate::{Error, Result, Strategy};

/// Requests that are recorded together.
#[derive(Clone, Copy, Debug)]
struct Recording {
    /// Whether nothing else is recorded with the request.
    alone: bool,
    /// Whether the group has another request, which has no items: others would only bring limits closer.
    another: bool,
}

/// A request by itself; in a batch, one of its group, and several.
const RECORDINGS: [Recording; 3] = [
    Recording { alone: true, another: false },
    Recording { alone: false, another: false },
    Recording { alone: false, another: true },
];

/// The jobs of a group.
struct Group<'a> {
    jobs: &'a [Job],
    format: &'a Format,
}

impl Jobs<Job, Role> for Group<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(&Job)) {
        self.jobs.iter().for_each(visit);
    }

    fn bounding_ranges(&self) -> BoundingRanges<Role> {
        self.jobs.iter().fold(BoundingRanges::default(), |mut bounds, job| {
            bounds.grow(&job.arguments(self.format));
            bounds
        })
    }
}

/// Every variant that some plan uses. `of_few`: the strategy of [`Config::with_few`]. `batches`: requests are recorded together, too.
///
/// Plans change at the ends of the ranges that [`Config::range_ends`] names, and at counts that the profile names. So the first and
/// the last count of each range use all of its variants.
pub(crate) fn variants(config: Config<'_>, of_few: Option<Strategy>, batches: bool) -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for recording in RECORDINGS.into_iter().filter(|recording| recording.alone || batches) {
        let config = Config { alone: recording.alone, ..config };
        let few = of_few.map(|strategy| Config { strategy, ..config });
        let ends = config.range_ends().chain(few.into_iter().flat_map(|few| few.range_ends()));
        let ends = ends.chain([0, config.profile.all_digits_up_to, u32::MAX]);
        let mut counts: Vec<u32> =
            ends.flat_map(|end| [end, end.saturating_add(1)]).map(|count| count.min(config.format.max_count)).collect();
        counts.sort_unstable();
        counts.dedup();
        for count in counts {
            let config = if recording.alone { config.with_few(of_few, count) } else { config };
            let jobs = [count, 0].map(|count| Job::largest(&config.format, count));
            let jobs = Group { jobs: &jobs[..1 + usize::from(recording.another)], format: &config.format };
            match ProblemTable::new(config, config.algorithm(count), &jobs, 0, &mut Layout::default()) {
                Ok(table) => {
                    for variant in Plan::of(&table)?.variants {
                        if !variants.contains(&variant) {
                            variants.push(variant);
                        }
                    }
                }
                // Recording refuses such counts, too.
                Err(Error::TooLarge { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(variants)
}
