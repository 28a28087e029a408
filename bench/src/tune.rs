//! Searches tile shapes: every candidate is verified, then timed at every size, then the fewest shapes are chosen that serve all sizes well.

use crate::cases::{Approach, Case, CountAt, Keys, Work, by_bits, long_keys, split_keys, split_pairs};
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
use trommel::{Device, Error, KeyType, Profile, SorterInfo, SplitOutput, SplitterInfo, Strategy};

/// Sizes that a workgroup may sort alone. Their keys are spread evenly, as buckets want them.
const SMALL: &[u32] = &[1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];
/// Sizes that tiles are tried at, after the small ones.
const LARGE: &[u32] = &[1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];
/// Most items that each workgroup is tried to count.
const MOST_RECOUNTED: u32 = 1 << 16;
/// On a CPU only the search itself can be tried: of counts and tiles no larger.
const MAX_ON_CPU: u32 = 1 << 11;

/// Problems of the batch by which candidates are verified: how many of how many keys. On a CPU without the last ones.
const BATCHES: [&[(u32, u32)]; 2] = [&[(2, 65), (1, 257), (1, 700)], &[(2, 65), (1, 257), (1, 700), (1, 3000), (1, 9000)]];
/// Keys by which candidates are verified at every size, and those by which they are at the first.
const VERIFIED_KEYS: [Keys; 4] = [Keys::Random, Keys::LowEntropy, Keys::Constant, Keys::Reversed];

const THREADS: &[u32] = &[64, 128, 192, 256, 320, 384, 512, 768, 1024];
const ITEMS: &[u32] = &[1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 34, 36];
const TILES: std::ops::RangeInclusive<u32> = 1 << 10..=12 << 10;

/// Shapes that a profile holds of either kind.
const MOST_SHAPES: usize = 4;
/// What one more shape must gain, as the logarithm of a time, summed over the sizes: less is noise.
const SHAPE_COST: f64 = 0.03;

/// What takes the same shapes of a profile, and what is timed for it: a shape's time is the geometric mean.
struct Kind {
    name: &'static str,
    shapes: fn(&mut Profile) -> &mut SortShapes,
    sorts: &'static [Work],
    /// Splits that are counted tile by tile, into few enough bins for the last of `counted`.
    counted: &'static [Work],
    /// The same into many: the last of `tiles` serves these instead.
    counted_many: &'static [Work],
    /// Splits into few bins that look back.
    few_bins: &'static [Work],
}

const KINDS: &[Kind] = &[
    Kind {
        name: "keys",
        shapes: |profile| &mut profile.sort_keys,
        sorts: &[sort(SorterInfo::keys())],
        counted: &[split(split_keys(2)), split(split_keys(32))],
        counted_many: &[split(split_keys(256))],
        few_bins: &[split(one(split_keys(2))), split(placed(split_keys(32)))],
    },
    Kind {
        name: "pairs",
        shapes: |profile| &mut profile.sort_pairs,
        sorts: &[sort(SorterInfo::pairs())],
        counted: &[split(split_pairs(2)), split(split_pairs(32))],
        counted_many: &[split(split_pairs(256))],
        few_bins: &[split(one(split_pairs(2))), split(placed(split_pairs(32)))],
    },
    Kind {
        name: "long",
        shapes: |profile| &mut profile.sort_long,
        sorts: &[
            sort(SorterInfo { key: KeyType::U64, ..SorterInfo::keys() }),
            sort(SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() }),
        ],
        counted: &[split(long_keys(split_keys(2))), split(long_keys(split_pairs(32)))],
        counted_many: &[split(long_keys(split_keys(256)))],
        few_bins: &[split(one(long_keys(split_keys(2)))), split(placed(long_keys(split_pairs(32))))],
    },
];

const fn sort(info: SorterInfo) -> Work {
    Work::Sort { info, keys: Keys::Random, count: CountAt::Host }
}

const fn split(info: SplitterInfo) -> Work {
    Work::Split { info: by_bits(info), keys: Keys::Random, count: CountAt::Host, approach: Approach::Split }
}

const fn one(info: SplitterInfo) -> SplitterInfo {
    info.output(SplitOutput::Bucket(1))
}

