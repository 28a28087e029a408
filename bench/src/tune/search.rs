//! The search: every candidate is verified, then timed at every size. It knows neither primitives nor the members of a
//! profile.

use crate::gpu::Gpu;
use crate::handles::Handles;
use crate::inputs::{Keys, Sources};
use crate::job::{self, Job};
use crate::problems::Problems;
use crate::report::Report;
use crate::timing::Timer;
use crate::workload::{Case, Workload};
use serde_json::json;
use std::fmt::Display;
use std::sync::Arc;
use std::thread;
use trommel::tuning::{Shape, SmallShape, TileShape};
use trommel::{Error, Profile, Strategy};

/// On a CPU only the search itself can be tried: at counts and tiles up to this.
const MAX_ON_CPU: u32 = 1 << 11;

/// Whether the search tries a shape on a CPU.
pub(super) fn is_for_cpu(shape: &Shape) -> bool {
    shape.threads == 128 && shape.tile() <= MAX_ON_CPU
}

/// The batch by which candidates are verified: numbers of problems and their keys. On a CPU the first, without the
/// largest problems.
const BATCHES: [&[(u32, u32)]; 2] =
    [&[(2, 65), (1, 257), (1, 700)], &[(2, 65), (1, 257), (1, 700), (1, 3000), (1, 9000)]];
/// Candidates are verified by the first of these keys at every count, and by the others at the first count.
const VERIFIED_KEYS: [Keys; 4] = [Keys::Random, Keys::LowEntropy, Keys::Constant, Keys::Reversed];

/// A shape that is searched.
pub(super) trait Searched: Copy + Display + Send + Sync {
    /// Counts at which a candidate is verified: parts of tiles, whole tiles, and counts around them.
    fn verified_at(self) -> Vec<u32>;
}

impl Searched for SmallShape {
    fn verified_at(self) -> Vec<u32> {
        let tile = self.tile();
        [tile / 2 + 1, 1, 65, 257, 700, tile - 1, tile].into_iter().filter(|n| *n <= tile).collect()
    }
}

impl Searched for Shape {
    fn verified_at(self) -> Vec<u32> {
        let tile = self.tile();
        [3 * tile + 77, 65, 257, 700, tile - 1, tile, tile + 1].into_iter().filter(|n| *n != 0).collect()
    }
}

impl Searched for TileShape {
    fn verified_at(self) -> Vec<u32> {
        self.shape.verified_at()
    }
}

/// Workloads that are timed together: the time of a shape is the geometric mean.
pub(super) struct Group {
    /// As comments and the record name it: the kind of items, and the role.
    pub(super) kind: &'static str,
    pub(super) role: &'static str,
    pub(super) works: Vec<Arc<dyn Workload>>,
    pub(super) strategy: Strategy,
}

/// A shape and its time at each size.
pub(super) struct Candidate<S> {
    pub(super) shape: S,
    pub(super) times: Vec<f64>,
}

/// A shape and the handles of a library with that shape.
type Prepared<S> = (S, Handles);

pub(super) struct Search<'a> {
    gpu: &'a Gpu,
    is_cpu: bool,
    pub(super) sizes: Vec<u32>,
    timer: Timer<'a>,
    sources: Sources,
}

impl<'a> Search<'a> {
    /// Keeps those of `sizes` at which every one of `works` fits the memory of the device. `heating`: see
    /// [`Timer::new`].
    pub(super) fn new(
        gpu: &'a Gpu,
        sizes: impl Iterator<Item = u32>,
        works: &[Arc<dyn Workload>],
        strategy: Strategy,
        heating: Case,
    ) -> anyhow::Result<Self> {
        let is_cpu = gpu.context.device().facts().is_cpu;
        let mut handles = Handles::new(&gpu.context, gpu.context.device(), strategy).for_batches();
        works.iter().try_for_each(|work| work.prepare(1, &mut handles).map(|_| ()))?;
        let mut memory = |n: u32| {
            let memory =
                works.iter().map(|work| job::memory(work.prepare(n, &mut handles)?.as_ref(), work.item_count(n)));
            memory.collect::<Result<Vec<_>, _>>().map(|memory| memory.into_iter().max())
        };
        let fits =
            |n: &u32| memory(*n).is_ok_and(|most| most <= Some(gpu.about.memory)) && !(is_cpu && *n > MAX_ON_CPU);
        let sizes: Vec<_> = sizes.filter(fits).collect();
        anyhow::ensure!(!sizes.is_empty(), "the device has memory for no size");
        Ok(Self { gpu, is_cpu, sizes, timer: Timer::new(gpu, heating)?, sources: Sources::default() })
    }

