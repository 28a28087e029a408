//! Searches the shapes of a profile. The fewest shapes are chosen that serve all sizes well.

mod crossover;
mod search;
mod spans;

use crate::gpu::Gpu;
use crate::report::Report;
use crate::shapes::{self, Role, Shapes};
use crate::workload::{Case, Primitive};
use search::{Candidate, Group, Search, is_for_cpu};
use spans::{SPAN_COST, Span, boundary, spans};
use trommel::tuning::{ItemKind, Ranking, Shape, SizedTile, SmallMethod, SmallShape, TileShape};
use trommel::{Profile, Strategy};

/// Sizes that a single workgroup may sort.
const SMALL: &[u32] = &[1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];
/// Sizes at which tiles are timed, besides the small ones.
const LARGE: &[u32] = &[1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];
/// The most items that every workgroup may count.
const MAX_SINGLE_DISPATCH: u32 = 1 << 16;

const THREADS: &[u32] = &[64, 128, 192, 256, 320, 384, 512, 768, 1024];
const ITEMS: &[u32] = &[1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 34, 36];
const TILES: std::ops::RangeInclusive<u32> = 1 << 10..=12 << 10;

/// Shapes that a list of a profile holds.
const MAX_SHAPES: usize = 4;

/// Returns `profile` with the best shapes for each kind of items on the device, and for each operation with two
/// algorithms. `heating`: see
/// [`crate::timing::Timer::new`].
pub(crate) fn tune(
    gpu: &Gpu,
    profile: &Profile,
    strategy: Strategy,
    primitives: &[&dyn Primitive],
    heating: &Case,
    report: &mut Report,
) -> anyhow::Result<Profile> {
    report.step("tuning");
    let mut found = profile.clone();
    for kind in ItemKind::ALL {
        let groups = Role::ALL.map(|role| Group {
            kind: kind.name(),
            role: role.name(),
            works: primitives.iter().flat_map(|primitive| primitive.tuned(kind, role)).collect(),
            strategy: role.strategy(strategy),
        });
        let times = Times::measure(gpu, profile, kind, &groups, strategy, heating, report)?;
        found = times.choose(profile.radix.direct_up_to)?.put(&found, kind)?;
    }
    for crossover in primitives.iter().flat_map(|primitive| primitive.crossovers()) {
        let times = crossover::Times::measure(gpu, profile, &crossover, strategy, heating, report)?;
        found = times.choose()?.put(&found, &crossover)?;
    }
    Ok(found)
}

/// All times of a kind of items, by role.
struct Times {
    sizes: Vec<u32>,
    small: Vec<Candidate<SmallShape>>,
    single_dispatch: Vec<Candidate<TileShape>>,
    tiles: Vec<Candidate<TileShape>>,
    counted: Vec<Candidate<TileShape>>,
    counted_many: Vec<Candidate<TileShape>>,
    few_bins: Vec<Candidate<TileShape>>,
}

/// Shapes that the search times.
struct Searched {
    small: Vec<SmallShape>,
    single_dispatch: Vec<TileShape>,
    tiles: Vec<TileShape>,
}

impl Searched {
    fn new(is_cpu: bool) -> Self {
        let all: Vec<Shape> =
            THREADS.iter().flat_map(|&threads| ITEMS.iter().map(move |&items| Shape { threads, items })).collect();
        let methods = |shape: &Shape| {
            [SmallMethod::Radix, SmallMethod::Buckets, SmallMethod::Merge]
                .map(|method| SmallShape { shape: *shape, method })
        };
        let tiled = all.iter().filter(|shape| TILES.contains(&shape.tile()) && (!is_cpu || is_for_cpu(shape)));
        // CPU drivers have few lanes, and nothing to prove. The other rankings are for profiles by hand.
        let rankings: &[Ranking] =
            if is_cpu { &[Ranking::Ballots] } else { &[Ranking::Ballots, Ranking::VerifiedBySourceIndex] };
        let single_dispatch = all.iter().filter(|shape| shape.items <= 2 && (!is_cpu || is_for_cpu(shape)));
        Self {
            small: all.iter().filter(|shape| SMALL.contains(&shape.tile())).flat_map(methods).collect(),
            single_dispatch: single_dispatch.map(|&shape| shape.into()).collect(),
            tiles: tiled
                .flat_map(|&shape| rankings.iter().map(move |&ranking| TileShape { ranking, ..shape.into() }))
                .collect(),
        }
    }
}