const fn placed(info: SplitterInfo) -> SplitterInfo {
    info.output(SplitOutput::Placed)
}

/// `profile` with the best shapes found on the device, for each kind of sort and split.
pub(crate) fn tune(gpu: &Gpu, profile: &Profile, strategy: Strategy, report: &mut Report) -> anyhow::Result<Profile> {
    report.step("tuning");
    let mut found = profile.clone();
    for kind in KINDS {
        let times = Search::new(gpu, profile, kind, strategy)?.run(report)?;
        times.choose(profile.direct_up_to, (kind.shapes)(&mut found))?;
    }
    Ok(found)
}

/// A shape that is searched.
trait Searched: Copy + Display + Send + Sync {
    /// The counts by which it is verified: around those that its workgroups take, and the parts of these.
    fn verified_at(self) -> Vec<u32>;
}

impl Searched for SmallShape {
    fn verified_at(self) -> Vec<u32> {
        let tile = self.tile();
        [tile / 2 + 1, 1, 65, 257, 700, tile - 1, tile].into_iter().filter(|n| *n <= tile).collect()
    }
}

impl Searched for TileShape {
    fn verified_at(self) -> Vec<u32> {
        let tile = self.tile();
        [3 * tile + 77, 65, 257, 700, tile - 1, tile, tile + 1].into_iter().filter(|n| *n != 0).collect()
    }
}

/// Works that are timed together.
struct Group {
    name: &'static str,
    works: &'static [Work],
    strategy: Strategy,
}

/// A shape, and its time at each size.
struct Candidate<S> {
    shape: S,
    times: Vec<f64>,
}

/// All that has been timed of a kind.
struct Times {
    sizes: Vec<u32>,
    small: Vec<Candidate<SmallShape>>,
    tiles: Vec<Candidate<TileShape>>,
    counted: Vec<Candidate<TileShape>>,
    counted_many: Vec<Candidate<TileShape>>,
    few_bins: Vec<Candidate<TileShape>>,
    /// The works of `counted`, by workgroups that each count all.
    recounted: Vec<Candidate<TileShape>>,
}

/// A shape with what serves each work of its group.
type Made<S> = (S, Vec<Vec<Primitive>>);

struct Search<'a> {
    gpu: &'a Gpu,
    profile: &'a Profile,
    kind: &'static Kind,
    /// Of sorts: splits have the one that takes their shapes.
    strategy: Strategy,
    sizes: Vec<u32>,
    timer: Timer<'a>,
    sources: Sources,
}

impl<'a> Search<'a> {
    fn new(gpu: &'a Gpu, profile: &'a Profile, kind: &'static Kind, strategy: Strategy) -> anyhow::Result<Self> {
        let is_cpu = gpu.context.device().facts().is_cpu;
        let works = || [kind.sorts, kind.counted, kind.counted_many, kind.few_bins].into_iter().flatten();
        let made = works().map(|work| Ok((work, primitives(gpu, gpu.context.device(), work, strategy)?)));
        let made = made.collect::<trommel::Result<Vec<_>>>()?;
        let fits = |n: &u32| {
            let memory = made.iter().map(|(work, primitives)| job::memory(&case(work, *n), primitives));
            let most = memory.collect::<Result<Vec<_>, _>>().map(|memory| memory.into_iter().max());
            most.is_ok_and(|most| most <= Some(gpu.about.memory)) && !(is_cpu && *n > MAX_ON_CPU)
        };
        let sizes: Vec<_> = SMALL.iter().chain(LARGE).copied().filter(fits).collect();
        anyhow::ensure!(!sizes.is_empty(), "the device has memory for no size");
        Ok(Self { gpu, profile, kind, strategy, sizes, timer: Timer::new(gpu)?, sources: Sources::default() })
    }

