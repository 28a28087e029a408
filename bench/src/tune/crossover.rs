//! Searches the shapes of an operation with two algorithms, one for small counts and one for large counts, and the
//! count between them.

use super::search::{Candidate, Group, Search, is_for_cpu};
use super::spans::boundary;
use crate::gpu::Gpu;
use crate::report::Report;
use crate::workload::{Case, Crossover};
use std::ops::Range;
use trommel::tuning::Shape;
use trommel::{Profile, Strategy};

/// The times of both algorithms.
pub(super) struct Times {
    sizes: Vec<u32>,
    small: Vec<Candidate<Shape>>,
    large: Vec<Candidate<Shape>>,
}

/// The values of the three lines of a [`Crossover`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    small: Shape,
    large: Shape,
    up_to: u32,
}

impl Times {
    /// Times both algorithms with all shapes at all sizes.
    pub(super) fn measure(
        gpu: &Gpu,
        profile: &Profile,
        crossover: &Crossover,
        strategy: Strategy,
        heating: &Case,
        report: &mut Report,
    ) -> anyhow::Result<Self> {
        let is_cpu = gpu.context.device().facts().is_cpu;
        let works = vec![crossover.work.clone()];
        let mut search = Search::new(gpu, crossover.sizes.iter().copied(), &works, strategy, heating.clone())?;
        let shapes: Vec<_> = crossover.shapes.iter().copied().filter(|shape| !is_cpu || is_for_cpu(shape)).collect();
        let mut time = |role, line: &str, up_to: u32| {
            let with_shape = |shape: Shape| {
                profile.with_line(line, &shape.to_string())?.with_line(&crossover.up_to, &up_to.to_string())
            };
            let group = Group { kind: crossover.kind, role, works: works.clone(), strategy };
            search.time_all(report, &group, &shapes, with_shape, |_, _| true)
        };
        let small = time("small", &crossover.small, u32::MAX)?;
        let large = time("large", &crossover.large, 0)?;
        Ok(Self { sizes: search.sizes, small, large })
    }

    /// The shapes and the count between them with the least product of all times. If one algorithm serves all sizes,
    /// the other one has the shape that is best at the size nearest to its own.
    pub(super) fn choose(&self) -> anyhow::Result<Choice> {
        let sizes = self.sizes.len();
        let cost = |candidate: &Candidate<Shape>, served: Range<usize>| -> f64 {
            candidate.times[served].iter().map(|time| time.ln()).sum()
        };
        let best = |candidates: &'_ [Candidate<Shape>], served: Range<usize>| {
            let costs = candidates.iter().map(|candidate| (candidate.shape, cost(candidate, served.clone())));
            costs.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let cut = |end: usize| {
            let (small, small_cost) = best(&self.small, 0..end.max(1))?;
            let (large, large_cost) = best(&self.large, end.min(sizes - 1)..sizes)?;
            let costs = [(end != 0, small_cost), (end != sizes, large_cost)];
            let total: f64 = costs.iter().filter(|(is_used, _)| *is_used).map(|(_, cost)| cost).sum();
            Some((Choice { small, large, up_to: boundary(&self.sizes, end) }, total))
        };
        let choice = (0..=sizes).filter_map(cut).min_by(|a, b| a.1.total_cmp(&b.1));
        choice.map(|(choice, _)| choice).ok_or_else(|| anyhow::anyhow!("the device can run no candidate"))
    }
}

impl Choice {
    /// `profile` with these values.
    pub(super) fn put(self, profile: &Profile, crossover: &Crossover) -> trommel::Result<Profile> {
        let Self { small, large, up_to } = self;
        profile
            .with_line(&crossover.small, &small.to_string())?
            .with_line(&crossover.large, &large.to_string())?
            .with_line(&crossover.up_to, &up_to.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use crate::primitives::{PRIMITIVES, heating};
    use clap::Parser as _;

    fn shape(items: u32) -> Shape {
        Shape { threads: 128, items }
    }

    /// Shapes of 1, 2 and so on items a thread, and their times.
    fn candidates<const N: usize>(times: &[[f64; N]]) -> Vec<Candidate<Shape>> {
        times.iter().zip(1..).map(|(times, i)| Candidate { shape: shape(i), times: times.to_vec() }).collect()
    }

    fn chosen(small: &[[f64; 3]], large: &[[f64; 3]]) -> Choice {
        let [small, large] = [small, large].map(candidates);
        Times { sizes: vec![1 << 16, 1 << 18, 1 << 20], small, large }.choose().unwrap()
    }

    fn choice(small: u32, large: u32, up_to: u32) -> Choice {
        Choice { small: shape(small), large: shape(large), up_to }
    }

    #[test]
    fn each_algorithm_serves_the_sizes_where_it_wins() {
        // The second shape would be best for small counts if these reached the last size.
        let small = [[1.0, 2.0, 9.0], [1.5, 2.0, 6.0]];
        assert_eq!(chosen(&small, &[[3.0, 3.0, 3.0], [4.0, 4.0, 2.0]]), choice(1, 2, 1 << 19));
        assert_eq!(chosen(&small, &[[3.0, 1.0, 3.0], [4.0, 4.0, 2.0]]), choice(1, 1, 1 << 17));
    }

    #[test]
    fn an_algorithm_that_serves_no_size_has_a_shape_all_the_same() {
        let [fast, slow] = [[[2.0, 1.0, 1.0], [1.0, 2.0, 2.0]], [[9.0, 9.0, 8.0], [8.0, 8.0, 9.0]]];
        assert_eq!(chosen(&fast, &slow), choice(1, 1, u32::MAX));
        assert_eq!(chosen(&slow, &fast), choice(2, 1, 0));
        let times = Times { sizes: vec![1], small: Vec::new(), large: Vec::new() };
        assert_eq!(times.choose().unwrap_err().to_string(), "the device can run no candidate");
    }

    #[test]
    fn a_crossover_is_searched_on_the_device() {
        let args = Args::try_parse_from(["trommel-bench"]).unwrap();
        let gpu = Gpu::open(&args).unwrap();
        let built_in = gpu.context.device().profile();
        let first =
            PRIMITIVES.iter().flat_map(|primitive| primitive.crossovers()).next().expect("some primitive has one");
        // Few shapes and counts: creating pipelines takes time.
        let crossover = Crossover { sizes: &[1 << 9, 1 << 10], shapes: vec![shape(1), shape(2)], ..first };
        let mut report = Report::new(0);
        let times = Times::measure(&gpu, built_in, &crossover, Strategy::Auto, &heating(), &mut report).unwrap();
        for candidates in [&times.small, &times.large] {
            assert_eq!(candidates.iter().map(|candidate| candidate.shape).collect::<Vec<_>>(), [shape(1), shape(2)]);
            let all: Vec<f64> = candidates.iter().flat_map(|candidate| candidate.times.clone()).collect();
            assert!(all.len() == 4 && all.iter().all(|time| *time > 0.0 && time.is_finite()), "{all:?}");
        }
        let choice = times.choose().unwrap();
        let profile = choice.put(built_in, &crossover).unwrap().to_string();
        let lines = [
            (&crossover.small, choice.small.to_string()),
            (&crossover.large, choice.large.to_string()),
            (&crossover.up_to, choice.up_to.to_string()),
        ];
        for (name, value) in lines {
            assert!(profile.lines().any(|line| line == format!("{name} = {value}")), "{name} = {value}: {profile}");
        }
    }
}
