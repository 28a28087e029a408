//! One context for each profile and process: pipelines take long on CPU drivers.

use super::at_exit::at_exit;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use trommel::Strategy;
use trommel::host::{Context, ContextInfo};
use trommel::tuning::{
    Hooks, ItemKind, Profile, Ranking, Shape, SizedMerge, SizedRank, SizedTile, SmallShape, TileShape, radix,
};

/// A profile to test on whatever driver the environment selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    /// The built-in profile of the device.
    Native,
    /// Hardware subgroups of a size that the device chooses, tiny tiles, two tile shapes with odd items, at most 7
    /// workgroups in x.
    Folded,
    /// Emulated subgroups with this number of lanes.
    Emulated(u32),
    /// The smallest workgroups, and the device's maximum number of workgroups in x. In merges, threads have many words
    /// of long keys.
    Narrow,
    /// Tiny tiles, always with a prepare pass, and long keys by prefixes up to a count of 3000.
    Prefixes,
    /// Every third tile is delayed, and the others wait for this number of polls.
    Late(u32),
}

impl Setup {
    /// The setup's part of test names.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Emulated(lanes) => format!("emulated_{lanes}"),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    fn profile(self, native: &Context) -> Option<Profile> {
        let facts = native.device().facts();
        let widest = facts.max_lanes.max(64);
        // Few workgroups for many tiles. Lavapipe ends all loops of an invocation at a number of iterations together.
        // These workgroups therefore wait briefly: if the thread of one gets no processor time, the other must not
        // reach that number.
        let groups = if matches!(self, Self::Folded | Self::Emulated(32)) { 2 } else { 0 };
        let built_in = native.device().profile();
        let spin_limit = if groups != 0 && facts.is_cpu { 8 } else { built_in.spin_limit };
        let profile = |lanes, threads, tiles: &[SizedTile]| {
            let second = match self {
                // Merging uses no subgroups: one setup suffices, the one that runs every kind of sort.
                Self::Folded => SmallShape::merge(threads, 4),
                Self::Emulated(32) | Self::Narrow => SmallShape::buckets(threads, 2),
                _ => SmallShape::radix(threads, 2),
            };
            // Small, so that few keys need tiles.
            let segments =
                if self == Self::Folded { SmallShape::merge(threads, 4) } else { SmallShape::radix(threads, 2) };
            // Two shapes of one-workgroup sorts, for smaller and for larger problems.
            let ranked = SizedRank {
                above: threads / 2 + 5,
                above_in_place: threads + 6,
                up_to: second.tile() - 6,
                threads,
                items: 16,
            };
            // Few workgroups, and fewer items than the tests have for tiles.
            let few = SizedTile { up_to: 2 * threads + 20, shape: Shape { threads, items: 1 }.into() };
            let ranks = matches!(self, Self::Folded | Self::Emulated(32) | Self::Narrow);
            let singles = matches!(self, Self::Folded | Self::Emulated(_));
            let mut profile = Profile {
                lanes,
                // Tiny, so that entries are reused often.
                hooks: Hooks { ring_entries: 8, ring_reach: 3, ..Hooks::default() },
                plain_threads: threads,
                max_groups_x: 7,
                spin_limit,
                ..built_in.clone()
            };
            for kind in ItemKind::ALL {
                let tiles = tiles.iter().copied().collect();
                profile.radix[kind] = radix::Shapes { tiles, ring: None, few_bins: None, segments };
            }
            if self == Self::Emulated(32) {
                // Segments of long keys are merged, also with emulated subgroups.
                profile.radix.long.segments = SmallShape::merge(threads, 2);
            }
            // Few, so that a workgroup's chunk has several tiles and spans problems.
            profile.radix.histogram_groups = 5;
            profile.radix.direct_up_to = 1000;
            profile.radix.all_digits_up_to = 7 * threads;
            // Small, so that few items need two levels.
            profile.merge.fan = 4;
            let finish = Shape { threads, items: 2 };
            let members: &[(&str, &dyn Display)] = &[
                ("ranked", if ranks { &ranked } else { &"" }),
                ("small", &format_args!("{} {second}", SmallShape::radix(threads, 1))),
                ("merges", &""),
                // Few items need two levels.
                ("by_comparator", &format_args!("{}:{threads}x1/{threads}x3", u32::MAX)),
                ("finish", &finish),
                ("counted", &""),
                ("single_dispatch", if singles { &few } else { &"" }),
                // Few items need two dispatches.
                ("tile", &Shape { threads, items: 2 }),
                ("fused", &Shape { threads, items: 3 }),
                ("fused_up_to", &(7 * threads)),
            ];
            with_members(profile, members)
        };
        let ranking = match self {
            Self::Folded | Self::Emulated(32) => Ranking::VerifiedBySourceIndex,
            _ => Ranking::Ballots,
        };
        let sized = |up_to, threads, items| SizedTile {
            up_to,
            shape: TileShape { ranking, swizzled: groups != 0, groups, ..Shape { threads, items }.into() },
        };
        let merging = |up_to, profile: Profile| {
            let shape = |items| Shape { threads: profile.plain_threads, items };
            let sized = |up_to, items| SizedMerge { up_to, run: shape(1), window: shape(items) };
            let merges = format!("{} {}", sized(up_to / 2, 3), sized(up_to, 2));
            with_members(profile, &[("merges", &merges)])
        };
        let ranking_small =
            |ranking: Ranking, profile: Profile| with_members(profile, &[("small_ranking", &ranking.name())]);
        Some(match self {
            Self::Native => return None,
            Self::Folded => {
                // Two shapes double the number of pipelines. SwiftShader omits the first: its direct sorts run in the
                // tests of kernels.
                let tiles = [sized(1000, widest, 1), sized(u32::MAX, widest, 3)];
                let tiny = profile(0, widest, &tiles[usize::from(super::brief() && facts.max_lanes == 4)..]);
                let merging = merging(if facts.max_lanes == 8 { 0 } else { 700 }, tiny);
                // Shapes of splits of few items by `Auto`.
                Profile { strategy: Strategy::Lookback, ..ranking_small(Ranking::Verified, merging) }
            }
            Self::Emulated(lanes) => {
                let mut tiny = profile(lanes, 128, &[sized(900, 128, 2), sized(u32::MAX, 128, 2)]);
                tiny.hooks.wrong_ranks = lanes == 32;
                tiny.emulated_subgroups = true;
                // The setup in which every kind of sort runs.
                let merging = merging(if lanes == 32 && !super::brief() { 1200 } else { 0 }, tiny);
                ranking_small(if lanes == 32 { Ranking::Verified } else { Ranking::Ballots }, merging)
            }
            Self::Narrow => {
                let mut tiny = profile(0, widest, &[sized(u32::MAX, widest, 2)]);
                for shapes in [&mut tiny.merge.long, &mut tiny.merge.long_pairs] {
                    (shapes.tile.items, shapes.fused.items, shapes.fused_up_to) = (19, 19, 40 * widest);
                }
                Profile { max_groups_x: built_in.max_groups_x, ..tiny }
            }
            Self::Prefixes => {
                let mut tiny = profile(0, widest, &[sized(u32::MAX, widest, 2)]);
                (tiny.radix.direct_up_to, tiny.radix.all_digits_up_to) = (0, 2000);
                with_members(tiny, &[("prefixes_up_to", &3000)])
            }
            Self::Late(spin_limit) => {
                let mut tiny = profile(0, widest, &[sized(u32::MAX, widest, 2)]);
                (tiny.spin_limit, tiny.hooks.delay_every) = (spin_limit, 3);
                tiny
            }
        })
    }
}