    fn run(mut self, report: &mut Report) -> anyhow::Result<Times> {
        let is_cpu = self.gpu.context.device().facts().is_cpu;
        let all: Vec<Shape> =
            THREADS.iter().flat_map(|&threads| ITEMS.iter().map(move |&items| Shape { threads, items })).collect();
        let by_each = |shape: &Shape| {
            [SmallMethod::Radix, SmallMethod::Buckets, SmallMethod::Merge].map(|method| SmallShape { shape: *shape, method })
        };
        let alone: Vec<_> = all.iter().filter(|shape| SMALL.contains(&shape.tile())).flat_map(by_each).collect();
        let on_cpu = |shape: &Shape| shape.threads == 128 && shape.tile() <= MAX_ON_CPU;
        let tiled = all.iter().filter(|shape| TILES.contains(&shape.tile()) && (!is_cpu || on_cpu(shape)));
        // CPU drivers have few lanes, and nothing to prove. (Workgroups that go on, and counters that are spread, are for hand-made profiles.)
        let rankings: &[Ranking] = if is_cpu { &[Ranking::Ballots] } else { &[Ranking::Ballots, Ranking::ProvenByPlaces] };
        let tiled: Vec<_> =
            tiled.flat_map(|&shape| rankings.iter().map(move |&ranking| TileShape { ranking, ..shape.into() })).collect();

        let of_few: Vec<TileShape> =
            all.iter().filter(|shape| shape.items <= 2 && (!is_cpu || on_cpu(shape))).map(|&shape| shape.into()).collect();

        let (kind, strategy) = (self.kind, self.strategy);
        let small = Group { name: "small", works: kind.sorts, strategy };
        let of_one = |shapes: &mut SortShapes, shape| shapes.small = [shape].into_iter().collect();
        let small = self.time_all(report, &small, &alone, of_one, |shape, size| shape.tile() == size)?;
        let few = Group { name: "recounted", works: kind.counted, strategy: Strategy::ReduceThenScan };
        let of_all = |shapes: &mut SortShapes, shape| {
            shapes.recounted = [SizedTile { up_to: MOST_RECOUNTED, shape }].into_iter().collect();
        };
        let recounted = self.time_all(report, &few, &of_few, of_all, |_, size| size <= MOST_RECOUNTED)?;
        let mut tiles = |name, works, strategy| {
            let group = Group { name, works, strategy };
            self.time_all(report, &group, &tiled, of_every_size, |_, _| true)
        };
        Ok(Times {
            recounted,
            small,
            tiles: tiles("tiles", kind.sorts, strategy)?,
            counted: tiles("counted", kind.counted, Strategy::ReduceThenScan)?,
            counted_many: tiles("counted_many", kind.counted_many, Strategy::ReduceThenScan)?,
            few_bins: tiles("few_bins", kind.few_bins, Strategy::Lookback)?,
            sizes: self.sizes,
        })
    }

    /// Times all shapes that the device can run, at the sizes that they serve; a time at another is infinite.
    fn time_all<S: Searched>(
        &mut self,
        report: &mut Report,
        group: &Group,
        shapes: &[S],
        set: impl Fn(&mut SortShapes, S) + Sync,
        serves: impl Fn(S, u32) -> bool,
    ) -> anyhow::Result<Vec<Candidate<S>>> {
        let made = self.make(group, shapes, set)?;
        let made = self.right(report, group, made)?;
        let mut candidates: Vec<_> = made.iter().map(|(shape, _)| Candidate { shape: *shape, times: Vec::new() }).collect();
        for n in self.sizes.clone() {
            let served: Vec<_> = made.iter().filter(|(shape, _)| serves(*shape, n)).map(|(_, primitives)| primitives).collect();
            let mut times = self.time(group, &served, n)?.into_iter();
            for candidate in &mut candidates {
                let time = if serves(candidate.shape, n) { times.next() } else { None };
                candidate.times.push(time.unwrap_or(f64::INFINITY));
            }
        }
        self.tell(report, group.name, &candidates);
        Ok(candidates)
    }

