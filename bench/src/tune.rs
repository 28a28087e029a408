//! Searches tile shapes: every candidate at every size, then the fewest shapes that serve all sizes well.

use crate::cases::{Case, CountAt, Keys, Work};
use crate::gpu::Gpu;
use crate::inputs::Sources;
use crate::job::{self, Job};
use crate::primitives::Primitive;
use crate::report::Report;
use crate::timing::Timer;
use serde_json::json;
use std::fmt::Display;
use std::thread;
use trommel::tuning::{Ranking, Shape, SizedTile, SmallMethod, SmallShape, SortShapes, TileShape};
use trommel::{Error, KeyType, Profile, Sorter, SorterInfo, Strategy};

/// Sizes that a workgroup may sort alone. Their keys are spread evenly, as buckets want them.
const SMALL: &[u32] = &[1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];
/// Sizes that tiles are tried at, after the small ones.
const LARGE: &[u32] = &[1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];
/// On a CPU only the search itself can be tried.
const MAX_ON_CPU: u32 = 1 << 14;

const THREADS: &[u32] = &[64, 128, 192, 256, 320, 384, 512, 768, 1024];
const ITEMS: &[u32] = &[1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 34, 36];
const TILES: std::ops::RangeInclusive<u32> = 1 << 10..=12 << 10;

/// Shapes that a profile holds of either kind.
const MOST_SHAPES: usize = 4;
/// What one more shape must gain, as the logarithm of a time, summed over the sizes: less is noise.
const SHAPE_COST: f64 = 0.03;

/// Sorts that take the same shapes of a profile.
struct Kind {
    name: &'static str,
    shapes: fn(&mut Profile) -> &mut SortShapes,
    /// Those that are timed: a shape's time is their geometric mean.
    sorts: &'static [SorterInfo],
}

const KINDS: &[Kind] = &[
    Kind { name: "keys", shapes: |profile| &mut profile.sort_keys, sorts: &[SorterInfo::keys()] },
    Kind { name: "pairs", shapes: |profile| &mut profile.sort_pairs, sorts: &[SorterInfo::pairs()] },
    Kind {
        name: "long",
        shapes: |profile| &mut profile.sort_long,
        sorts: &[SorterInfo { key: KeyType::U64, ..SorterInfo::keys() }, SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() }],
    },
];

/// `profile` with the best shapes found on the device, for each kind of sort.
pub(crate) fn tune(gpu: &Gpu, profile: &Profile, strategy: Strategy, report: &mut Report) -> anyhow::Result<Profile> {
    let mut found = profile.clone();
    for kind in KINDS {
        Search::new(gpu, profile, strategy, kind)?.run(report, (kind.shapes)(&mut found))?;
    }
    Ok(found)
}

/// A shape with a sorter for each sort of the kind, and its time at each size.
struct Candidate<S> {
    shape: S,
    sorters: Vec<Primitive>,
    times: Vec<f64>,
}

struct Search<'a> {
    gpu: &'a Gpu,
    kind: &'static Kind,
    sizes: Vec<u32>,
    small: Vec<Candidate<SmallShape>>,
    tiles: Vec<Candidate<TileShape>>,
    timer: Timer<'a>,
    sources: Sources,
}

impl<'a> Search<'a> {
    fn new(gpu: &'a Gpu, profile: &Profile, strategy: Strategy, kind: &'static Kind) -> anyhow::Result<Self> {
        let is_cpu = gpu.context.device().facts().is_cpu;
        let all: Vec<Shape> =
            THREADS.iter().flat_map(|&threads| ITEMS.iter().map(move |&items| Shape { threads, items })).collect();
        let by_each = |shape: &Shape| {
            [SmallMethod::Radix, SmallMethod::Buckets, SmallMethod::Merge].map(|method| SmallShape { shape: *shape, method })
        };
        let alone = all.iter().filter(|shape| SMALL.contains(&shape.tile())).flat_map(by_each);
        let tiled = all.iter().filter(|shape| TILES.contains(&shape.tile()) && (!is_cpu || shape.threads == 128));
        // CPU drivers have few lanes, and nothing to prove. (Workgroups that go on, and counters that are spread, are for hand-made profiles.)
        let rankings: &[Ranking] = if is_cpu { &[Ranking::Ballots] } else { &[Ranking::Ballots, Ranking::ProvenByPlaces] };
        let tiled = tiled.flat_map(|&shape| rankings.iter().map(move |&ranking| TileShape { ranking, ..shape.into() }));
        let make = Maker { gpu, profile, strategy, kind };
        let small = make.candidates(alone, |shapes, shape| shapes.small = [shape].into_iter().collect())?;
        let tiles = make.candidates(tiled, |shapes, shape| {
            shapes.small.clear();
            shapes.tiles = [SizedTile { up_to: u32::MAX, shape }].into_iter().collect();
            (shapes.ring, shapes.few_bins) = (None, None);
        })?;
        let any = tiles.first().ok_or_else(|| anyhow::anyhow!("the device can run no candidate"))?;
        let fits = |n: &u32| {
            let memory = kind
                .sorts
                .iter()
                .zip(&any.sorters)
                .map(|(sort, sorter)| job::memory(&case(sort, *n), std::slice::from_ref(sorter)));
            let most = memory.collect::<Result<Vec<_>, _>>().map(|memory| memory.into_iter().max());
            most.is_ok_and(|most| most <= Some(gpu.about.memory)) && !(is_cpu && *n > MAX_ON_CPU)
        };
        let sizes = SMALL.iter().chain(LARGE).copied().filter(fits).collect();
        Ok(Self { gpu, kind, sizes, small, tiles, timer: Timer::new(gpu)?, sources: Sources::default() })
    }