/// `profile` with other values in the lines of these members.
fn with_members(profile: Profile, members: &[(&str, &dyn Display)]) -> Profile {
    let with = |profile: Profile, (member, value): &(&str, &dyn Display)| {
        profile.with_member(member, &value.to_string()).expect("the profile has the member")
    };
    members.iter().fold(profile, with)
}

/// The third of the product that runs on this driver: drivers with 4, 8 and 16 lanes share it. None: all of it, for
/// devices, which are fast enough.
pub(crate) fn share() -> Option<usize> {
    let lanes = context(Setup::Native).device().facts().max_lanes;
    (lanes <= 16 && !super::full()).then_some((lanes / 8) as usize)
}

/// Whether a case of the product belongs to the [`share`] of this driver.
pub(crate) fn is_shared_here(index: usize) -> bool {
    share().is_none_or(|share| index % 3 == share)
}

/// Sizes of emulated subgroups for each share. Emulated subgroups behave alike on all drivers.
pub(crate) const EMULATED: [u32; 3] = [64, 32, 128];

/// Setups that run on this driver: hardware subgroups and, unless pipeline creation is slow, emulated ones.
pub(crate) fn setups() -> Vec<Setup> {
    let emulated = match share() {
        _ if super::brief() => &[][..],
        Some(share) => &EMULATED[share..=share],
        None => &EMULATED,
    };
    [Setup::Native, Setup::Folded].into_iter().chain(emulated.iter().map(|lanes| Setup::Emulated(*lanes))).collect()
}

static OPEN: Mutex<Vec<(Setup, Context)>> = Mutex::new(Vec::new());

/// The context of a profile, opened on first use and kept.
pub(crate) fn context(setup: Setup) -> Context {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut get = |setup: Setup, info: ContextInfo| {
        if let Some((_, context)) = open.iter().find(|(known, _)| *known == setup) {
            return context.clone();
        }
        let context = Context::with(&info).unwrap_or_else(|error| panic!("{setup:?}: {error}"));
        // Tests use only about half of the pipelines that a sorter may need.
        if context.device().facts().is_cpu && !super::full() {
            context.device().make_pipelines_late();
        }
        open.push((setup, context.clone()));
        at_exit(|| OPEN.lock().unwrap_or_else(PoisonError::into_inner).clear());
        context
    };
    let native = get(Setup::Native, ContextInfo::default());
    let profile = setup.profile(&native);
    get(setup, ContextInfo { profile, ..ContextInfo::default() })
}

/// Checks that the validation layer, if it is on, has reported nothing. Every test ends with this check.
pub(crate) fn assert_silence(context: &Context) {
    super::coverage::collect(context);
    let messages = context.messages();
    assert!(messages.is_empty(), "the validation layer says:\n{}", messages.join("\n"));
}