/// The profile with shapes of one kind of items replaced. Shapes that would be taken instead of those under test are
/// removed.
fn profile_with(profile: &Profile, kind: ItemKind, shapes: &Shapes) -> trommel::Result<Profile> {
    let without = |profile: Profile, member: &str| shapes::with(&profile, kind, member, "");
    ["ranked", "merges"].into_iter().try_fold(shapes.put(profile, kind)?, without)
}

/// One tile shape for every size.
fn only_tile(shape: TileShape) -> Shapes {
    Shapes { tiles: vec![SizedTile { up_to: u32::MAX, shape }], ..Shapes::default() }
}

impl Times {
    fn measure(
        gpu: &Gpu,
        profile: &Profile,
        kind: ItemKind,
        groups: &[Group; Role::ALL.len()],
        strategy: Strategy,
        heating: &Case,
        report: &mut Report,
    ) -> anyhow::Result<Self> {
        let shapes = Searched::new(gpu.context.device().facts().is_cpu);
        let built_in = Shapes { single_dispatch: Vec::new(), ..Shapes::of(profile, kind)? };
        let works: Vec<_> = groups.iter().flat_map(|group| group.works.iter().cloned()).collect();
        let mut search = Search::new(gpu, SMALL.iter().chain(LARGE).copied(), &works, strategy, heating.clone())?;
        let [small, single_dispatch, tiles, counted, counted_many, few_bins] = groups;
        let with_small = |shape| profile_with(profile, kind, &Shapes { small: vec![shape], ..built_in.clone() });
        let with_single_dispatch = |shape| {
            let sized = SizedTile { up_to: MAX_SINGLE_DISPATCH, shape };
            profile_with(profile, kind, &Shapes { single_dispatch: vec![sized], ..built_in.clone() })
        };
        let with_tile = |shape| profile_with(profile, kind, &only_tile(shape));
        let small = search.time_all(report, small, &shapes.small, with_small, |shape, size| shape.tile() == size)?;
        let single_dispatch =
            search.time_all(report, single_dispatch, &shapes.single_dispatch, with_single_dispatch, |_, size| {
                size <= MAX_SINGLE_DISPATCH
            })?;
        let mut tiled = |group| search.time_all(report, group, &shapes.tiles, with_tile, |_, _| true);
        Ok(Self {
            small,
            single_dispatch,
            tiles: tiled(tiles)?,
            counted: tiled(counted)?,
            counted_many: tiled(counted_many)?,
            few_bins: tiled(few_bins)?,
            sizes: search.sizes,
        })
    }

    /// The best shapes. `direct_up_to`: of the profile.
    fn choose(&self, direct_up_to: u32) -> anyhow::Result<Shapes> {
        anyhow::ensure!(!self.tiles.is_empty(), "the device can run no candidate");
        let (small, first) = self.best_small();
        let times: Vec<_> = self.tiles.iter().map(|candidate| &candidate.times[first..]).collect();
        let tiles = self.sized(&self.tiles, first, &spans(&times, &times, MAX_SHAPES));
        Ok(Shapes {
            small,
            counted: self.best_counted(&tiles),
            few_bins: self.best_of_few_bins(&tiles, direct_up_to),
            single_dispatch: self.best_single_dispatch(),
            tiles,
        })
    }

    /// Returns the tiles of single-dispatch splits, in which each workgroup counts all items. These tiles serve the
    /// sizes before the first one at which counting tile by tile takes less time.
    fn best_single_dispatch(&self) -> Vec<SizedTile> {
        let wins = |index: &usize| match (best(self.single_dispatch.iter(), *index), best(self.counted.iter(), *index))
        {
            (Some((_, again)), Some((_, once))) => again < once,
            _ => false,
        };
        let end = (0..self.sizes.len()).take_while(wins).count();
        let times: Vec<_> = self.single_dispatch.iter().map(|candidate| &candidate.times[..end]).collect();
        let mut sized = self.sized(&self.single_dispatch, 0, &spans(&times, &times, MAX_SHAPES));
        if let Some(last) = sized.last_mut() {
            last.up_to = last.up_to.min(MAX_SINGLE_DISPATCH);
        }
        sized
    }