    /// What serves the works of a group, for all shapes that the device can run, made on all cores: most of the time of a search goes into
    /// pipelines.
    fn make<S: Copy + Send + Sync>(
        &self,
        group: &Group,
        shapes: &[S],
        set: impl Fn(&mut SortShapes, S) + Sync,
    ) -> trommel::Result<Vec<Made<S>>> {
        let make = |shape: S| {
            let mut profile = self.profile.clone();
            let shapes = (self.kind.shapes)(&mut profile);
            // Ranks would take the place of one workgroup, and runs that are merged, and splits that are counted again, that of tiles.
            shapes.ranked.clear();
            shapes.merges.clear();
            shapes.recounted.clear();
            set(shapes, shape);
            let made = self
                .gpu
                .library(&profile)
                .and_then(|library| group.works.iter().map(|work| primitives(self.gpu, &library, work, group.strategy)).collect());
            match made {
                Ok(made) => Ok(Some((shape, made))),
                // A shape that the device cannot run.
                Err(Error::Malformed { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let made: Vec<_> = thread::scope(|scope| {
            let parts = shapes.chunks(shapes.len().div_ceil(threads).max(1));
            let threads: Vec<_> =
                parts.map(|part| scope.spawn(|| part.iter().map(|shape| make(*shape)).collect::<Vec<_>>())).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        made.into_iter().filter_map(Result::transpose).collect()
    }

    /// The candidates whose outputs are the CPU's. A wrong one is never timed, so that it cannot be chosen.
    fn right<S: Searched>(&mut self, report: &mut Report, group: &Group, made: Vec<Made<S>>) -> trommel::Result<Vec<Made<S>>> {
        let mut right = Vec::new();
        for (shape, primitives) in made {
            match self.verify(group, shape, &primitives)? {
                Ok(()) => right.push((shape, primitives)),
                Err(what) => report.comment(&format!("tune {} {} {shape}: WRONG {what}", self.kind.name, group.name)),
            }
        }
        Ok(right)
    }

    /// Runs every work of a group once for each count and kind of keys, and sorts as a batch as well, and compares with the CPU.
    fn verify<S: Searched>(
        &mut self,
        group: &Group,
        shape: S,
        primitives: &[Vec<Primitive>],
    ) -> trommel::Result<Result<(), String>> {
        let is_cpu = self.gpu.context.device().facts().is_cpu;
        for (work, primitives) in group.works.iter().zip(primitives) {
            let cases = cases_to_verify(work, &shape.verified_at(), BATCHES[usize::from(!is_cpu)]);
            for case in cases.into_iter().filter(|case| !is_cpu || case.n <= MAX_ON_CPU) {
                let job = Job::new(&self.gpu.context, primitives.clone(), &mut self.sources, case)?;
                self.gpu.context.run(|commands| {
                    job.restore(commands);
                    Ok(())
                })?;
                self.gpu.context.run(|commands| job.work(commands, None))?;
                if let Err(what) = job.output()?.check() {
                    return Ok(Err(what));
                }
            }
        }
        Ok(Ok(()))
    }

    /// For each candidate the geometric mean of the times of the works.
    fn time(&mut self, group: &Group, candidates: &[&Vec<Vec<Primitive>>], n: u32) -> trommel::Result<Vec<f64>> {
        let mut sums = vec![0.0; candidates.len()];
        for (index, work) in group.works.iter().enumerate() {
            // One after the other in the same memory: it takes longer to make than to use.
            let mut last: Option<Job> = None;
            for (sum, primitives) in sums.iter_mut().zip(candidates) {
                let primitives = primitives[index].clone();
                let job = match last.take() {
                    Some(job) => job.with(primitives),
                    None => Job::new(&self.gpu.context, primitives, &mut self.sources, case(work, n)),
                }?;
                *sum += self.timer.measure(&job)?.median().ln();
                last = Some(job);
            }
        }
        Ok(sums.into_iter().map(|sum| (sum / group.works.len() as f64).exp()).collect())
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

/// Tiles of one shape alone, whatever they are for.
fn of_every_size(shapes: &mut SortShapes, shape: TileShape) {
    shapes.small.clear();
    shapes.counted.clear();
    shapes.tiles = [SizedTile { up_to: u32::MAX, shape }].into_iter().collect();
    (shapes.ring, shapes.few_bins) = (None, None);
}

/// What a work is verified by: the counts in turn by random keys, the first of them by all kinds of keys, and sorts by a batch.
fn cases_to_verify(work: &Work, counts: &[u32], groups: &'static [(u32, u32)]) -> Vec<Case> {
    let with = |keys: Keys| match *work {
        Work::Sort { info, count, .. } => Work::Sort { info, keys, count },
        Work::Split { info, count, approach, .. } => Work::Split { info, keys, count, approach },
        other => other,
    };
    let all = VERIFIED_KEYS.iter().zip([counts.len(), 1, 1, 1]);
    let singles = all.flat_map(|(keys, most)| counts.iter().take(most).map(move |n| case(&with(*keys), *n)));
    let batch = if let Work::Sort { info, .. } = *work { Some(Work::Batch { info, groups }) } else { None };
    singles.chain(batch.map(|work| case(&work, groups.iter().map(|(problems, n)| problems * n).sum()))).collect()
}

fn case(work: &Work, n: u32) -> Case {
    Case { name: "tune", work: *work, n }
}

/// The primitives of a work at every size that is tried, in batches, too: candidates are verified in some.
fn primitives(gpu: &Gpu, library: &Device, work: &Work, strategy: Strategy) -> trommel::Result<Vec<Primitive>> {
    let infos = case(work, 1).primitives();
    infos.iter().map(|info| Primitive::new(&gpu.context, library, &info.batches(), strategy)).collect()
}

impl Times {
    /// The best shapes in place of those that were. `direct_up_to`: of the profile.
    fn choose(&self, direct_up_to: u32, shapes: &mut SortShapes) -> anyhow::Result<()> {
        anyhow::ensure!(!self.tiles.is_empty(), "the device can run no candidate");
        let (small, first) = self.best_small();
        shapes.small = small.into_iter().collect();
        let times: Vec<_> = self.tiles.iter().map(|candidate| &candidate.times[first..]).collect();
        shapes.tiles = self.sized(&self.tiles, first, &spans(&times, &times, MOST_SHAPES)).into_iter().collect();
        shapes.ring = None;
        shapes.counted = self.best_counted(&shapes.tiles).into_iter().collect();
        shapes.few_bins = self.best_of_few_bins(&shapes.tiles, direct_up_to);
        shapes.recounted = self.best_recounted().into_iter().collect();
        Ok(())
    }

    /// Tiles whose workgroups count all, of all sizes up to the first at which it takes longer than to count tile by tile.
    fn best_recounted(&self) -> Vec<SizedTile> {
        let wins = |index: &usize| match (best(self.recounted.iter(), *index), best(self.counted.iter(), *index)) {
            (Some((_, again)), Some((_, once))) => again < once,
            _ => false,
        };
        let end = (0..self.sizes.len()).take_while(wins).count();
        let times: Vec<_> = self.recounted.iter().map(|candidate| &candidate.times[..end]).collect();
        let mut sized = self.sized(&self.recounted, 0, &spans(&times, &times, MOST_SHAPES));
        if let Some(last) = sized.last_mut() {
            last.up_to = last.up_to.min(MOST_RECOUNTED);
        }
        sized
    }

    /// Shapes of one workgroup alone, and the first size that they do not serve.
    fn best_small(&self) -> (Vec<SmallShape>, usize) {
        let (mut shapes, mut first) = (Vec::new(), 0);
        for (index, size) in self.sizes.iter().enumerate().filter(|(_, size)| SMALL.contains(size)) {
            let alone = best(self.small.iter().filter(|candidate| candidate.shape.tile() == *size), index);
            let tiled = best(self.tiles.iter(), index);
            if let Some((shape, time)) = alone
                && tiled.is_none_or(|(_, tiled)| time < tiled)
                && shapes.len() < MOST_SHAPES
            {
                shapes.push(shape);
                first = index + 1;
            }
        }
        // Where a workgroup alone serves every size tried, the largest still decides about what is larger.
        (shapes, first.min(self.sizes.len() - 1))
    }

    /// Tiles of splits that are counted: all but the last serve many bins too, in place of which the last of `tiles` does.
    fn best_counted(&self, tiles: &[SizedTile]) -> Vec<SizedTile> {
        let many = |shape| self.counted_many.iter().find(|many| many.shape == shape).map(|many| &many.times[..]);
        // Where many bins have not been timed, few decide.
        let both = |few: &Candidate<TileShape>, shape| -> Vec<f64> {
            let many = many(shape).unwrap_or(&few.times);
            few.times.iter().zip(many).map(|(few, many)| (few * many).sqrt()).collect()
        };
        let each: Vec<_> = self.counted.iter().map(|few| both(few, few.shape)).collect();
        let last = |few: &Candidate<TileShape>| tiles.last().map_or(few.shape, |last| last.shape);
        let at_last: Vec<_> = self.counted.iter().map(|few| both(few, last(few))).collect();
        let [each, at_last] = [&each, &at_last].map(|times| times.iter().map(Vec::as_slice).collect::<Vec<_>>());
        self.sized(&self.counted, 0, &spans(&each, &at_last, MOST_SHAPES))
    }

    /// The tile of splits into few bins, if it gains what one more shape must, where it is taken: in place of tiles of sizes that are prepared.
    fn best_of_few_bins(&self, tiles: &[SizedTile], direct_up_to: u32) -> Option<TileShape> {
        let tile = |n: u32| tiles.iter().find(|sized| n <= sized.up_to).filter(|sized| sized.up_to > direct_up_to);
        let served: Vec<_> = self.sizes.iter().enumerate().filter_map(|(index, n)| Some((index, tile(*n)?.shape))).collect();
        let time = |shape: TileShape, index: usize| {
            let candidate = self.few_bins.iter().find(|candidate| candidate.shape == shape);
            candidate.map_or(f64::INFINITY, |candidate| candidate.times[index].ln())
        };
        let by_one = |shape| served.iter().map(|(index, _)| time(shape, *index)).sum::<f64>();
        let by_tiles = served.iter().map(|(index, tile)| time(*tile, *index)).sum::<f64>();
        let costs = self.few_bins.iter().map(|candidate| (candidate.shape, by_one(candidate.shape)));
        let (shape, cost) = costs.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (cost + SHAPE_COST < by_tiles).then_some(shape)
    }

    /// Sizes from the `first` on by the spans of their choices.
    fn sized(&self, candidates: &[Candidate<TileShape>], first: usize, spans: &[Span]) -> Vec<SizedTile> {
        let sized = spans.iter().map(|Span { end, choice }| {
            let (last, next) = (self.sizes[first + end - 1], self.sizes.get(first + end));
            // Half way, in powers of two, to the next size.
            let up_to = next.map_or(u32::MAX, |next| last.isqrt() * next.isqrt());
            SizedTile { up_to, shape: candidates[*choice].shape }
        });
        sized.collect()
    }
}

fn best<'a, S: Copy + 'a>(candidates: impl Iterator<Item = &'a Candidate<S>>, index: usize) -> Option<(S, f64)> {
    candidates.map(|candidate| (candidate.shape, candidate.times[index])).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Sizes up to, not including, the `end`th take one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    end: usize,
    choice: usize,
}

/// Cuts the sizes into at most `most` spans with a choice each, so that the product of all times is least; a span more must pay for
/// itself. `times[choice][size]`, and of the last span `at_last`.
fn spans(times: &[&[f64]], at_last: &[&[f64]], most: usize) -> Vec<Span> {
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
                let times = if end == sizes { at_last } else { times };
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
    use crate::args::Args;
    use crate::gpu::any_profile;
    use clap::Parser as _;
    use trommel::{Order, ValueType};

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
    fn what_is_timed_takes_the_shapes_searched() {
        for kind in KINDS {
            for work in [kind.sorts, kind.counted, kind.counted_many, kind.few_bins].into_iter().flatten() {
                let items = case(work, 1).items();
                let name = match (items.key.bits() > 32, items.value) {
                    (true, _) => "long",
                    (false, ValueType::None) => "keys",
                    (false, _) => "pairs",
                };
                assert_eq!(name, kind.name, "{work:?}");
            }
            let buckets = |works: &[Work]| -> Vec<u32> {
                works.iter().map(|work| if let Work::Split { info, .. } = work { info.buckets } else { 0 }).collect()
            };
            assert!(buckets(kind.sorts).iter().all(|buckets| *buckets == 0), "sorts");
            assert!(buckets(kind.counted).iter().all(|buckets| (1..=64).contains(buckets)), "not of many bins");
            assert!(buckets(kind.counted_many).iter().all(|buckets| *buckets > 64), "of many bins");
            assert!(buckets(kind.few_bins).iter().all(|buckets| (1..=32).contains(buckets)), "of few bins");
        }
    }

    #[test]
    fn wrong_candidates_are_left_out() {
        let args = Args::try_parse_from(["trommel-bench"]).unwrap();
        let gpu = Gpu::open(&args).unwrap();
        // Of all that may be timed, few are run.
        gpu.context.device().make_pipelines_late();
        let profile = gpu.context.device().profile().clone();
        let mut search = Search::new(&gpu, &profile, &KINDS[1], Strategy::Auto).unwrap();
        let group = Group { name: "small", works: KINDS[1].sorts, strategy: Strategy::Auto };
        let sorted = |order| {
            let info = SorterInfo { order, ..SorterInfo::pairs() };
            primitives(&gpu, gpu.context.device(), &sort(info), Strategy::Auto).unwrap()
        };
        let shapes = [SmallShape::radix(128, 2), SmallShape::radix(128, 1)];
        let made = vec![(shapes[0], vec![sorted(Order::Descending)]), (shapes[1], vec![sorted(Order::Ascending)])];
        let right = search.right(&mut Report::new(0), &group, made).unwrap();
        assert_eq!(right.iter().map(|(shape, _)| *shape).collect::<Vec<_>>(), [shapes[1]]);
    }

    #[test]
    fn candidates_are_verified_by_parts_of_tiles_and_by_batches() {
        for work in KINDS.iter().flat_map(|kind| [kind.sorts, kind.counted, kind.counted_many, kind.few_bins]).flatten() {
            let cases = cases_to_verify(work, &tile(8).verified_at(), BATCHES[1]);
            let counts: Vec<u32> = cases.iter().map(|case| case.n).collect();
            assert!([1023, 1024, 1025, 3 * 1024 + 77].iter().all(|n| counts.contains(n)), "{counts:?}");
            let is_sort = matches!(work, Work::Sort { .. });
            let batches: Vec<_> = cases.iter().filter(|case| matches!(case.work, Work::Batch { .. })).collect();
            assert_eq!(batches.len(), usize::from(is_sort), "{work:?}");
            assert!(batches.iter().all(|batch| batch.items() == case(work, 1).items()), "pairs are verified as pairs");
            assert!(VERIFIED_KEYS.iter().all(|keys| cases.iter().any(|case| case.work.keys() == *keys)));
        }
        let small = SmallShape::merge(64, 16).verified_at();
        assert!(small.contains(&1024) && small.iter().all(|n| (1..=1024).contains(n)), "one workgroup has room for all: {small:?}");
    }

    fn tile(items: u32) -> TileShape {
        Shape { threads: 128, items }.into()
    }

    /// Tiles of 8, 16 and so on items a thread, and their times.
    fn candidates<const N: usize>(times: &[[f64; N]]) -> Vec<Candidate<TileShape>> {
        times.iter().zip(1..).map(|(times, i)| Candidate { shape: tile(8 * i), times: times.to_vec() }).collect()
    }

    /// Sorts go by tiles, the smaller the better up to 2^18, and above by larger ones.
    fn times() -> Times {
        let [tiles, counted, counted_many, few_bins] = [(); 4].map(|()| candidates(&[[1.0, 1.0, 2.0], [2.0, 2.0, 1.0]]));
        let sizes = vec![1 << 16, 1 << 18, 1 << 20];
        Times { sizes, small: Vec::new(), tiles, counted, counted_many, few_bins, recounted: Vec::new() }
    }

    fn chosen(times: &Times) -> SortShapes {
        let mut shapes = any_profile().sort_keys;
        shapes.few_bins = Some(tile(1));
        times.choose(1 << 18, &mut shapes).unwrap();
        shapes
    }

    #[test]
    fn sizes_are_cut_half_way() {
        let shapes = chosen(&times());
        let expected = [SizedTile { up_to: 1 << 19, shape: tile(8) }, SizedTile { up_to: u32::MAX, shape: tile(16) }];
        assert_eq!(shapes.tiles[..], expected);
        assert_eq!(shapes.counted[..], expected);
        assert!(shapes.small.is_empty());
        assert_eq!((shapes.ring, shapes.few_bins), (None, None), "tiles do for few bins too");
    }

    #[test]
    fn few_bins_have_a_shape_where_it_gains_something() {
        let few_bins = candidates(&[[1.0, 1.0, 1.5], [2.0, 2.0, 2.0], [9.0, 9.0, 1.0]]);
        let mut times = Times { few_bins, ..times() };
        assert_eq!(chosen(&times).few_bins, Some(tile(8)), "of all sizes: those of 2^18 have tiles of up to 2^19");
        let mut shapes = any_profile().sort_keys;
        times.choose(1 << 19, &mut shapes).unwrap();
        assert_eq!(shapes.few_bins, Some(tile(24)), "of the last size alone, as tiles of up to 2^19 stay");
        times.few_bins = candidates(&[[1.0, 1.0, 2.00], [2.0, 2.0, 2.00], [1.0, 1.0, 1.99]]);
        times.choose(1 << 19, &mut shapes).unwrap();
        assert_eq!(shapes.few_bins, None, "noise");
    }

    #[test]
    fn few_items_are_counted_again_as_long_as_that_wins() {
        let sizes = vec![1 << 12, 1 << 14, 1 << 16];
        let of = |recounted: &[[f64; 3]], counted: &[[f64; 3]]| {
            let [recounted, counted] = [recounted, counted].map(candidates);
            Times { sizes: sizes.clone(), recounted, counted, ..times() }.best_recounted()
        };
        let found = of(&[[1.0, 2.0, 9.0], [2.0, 1.0, 9.0]], &[[3.0, 3.0, 3.0], [9.0, 9.0, 2.0]]);
        let expected = [SizedTile { up_to: 1 << 13, shape: tile(8) }, SizedTile { up_to: 1 << 15, shape: tile(16) }];
        assert_eq!(found, expected);
        assert_eq!(of(&[[4.0, 1.0, 1.0]], &[[3.0, 3.0, 3.0]]), [], "nothing follows a size at which it loses");
        assert_eq!(of(&[[1.0, 1.0, 1.0]], &[[3.0, 3.0, 3.0]]), [SizedTile { up_to: 1 << 16, shape: tile(8) }]);
        assert_eq!(of(&[], &[]), []);
    }

    #[test]
    fn many_bins_have_the_last_of_all_tiles_behind_the_others() {
        // Few bins would have one shape everywhere, but many have the last of `tiles` then, which is bad for all sizes but the last.
        let counted = candidates(&[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]);
        let counted_many = candidates(&[[1.0, 1.0, 9.0], [9.0, 9.0, 1.0]]);
        let shapes = chosen(&Times { counted, counted_many, ..times() });
        let expected = [SizedTile { up_to: 1 << 19, shape: tile(8) }, SizedTile { up_to: u32::MAX, shape: tile(8) }];
        assert_eq!(shapes.counted[..], expected);
    }

    #[test]
    fn each_span_takes_its_best_choice() {
        let times: &[&[f64]] = &[&[1.0, 1.0, 9.0, 9.0], &[2.0, 2.0, 2.0, 9.0], &[9.0, 9.0, 9.0, 3.0]];
        let found = spans(times, times, 4);
        assert_eq!(found, [Span { end: 2, choice: 0 }, Span { end: 3, choice: 1 }, Span { end: 4, choice: 2 }]);
    }

    #[test]
    fn fewer_spans_are_kept_to() {
        let times: &[&[f64]] = &[&[1.0, 2.0, 2.0], &[2.0, 1.0, 2.0], &[2.0, 2.0, 1.0]];
        assert_eq!(spans(times, times, 3).len(), 3);
        assert_eq!(spans(times, times, 2).len(), 2);
        assert_eq!(spans(times, times, 2).last().map(|span| span.end), Some(3), "every size is served");
    }

    #[test]
    fn noise_makes_no_span() {
        let times: &[&[f64]] = &[&[1.00, 1.01, 1.00], &[1.01, 1.00, 1.01]];
        assert_eq!(spans(times, times, 4), [Span { end: 3, choice: 0 }]);
    }
}