    fn run(&mut self, report: &mut Report, shapes: &mut SortShapes) -> anyhow::Result<()> {
        report.step("tuning");
        let (mut small, mut tiles) = (std::mem::take(&mut self.small), std::mem::take(&mut self.tiles));
        for candidate in &mut small {
            let n = candidate.shape.tile();
            candidate.times =
                self.sizes.clone().into_iter().map(|size| self.time(&candidate.sorters, n, size)).collect::<Result<_, _>>()?;
        }
        for candidate in &mut tiles {
            candidate.times =
                self.sizes.clone().into_iter().map(|size| self.time(&candidate.sorters, size, size)).collect::<Result<_, _>>()?;
        }
        self.tell(report, "small", &small);
        self.tell(report, "tiles", &tiles);
        shapes.small.clear();
        shapes.tiles.clear();
        (shapes.ring, shapes.few_bins) = (None, None);
        let mut first = 0;
        for (index, size) in self.sizes.iter().enumerate().filter(|(_, size)| SMALL.contains(size)) {
            let alone = best(small.iter().filter(|candidate| candidate.shape.tile() == *size), index);
            let tiled = best(tiles.iter(), index);
            if let Some((shape, time)) = alone
                && tiled.is_none_or(|(_, tiled)| time < tiled)
                && shapes.small.try_push(shape).is_ok()
            {
                first = index + 1;
            }
        }
        // Where a workgroup alone serves every size tried, the largest still decides about what is larger.
        let first = first.min(self.sizes.len() - 1);
        let times: Vec<&[f64]> = tiles.iter().map(|candidate| &candidate.times[first..]).collect();
        for Span { end, choice } in spans(&times, MOST_SHAPES) {
            let next = self.sizes.get(first + end);
            // Half way, in powers of two, to the next size.
            let up_to = next.map_or(u32::MAX, |next| self.sizes[first + end - 1].isqrt() * next.isqrt());
            shapes.tiles.push(SizedTile { up_to, shape: tiles[choice].shape });
        }
        Ok(())
    }

    /// The time at `size`; infinite where the sorters are for `n` alone and that is another.
    fn time(&mut self, sorters: &[Primitive], n: u32, size: u32) -> trommel::Result<f64> {
        if n != size {
            return Ok(f64::INFINITY);
        }
        let mut sum = 0.0;
        for (sort, sorter) in self.kind.sorts.iter().zip(sorters) {
            let job = Job::new(&self.gpu.context, vec![sorter.clone()], &mut self.sources, case(sort, size))?;
            sum += self.timer.measure(&job)?.median().ln();
        }
        Ok((sum / sorters.len() as f64).exp())
    }

    /// All times go into the record, the best into the text.
    fn tell<S: Display>(&self, report: &mut Report, what: &str, candidates: &[Candidate<S>]) {
        for (index, size) in self.sizes.iter().enumerate() {
            let mut ranked: Vec<_> = candidates.iter().filter(|candidate| candidate.times[index].is_finite()).collect();
            ranked.sort_by(|a, b| a.times[index].total_cmp(&b.times[index]));
            let ranked = ranked.iter().take(5).map(|c| format!("{} {:.1}", c.shape, c.times[index] * 1e3));
            let ranked: Vec<_> = ranked.collect();
            if !ranked.is_empty() {
                report.comment(&format!("tune {} {what} {size}: {} us", self.kind.name, ranked.join(", ")));
            }
        }
        let times = candidates.iter().map(|c| json!({ "shape": c.shape.to_string(), "median_ms": c.times })).collect::<Vec<_>>();
        report.keep(&format!("tune_{}_{what}", self.kind.name), json!({ "n": self.sizes, "candidates": times }));
    }
}

fn case(sort: &SorterInfo, n: u32) -> Case {
    Case { name: "tune", work: Work::Sort { info: *sort, keys: Keys::Random, count: CountAt::Host }, n }
}