    /// Shapes of single workgroups, and the index of the first size that they do not serve.
    fn best_small(&self) -> (Vec<SmallShape>, usize) {
        let (mut shapes, mut first) = (Vec::new(), 0);
        for (index, size) in self.sizes.iter().enumerate().filter(|(_, size)| SMALL.contains(size)) {
            let alone = best(self.small.iter().filter(|candidate| candidate.shape.tile() == *size), index);
            let tiled = best(self.tiles.iter(), index);
            if let Some((shape, time)) = alone
                && tiled.is_none_or(|(_, tiled)| time < tiled)
                && shapes.len() < MAX_SHAPES
            {
                shapes.push(shape);
                first = index + 1;
            }
        }
        // If single workgroups serve every size, the largest size still decides about tiles.
        (shapes, first.min(self.sizes.len() - 1))
    }

    /// Tiles that are counted first. All but the last serve many bins, too; in place of the last, many bins take the
    /// last of `tiles`.
    fn best_counted(&self, tiles: &[SizedTile]) -> Vec<SizedTile> {
        let many = |shape| self.counted_many.iter().find(|many| many.shape == shape).map(|many| &many.times[..]);
        // Without times of many bins, those of few bins decide.
        let both = |few: &Candidate<TileShape>, shape| -> Vec<f64> {
            let many = many(shape).unwrap_or(&few.times);
            few.times.iter().zip(many).map(|(few, many)| (few * many).sqrt()).collect()
        };
        let each: Vec<_> = self.counted.iter().map(|few| both(few, few.shape)).collect();
        let last = |few: &Candidate<TileShape>| tiles.last().map_or(few.shape, |last| last.shape);
        let at_last: Vec<_> = self.counted.iter().map(|few| both(few, last(few))).collect();
        let [each, at_last] = [&each, &at_last].map(|times| times.iter().map(Vec::as_slice).collect::<Vec<_>>());
        self.sized(&self.counted, 0, &spans(&each, &at_last, MAX_SHAPES))
    }

    /// The tile for few bins, if it gains [`SPAN_COST`] at the sizes that would take it: those above `direct_up_to`.
    fn best_of_few_bins(&self, tiles: &[SizedTile], direct_up_to: u32) -> Option<TileShape> {
        let tile = |n: u32| tiles.iter().find(|sized| n <= sized.up_to).filter(|sized| sized.up_to > direct_up_to);
        let served: Vec<_> =
            self.sizes.iter().enumerate().filter_map(|(index, n)| Some((index, tile(*n)?.shape))).collect();
        let time = |shape: TileShape, index: usize| {
            let candidate = self.few_bins.iter().find(|candidate| candidate.shape == shape);
            candidate.map_or(f64::INFINITY, |candidate| candidate.times[index].ln())
        };
        let by_one = |shape| served.iter().map(|(index, _)| time(shape, *index)).sum::<f64>();
        let by_tiles = served.iter().map(|(index, tile)| time(*tile, *index)).sum::<f64>();
        let costs = self.few_bins.iter().map(|candidate| (candidate.shape, by_one(candidate.shape)));
        let (shape, cost) = costs.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (cost + SPAN_COST < by_tiles).then_some(shape)
    }

    /// The choices of spans over the sizes from index `first` on.
    fn sized(&self, candidates: &[Candidate<TileShape>], first: usize, spans: &[Span]) -> Vec<SizedTile> {
        let sized = spans.iter().map(|Span { end, choice }| SizedTile {
            up_to: boundary(&self.sizes, first + end),
            shape: candidates[*choice].shape,
        });
        sized.collect()
    }
}