    /// Times all shapes that the device can run and that pass verification, at the sizes that they serve. A time at
    /// another size is infinite. `profile` returns the profile with a shape.
    pub(super) fn time_all<S: Searched>(
        &mut self,
        report: &mut Report,
        group: &Group,
        shapes: &[S],
        profile: impl Fn(S) -> trommel::Result<Profile> + Sync,
        serves: impl Fn(S, u32) -> bool,
    ) -> anyhow::Result<Vec<Candidate<S>>> {
        let prepared = self.prepare(group, shapes, profile)?;
        let mut right = self.right(report, group, prepared)?;
        let mut candidates: Vec<_> =
            right.iter().map(|(shape, _)| Candidate { shape: *shape, times: Vec::new() }).collect();
        for n in self.sizes.clone() {
            let mut served: Vec<_> =
                right.iter_mut().filter(|(shape, _)| serves(*shape, n)).map(|(_, handles)| handles).collect();
            let mut times = self.time(group, &mut served, n)?.into_iter();
            for candidate in &mut candidates {
                let time = if serves(candidate.shape, n) { times.next() } else { None };
                candidate.times.push(time.unwrap_or(f64::INFINITY));
            }
        }
        self.report(report, group, &candidates);
        Ok(candidates)
    }

    /// The handles of a group for all shapes that the device can run, created on all cores: a search spends most of its
    /// time on pipelines.
    fn prepare<S: Copy + Send + Sync>(
        &self,
        group: &Group,
        shapes: &[S],
        profile: impl Fn(S) -> trommel::Result<Profile> + Sync,
    ) -> trommel::Result<Vec<Prepared<S>>> {
        let prepare = |shape: S| {
            let handles = || {
                let library = self.gpu.library(&profile(shape)?)?;
                let mut handles = Handles::new(&self.gpu.context, &library, group.strategy).for_batches();
                group.works.iter().try_for_each(|work| work.prepare(1, &mut handles).map(|_| ()))?;
                Ok(handles)
            };
            match handles() {
                Ok(handles) => Ok(Some((shape, handles))),
                // The device cannot run the shape.
                Err(Error::Malformed { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let prepared: Vec<_> = thread::scope(|scope| {
            let parts = shapes.chunks(shapes.len().div_ceil(threads).max(1));
            let threads: Vec<_> = parts
                .map(|part| scope.spawn(|| part.iter().map(|shape| prepare(*shape)).collect::<Vec<_>>()))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        prepared.into_iter().filter_map(Result::transpose).collect()
    }

    /// Returns the candidates with outputs equal to the CPU's. A wrong candidate is never timed and cannot be chosen.
    fn right<S: Searched>(
        &mut self,
        report: &mut Report,
        group: &Group,
        prepared: Vec<Prepared<S>>,
    ) -> trommel::Result<Vec<Prepared<S>>> {
        let mut right = Vec::new();
        for (shape, mut handles) in prepared {
            match self.verify(group, shape, &mut handles)? {
                Ok(()) => right.push((shape, handles)),
                Err(what) => report.comment(&format!("tune {} {} {shape}: WRONG {what}", group.kind, group.role)),
            }
        }
        Ok(right)
    }

    /// Runs every workload of a group once for each case to verify, and compares with the CPU.
    fn verify<S: Searched>(
        &mut self,
        group: &Group,
        shape: S,
        handles: &mut Handles,
    ) -> trommel::Result<Result<(), String>> {
        for work in &group.works {
            let cases = cases_to_verify(work, &shape.verified_at(), BATCHES[usize::from(!self.is_cpu)]);
            for case in cases.into_iter().filter(|case| !self.is_cpu || case.n <= MAX_ON_CPU) {
                let operation = case.work.prepare(case.n, handles)?;
                let job = Job::new(&self.gpu.context, &mut self.sources, case, operation)?;
                self.gpu.context.run(|commands| {
                    job.restore(commands)?;
                    Ok(())
                })?;
                self.gpu.context.run(|commands| job.record(commands, None))?;
                if let Err(what) = job.output()?.check() {
                    return Ok(Err(what));
                }
            }
        }
        Ok(Ok(()))
    }

    /// For each candidate the geometric mean of the times of all workloads.
    fn time(&mut self, group: &Group, candidates: &mut [&mut Handles], n: u32) -> trommel::Result<Vec<f64>> {
        let mut sums = vec![0.0; candidates.len()];
        for work in &group.works {
            // All candidates use the memory of the first: creating memory takes longer than a run.
            let mut last: Option<Job> = None;
            for (sum, handles) in sums.iter_mut().zip(candidates.iter_mut()) {
                let operation = work.prepare(n, handles)?;
                let job = match last.take() {
                    Some(job) => job.with(operation),
                    None => Job::new(&self.gpu.context, &mut self.sources, case(work, n), operation),
                }?;
                *sum += self.timer.measure(&job)?.median().ln();
                last = Some(job);
            }
        }
        Ok(sums.into_iter().map(|sum| (sum / group.works.len() as f64).exp()).collect())
    }

    /// Prints the best times, and adds all times to the record.
    fn report<S: Display>(&self, report: &mut Report, group: &Group, candidates: &[Candidate<S>]) {
        let (kind, role) = (group.kind, group.role);
        for (index, size) in self.sizes.iter().enumerate() {
            let mut ranked: Vec<_> = candidates.iter().filter(|candidate| candidate.times[index].is_finite()).collect();
            ranked.sort_by(|a, b| a.times[index].total_cmp(&b.times[index]));
            let ranked = ranked.iter().take(5).map(|c| format!("{} {:.1}", c.shape, c.times[index] * 1e3));
            let ranked: Vec<_> = ranked.collect();
            if !ranked.is_empty() {
                report.comment(&format!("tune {kind} {role} {size}: {} us", ranked.join(", ")));
            }
        }
        let times = candidates
            .iter()
            .map(|c| json!({ "shape": c.shape.to_string(), "median_ms": c.times }))
            .collect::<Vec<_>>();
        report.keep(&format!("tune_{kind}_{role}"), json!({ "n": self.sizes, "candidates": times }));
    }
}

/// The cases that verify a workload: random keys at all counts, other keys at the first, and a batch where the
/// primitive has any.
fn cases_to_verify(work: &Arc<dyn Workload>, counts: &[u32], groups: &'static [(u32, u32)]) -> Vec<Case> {
    let all = VERIFIED_KEYS.iter().zip([counts.len(), 1, 1, 1]);
    let singles = all.flat_map(|(keys, most)| counts.iter().take(most).map(|n| case(&work.with_keys(*keys), *n)));
    singles.chain(work.batch(groups).map(|work| case(&work, Problems::batch_size(groups)))).collect()
}

fn case(work: &Arc<dyn Workload>, n: u32) -> Case {
    Case { name: "tune".into(), work: work.clone(), n }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use crate::primitives::{PRIMITIVES, heating};
    use crate::shapes::Role;
    use clap::Parser as _;
    use trommel::tuning::ItemKind;
    use trommel::tuning::Shape;
    use trommel::{Order, Sorter, SorterInfo};

    fn works(kind: ItemKind, role: Role) -> Vec<Arc<dyn Workload>> {
        PRIMITIVES.iter().flat_map(|primitive| primitive.tuned(kind, role)).collect()
    }

    #[test]
    fn wrong_candidates_are_left_out() {
        let args = Args::try_parse_from(["trommel-bench"]).unwrap();
        let gpu = Gpu::open(&args).unwrap();
        // The test runs few of the pipelines that handles may need.
        gpu.context.device().make_pipelines_late();
        let group = Group {
            kind: "pairs",
            role: "small",
            works: works(ItemKind::Pairs, Role::Small),
            strategy: Strategy::Auto,
        };
        let mut search = Search::new(&gpu, std::iter::once(1024), &group.works, Strategy::Auto, heating()).unwrap();
        let library = gpu.context.device();
        let sorted = |order| {
            let mut handles = Handles::new(&gpu.context, library, Strategy::Auto).for_batches();
            let info = SorterInfo::pairs().batches();
            handles.insert(info, Sorter::new(library, &SorterInfo { order, ..info }).unwrap());
            handles
        };
        let shapes = [SmallShape::radix(128, 2), SmallShape::radix(128, 1)];
        let prepared = vec![(shapes[0], sorted(Order::Descending)), (shapes[1], sorted(Order::Ascending))];
        let right = search.right(&mut Report::new(0), &group, prepared).unwrap();
        assert_eq!(right.iter().map(|(shape, _)| *shape).collect::<Vec<_>>(), [shapes[1]]);
    }

    #[test]
    fn candidates_are_verified_by_parts_of_tiles_and_by_batches() {
        let tile: TileShape = Shape { threads: 128, items: 8 }.into();
        for (kind, role) in ItemKind::ALL.iter().flat_map(|kind| Role::ALL.map(|role| (*kind, role))) {
            for work in works(kind, role) {
                let cases = cases_to_verify(&work, &tile.verified_at(), BATCHES[1]);
                let counts: Vec<u32> = cases.iter().map(|case| case.n).collect();
                assert!([1023, 1024, 1025, 3 * 1024 + 77].iter().all(|n| counts.contains(n)), "{counts:?}");
                let batches = counts.iter().filter(|n| **n == Problems::batch_size(BATCHES[1])).count();
                assert_eq!(batches, usize::from(matches!(role, Role::Small | Role::Tiles)), "{work:?}");
                let has = |keys: &Keys| {
                    cases.iter().any(|case| format!("{:?}", case.work).contains(&format!("keys: {keys:?}")))
                };
                assert!(VERIFIED_KEYS.iter().all(has), "{work:?}");
            }
        }
        let small = SmallShape::merge(64, 16).verified_at();
        assert!(
            small.contains(&1024) && small.iter().all(|n| (1..=1024).contains(n)),
            "one workgroup has room for all: {small:?}"
        );
    }
}