fn best<'a, S: Copy + 'a>(candidates: impl Iterator<Item = &'a Candidate<S>>, index: usize) -> Option<(S, f64)> {
    candidates.map(|candidate| (candidate.shape, candidate.times[index])).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// What candidates are made from.
struct Maker<'a> {
    gpu: &'a Gpu,
    profile: &'a Profile,
    strategy: Strategy,
    kind: &'static Kind,
}

impl Maker<'_> {
    /// Sorters of all shapes that the device can run, made on all cores: most of the time of a search goes into pipelines.
    fn candidates<S: Copy + Send + Sync>(
        &self,
        shapes: impl Iterator<Item = S>,
        set: impl Fn(&mut SortShapes, S) + Sync,
    ) -> trommel::Result<Vec<Candidate<S>>> {
        let make = |shape: S| -> trommel::Result<Option<Candidate<S>>> {
            // Ranks would take the place of one workgroup, and runs that are merged that of tiles.
            let mut profile = self.profile.clone();
            let shapes = (self.kind.shapes)(&mut profile);
            shapes.ranked.clear();
            shapes.merges.clear();
            set(shapes, shape);
            let sorters = self.gpu.library(&profile).and_then(|library| {
                self.kind
                    .sorts
                    .iter()
                    .map(|info| Sorter::new(&library, &info.strategy(self.strategy)).map(Primitive::Sort))
                    .collect()
            });
            match sorters {
                Ok(sorters) => Ok(Some(Candidate { shape, sorters, times: Vec::new() })),
                // A shape that the device cannot run.
                Err(Error::Malformed { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let shapes: Vec<S> = shapes.collect();
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let made: Vec<_> = thread::scope(|scope| {
            let parts = shapes.chunks(shapes.len().div_ceil(threads).max(1));
            let threads: Vec<_> =
                parts.map(|part| scope.spawn(|| part.iter().map(|shape| make(*shape)).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        made.into_iter().filter_map(Result::transpose).collect()
    }
}

/// Sizes up to, not including, the `end`th take one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    end: usize,
    choice: usize,
}

/// Cuts the sizes into at most `most` spans with a choice each, so that the product of all times is least; a span more must pay for
/// itself. `times[choice][size]`.
fn spans(times: &[&[f64]], most: usize) -> Vec<Span> {
    let sizes = times.first().map_or(0, |times| times.len());
    // The best cut of the sizes before `end` into any number of spans, for each number in turn.
    let mut plans: Vec<Option<(f64, Vec<Span>)>> = vec![None; sizes + 1];
    plans[0] = Some((0.0, Vec::new()));
    let mut answer: Option<(f64, Vec<Span>)> = None;
    for _ in 0..most {
        let mut longer = vec![None; sizes + 1];
        for (start, plan) in plans.iter().enumerate() {
            let Some((cost, cut)) = plan else { continue };
            for end in start + 1..=sizes {
                let costs = times.iter().map(|times| times[start..end].iter().map(|time| time.ln()).sum::<f64>());
                let Some((choice, span)) = costs.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
                let total = cost + span + SHAPE_COST;
                if longer[end].as_ref().is_none_or(|(least, _)| total < *least) {
                    longer[end] = Some((total, cut.iter().copied().chain([Span { end, choice }]).collect()));
                }
            }
        }
        plans = longer;
        if let Some((cost, cut)) = &plans[sizes]
            && answer.as_ref().is_none_or(|(least, _)| cost < least)
        {
            answer = Some((*cost, cut.clone()));
        }
    }
    answer.map(|(_, cut)| cut).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::any_profile;

    #[test]
    fn every_part_of_a_profile_is_searched_once() {
        let mut profile = any_profile();
        for kind in KINDS {
            (kind.shapes)(&mut profile).small.clear();
        }
        for shapes in [&profile.sort_keys, &profile.sort_pairs, &profile.sort_long] {
            assert!(shapes.small.is_empty());
        }
    }

    #[test]
    fn each_span_takes_its_best_choice() {
        let times: &[&[f64]] = &[&[1.0, 1.0, 9.0, 9.0], &[2.0, 2.0, 2.0, 9.0], &[9.0, 9.0, 9.0, 3.0]];
        let found = spans(times, 4);
        assert_eq!(found, [Span { end: 2, choice: 0 }, Span { end: 3, choice: 1 }, Span { end: 4, choice: 2 }]);
    }

    #[test]
    fn fewer_spans_are_kept_to() {
        let times: &[&[f64]] = &[&[1.0, 2.0, 2.0], &[2.0, 1.0, 2.0], &[2.0, 2.0, 1.0]];
        assert_eq!(spans(times, 3).len(), 3);
        assert_eq!(spans(times, 2).len(), 2);
        assert_eq!(spans(times, 2).last().map(|span| span.end), Some(3), "every size is served");
    }

    #[test]
    fn noise_makes_no_span() {
        let times: &[&[f64]] = &[&[1.00, 1.01, 1.00], &[1.01, 1.00, 1.01]];
        assert_eq!(spans(times, 4), [Span { end: 3, choice: 0 }]);
    }
}