fn best<'a, S: Copy + 'a>(candidates: impl Iterator<Item = &'a Candidate<S>>, index: usize) -> Option<(S, f64)> {
    candidates.map(|candidate| (candidate.shape, candidate.times[index])).min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::any_profile;

    #[test]
    fn every_kind_has_its_part_of_a_profile() {
        let mut profile = any_profile();
        for kind in ItemKind::ALL {
            assert!(!Shapes::of(&profile, kind).unwrap().tiles.is_empty());
            let few = Shapes { few_bins: Some(tile(2)), small: vec![SmallShape::merge(64, 2)], ..only_tile(tile(3)) };
            profile = few.put(&profile, kind).unwrap();
            assert_eq!(Shapes::of(&profile, kind).unwrap(), few);
        }
        for kind in ItemKind::ALL {
            assert_eq!(profile.radix[kind].few_bins, Some(tile(2)));
            assert_eq!(profile.sort[kind].small[..], [SmallShape::merge(64, 2)]);
            assert!(profile.split[kind].single_dispatch.is_empty());
        }
    }

    fn tile(items: u32) -> TileShape {
        Shape { threads: 128, items }.into()
    }

    /// Tiles of 8, 16 and so on items a thread, and their times.
    fn candidates<const N: usize>(times: &[[f64; N]]) -> Vec<Candidate<TileShape>> {
        times.iter().zip(1..).map(|(times, i)| Candidate { shape: tile(8 * i), times: times.to_vec() }).collect()
    }

    /// Times of two tile shapes: the smaller one is faster up to 2^18, the larger one above.
    fn times() -> Times {
        let [tiles, counted, counted_many, few_bins] =
            [(); 4].map(|()| candidates(&[[1.0, 1.0, 2.0], [2.0, 2.0, 1.0]]));
        let sizes = vec![1 << 16, 1 << 18, 1 << 20];
        Times { sizes, small: Vec::new(), tiles, counted, counted_many, few_bins, single_dispatch: Vec::new() }
    }

    fn chosen(times: &Times) -> Shapes {
        times.choose(1 << 18).unwrap()
    }

    #[test]
    fn sizes_are_cut_half_way() {
        let shapes = chosen(&times());
        let expected = [SizedTile { up_to: 1 << 19, shape: tile(8) }, SizedTile { up_to: u32::MAX, shape: tile(16) }];
        assert_eq!(shapes.tiles[..], expected);
        assert_eq!(shapes.counted[..], expected);
        assert!(shapes.small.is_empty());
        assert_eq!(shapes.few_bins, None, "tiles do for few bins too");
    }

    #[test]
    fn few_bins_have_a_shape_where_it_gains_something() {
        let few_bins = candidates(&[[1.0, 1.0, 1.5], [2.0, 2.0, 2.0], [9.0, 9.0, 1.0]]);
        let mut times = Times { few_bins, ..times() };
        assert_eq!(chosen(&times).few_bins, Some(tile(8)), "of all sizes: those of 2^18 have tiles of up to 2^19");
        let few_bins = |times: &Times| times.choose(1 << 19).unwrap().few_bins;
        assert_eq!(few_bins(&times), Some(tile(24)), "of the last size alone, as tiles of up to 2^19 stay");
        times.few_bins = candidates(&[[1.0, 1.0, 2.00], [2.0, 2.0, 2.00], [1.0, 1.0, 1.99]]);
        assert_eq!(few_bins(&times), None, "noise");
    }

    #[test]
    fn single_dispatch_splits_serve_the_counts_at_which_they_win() {
        let sizes = vec![1 << 12, 1 << 14, 1 << 16];
        let of = |single_dispatch: &[[f64; 3]], counted: &[[f64; 3]]| {
            let [single_dispatch, counted] = [single_dispatch, counted].map(candidates);
            Times { sizes: sizes.clone(), single_dispatch, counted, ..times() }.best_single_dispatch()
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
        // One shape is best for few bins at every size. Many bins then use the last of `tiles`, which is slow at all
        // sizes but the last.
        let counted = candidates(&[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]);
        let counted_many = candidates(&[[1.0, 1.0, 9.0], [9.0, 9.0, 1.0]]);
        let shapes = chosen(&Times { counted, counted_many, ..times() });
        let expected = [SizedTile { up_to: 1 << 19, shape: tile(8) }, SizedTile { up_to: u32::MAX, shape: tile(8) }];
        assert_eq!(shapes.counted[..], expected);
    }
}
