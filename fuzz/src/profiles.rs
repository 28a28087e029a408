//! Random profiles: every line that a profile may have, drawn so that the device can run it.

use crate::PRIMITIVES;
use crate::random::Random;
use anyhow::Context as _;
use trommel::tuning::{ItemKind, Ranking, Shape, SizedTile, SmallShape};
use trommel::{DeviceFacts, Profile, Strategy};

/// The lines in which a profile differs from another one, as `--set` takes them.
pub fn differences(profile: &Profile, from: &Profile) -> Vec<(String, String)> {
    let [these, those] = [profile, from].map(ToString::to_string);
    let lines = these.lines().filter(|this| !those.lines().any(|that| that == *this));
    lines
        .filter_map(|this| this.split_once('='))
        .map(|(name, value)| (name.trim().into(), value.trim().into()))
        .collect()
}

/// `profile` with the line of this name as `other` has it.
///
/// # Errors
/// If the other profile has no such line, and the line has no default value.
pub fn with_line_of(profile: &Profile, name: &str, other: &Profile) -> trommel::Result<Profile> {
    let [these, those] = [profile, other].map(ToString::to_string);
    let is_named = |line: &&str| line.split_once('=').is_some_and(|(known, _)| known.trim() == name);
    let lines: Vec<_> = these.lines().filter(|line| !is_named(line)).chain(those.lines().filter(is_named)).collect();
    Profile::with_hooks_of(&lines.join("\n"))
}

/// Lines of the command line, applied to every profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forced(Vec<(String, String)>);

impl Forced {
    /// Lines as `NAME=VALUE`.
    ///
    /// # Errors
    /// If a text has no `=`.
    pub fn new(lines: &[String]) -> anyhow::Result<Self> {
        let line = |line: &String| {
            let (name, value) = line.split_once('=').with_context(|| format!("\"{line}\" is not NAME=VALUE"))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        lines.iter().map(line).collect::<anyhow::Result<_>>().map(Self)
    }

    /// `profile` with these lines.
    ///
    /// # Errors
    /// As [`Profile::with_line`].
    pub fn apply(&self, profile: Profile) -> trommel::Result<Profile> {
        self.0.iter().try_fold(profile, |profile, (name, value)| profile.with_line(name, value))
    }
}

/// Draws profiles of a device.
#[derive(Debug)]
pub struct Profiles<'a> {
    /// The device.
    pub facts: &'a DeviceFacts,
    /// The device's built-in profile.
    pub built_in: &'a Profile,
    /// Lines that every profile has.
    pub forced: &'a Forced,
}

/// Draws the value of a line.
pub type Draw = fn(&Draws<'_>, &mut Random) -> String;

/// Most polls of a waiting workgroup where tiles are delayed.
const MOST_POLLS_WITH_DELAYS: u32 = 64;

/// A line of a profile: its name, in which `*` stands for each kind of items, and the function that draws its value.
pub type Line = (&'static str, Draw);

/// Lines that belong to no primitive and do not describe subgroups.
const LINES: &[Line] = &[
    ("strategy", |_, random| random.pick(&Strategy::ALL).name().into()),
    ("plain_threads", |draws, random| draws.threads(random).to_string()),
    ("window", |_, random| random.between(1, 32).to_string()),
    ("ring_window", |_, random| random.between(1, 32).to_string()),
    ("spin_limit", |draws, random| {
        random.pick(if draws.facts.is_cpu { &[1, 4, 64] } else { &[1, 2, 16, 256, 4096] }).to_string()
    }),
    ("max_groups_x", |draws, random| random.pick(&[1, 2, 3, 7, 64, 1000, 65535, draws.facts.max_groups_x]).to_string()),
    ("radix.*.tiles", |draws, random| draws.sized_tiles(random, 1)),
    ("radix.*.ring", |draws, random| draws.list(random, 1, Draws::tile)),
    ("radix.*.few_bins", |draws, random| draws.list(random, 1, Draws::tile)),
    ("radix.*.segments", |draws, random| draws.shape(random, 16) + random.pick(&["", "/merge"])),
    ("radix.driver_specializes_subgroup_tiles", |_, random| random.chance(1, 4).to_string()),
    ("radix.histogram_groups", |_, random| random.log_between(1, 600).to_string()),
    ("radix.direct_up_to", |draws, random| draws.size(random).to_string()),
    ("radix.all_digits_up_to", |draws, random| draws.size(random).to_string()),
    ("merge.fan", |_, random| random.pick(&[2, 4, 8, 16, 32]).to_string()),
    ("hooks.ring_entries", |_, random| (1u32 << random.between(2, 10)).to_string()),
    ("hooks.ring_reach", |_, random| random.log_between(1, 900).to_string()),
    ("hooks.wrong_ranks", |_, random| random.pick(&[false, false, true]).to_string()),
    ("hooks.delay_every", |_, random| random.pick(&[0, 0, 0, 2, 3, 7]).to_string()),
];

/// Every line that is drawn, those of primitives included.
fn lines() -> Vec<(String, Draw)> {
    let of_primitives = PRIMITIVES.iter().flat_map(|primitive| primitive.profile_lines());
    let each = |(name, draw): &Line| {
        let kinds: &[ItemKind] = if name.contains('*') { &ItemKind::ALL } else { &[ItemKind::Keys] };
        kinds.iter().map(|kind| (name.replace('*', kind.name()), *draw)).collect::<Vec<_>>()
    };
    LINES.iter().chain(of_primitives).flat_map(each).collect()
}

const THREADS: &[u32] = &[64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024];

/// A ranking by name.
pub(crate) fn draw_ranking(random: &mut Random) -> &'static str {
    let ranking = random.pick(&[
        Ranking::Ballots,
        Ranking::Verified,
        Ranking::Verified,
        Ranking::VerifiedBySourceIndex,
        Ranking::VerifiedBySourceIndex,
    ]);
    ranking.name()
}

/// The device's facts and the workgroup sizes, from which lines are drawn.
#[derive(Debug)]
pub struct Draws<'a> {
    facts: &'a DeviceFacts,
    threads: Vec<u32>,
}

impl Draws<'_> {
    pub(crate) fn threads(&self, random: &mut Random) -> u32 {
        random.pick(&self.threads)
    }

    /// A count at which paths change.
    pub(crate) fn size(&self, random: &mut Random) -> u32 {
        let large = if self.facts.is_cpu { 2000 } else { 1 << 18 };
        match random.below(4) {
            0 => random.pick(&[0, 1, 64, 1000]),
            1 => large,
            _ => random.log_between(50, large),
        }
    }

    /// Draws threads and items. Few items are more likely than many.
    pub fn shape(&self, random: &mut Random, most: u32) -> String {
        let (threads, most) = (self.threads(random), if self.facts.is_cpu { most.min(8) } else { most });
        format!("{threads}x{}", random.log_between(1, most))
    }

    fn tile(&self, random: &mut Random) -> String {
        let shape = self.shape(random, 40);
        let ranking = format!("/{}", draw_ranking(random));
        let ranking = if ranking == "/ballots" { "" } else { &ranking };
        let groups = if random.chance(1, 3) { format!("*{}", random.log_between(1, 600)) } else { String::new() };
        format!("{shape}{ranking}{}{groups}", random.pick(&["", "/swizzled"]))
    }

    pub(crate) fn small(&self, random: &mut Random) -> String {
        self.shape(random, 32) + random.pick(&["", "/buckets", "/buckets", "/merge"])
    }

    pub(crate) fn merge(&self, random: &mut Random) -> String {
        let up_to = random.log_between(100, if self.facts.is_cpu { 3000 } else { 1 << 20 });
        format!("{up_to}:{}/{}", self.shape(random, 16), self.shape(random, 16))
    }

    /// A merge sort for all counts.
    pub(crate) fn whole_merge(&self, random: &mut Random) -> String {
        format!("{}:{}/{}", u32::MAX, self.shape(random, 16), self.shape(random, 16))
    }

    pub(crate) fn ranked(&self, random: &mut Random) -> String {
        let up_to = random.log_between(64, if self.facts.is_cpu { 2000 } else { 1 << 14 });
        let [above, above_in_place] = [(); 2].map(|()| random.between(0, up_to));
        format!("{above},{above_in_place}..{up_to}:{}/{}", self.threads(random), 1 << random.between(2, 7))
    }

    pub(crate) fn single_dispatch(&self, random: &mut Random) -> String {
        let up_to = random.log_between(64, if self.facts.is_cpu { 2000 } else { 1 << 15 });
        format!("{up_to}:{}", self.shape(random, 8))
    }

    /// Draws up to `most` entries, ordered by [`size_of_entry`].
    pub(crate) fn list(&self, random: &mut Random, most: u32, entry: fn(&Self, &mut Random) -> String) -> String {
        let mut entries: Vec<String> = (0..random.between(0, most)).map(|_| entry(self, random)).collect();
        entries.sort_by_key(|entry| size_of_entry(entry));
        entries.join(" ")
    }

    pub(crate) fn sized_tiles(&self, random: &mut Random, least: u32) -> String {
        let count = random.between(least, 4);
        let mut sizes: Vec<u32> = (1..count).map(|_| self.size(random)).collect();
        sizes.sort_unstable();
        let ends = sizes.into_iter().chain((count != 0).then_some(u32::MAX));
        ends.map(|end| format!("{end}:{}", self.tile(random))).collect::<Vec<_>>().join(" ")
    }
}

/// The order of list entries: the size before a colon, or the product of a shape.
fn size_of_entry(entry: &str) -> u64 {
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0u64);
    match (entry.split_once(':'), entry.split_once('x')) {
        (Some((sizes, _)), _) => number(sizes.rsplit("..").next().unwrap_or(sizes)),
        (None, Some((threads, items))) => number(threads) * number(items),
        (None, None) => 0,
    }
}

impl Profiles<'_> {
    /// Draws a profile that the device can run. Returns it with the number of refused draws.
    pub fn draw(&self, random: &mut Random) -> (Profile, u32) {
        let mut refused = 0;
        let near = random.chance(1, 3);
        let mut profile = if near { self.built_in.clone() } else { self.plain(random, &mut refused) };
        let widest = self.widest(&profile);
        let most = self.facts.max_invocations.min(if self.facts.is_cpu { 256 } else { 1024 });
        let threads: Vec<u32> =
            THREADS.iter().copied().filter(|threads| threads.is_multiple_of(widest) && *threads <= most).collect();
        let draws = Draws { facts: self.facts, threads };
        let mut lines = lines();
        random.shuffle(&mut lines);
        lines.truncate(if near { random.between(1, 6) as usize } else { lines.len() });
        for (name, draw) in lines {
            if !near && random.chance(1, 6) {
                continue;
            }
            for _ in 0..8 {
                match self.accepted(profile.with_line(&name, &draw(&draws, random))) {
                    Some(accepted) => {
                        profile = accepted;
                        break;
                    }
                    None => refused += 1,
                }
            }
        }
        (self.tamed(profile), refused)
    }

    fn accepted(&self, profile: trommel::Result<Profile>) -> Option<Profile> {
        self.forced.apply(profile.ok()?).ok()?.checked(self.facts).ok()
    }

    /// Threads are multiples of this.
    fn widest(&self, profile: &Profile) -> u32 {
        match profile.lanes {
            0 => self.facts.max_lanes,
            lanes if profile.emulated_subgroups => lanes.max(self.facts.max_lanes),
            lanes => lanes,
        }
    }

    /// Draws a profile with subgroups of any kind. All other lines are minimal.
    fn plain(&self, random: &mut Random, refused: &mut u32) -> Profile {
        loop {
            let emulated_subgroups = random.chance(1, 4);
            let lanes = if emulated_subgroups {
                1 << random.between(2, 7)
            } else {
                random.pick(&[
                    0,
                    0,
                    self.built_in.lanes,
                    self.built_in.lanes,
                    self.facts.min_lanes,
                    self.facts.max_lanes,
                ])
            };
            let mut profile = Profile { lanes, emulated_subgroups, ..self.built_in.clone() };
            profile.plain_threads = self.widest(&profile).max(64);
            // Lists of shapes may be empty.
            for (name, _) in lines() {
                profile = profile.with_line(&name, "").unwrap_or(profile);
            }
            for (name, value) in PRIMITIVES.iter().flat_map(|primitive| primitive.plain_lines()) {
                profile = profile.with_line(name, value).unwrap_or(profile);
            }
            let plain = Shape { threads: profile.plain_threads, items: 1 };
            for kind in ItemKind::ALL {
                profile.radix[kind].tiles = [SizedTile { up_to: u32::MAX, shape: plain.into() }].into_iter().collect();
                profile.radix[kind].segments = SmallShape::radix(plain.threads, plain.items);
            }
            match self.accepted(Ok(profile)) {
                Some(profile) => return profile,
                None => *refused += 1,
            }
        }
    }

    /// Shortens delays, unless a line of the command line says how long they are. Removes persistent workgroups from
    /// CPU profiles with delayed tiles or long waits: lavapipe ends all loops of an invocation after 65,535 iterations,
    /// and a waiting workgroup with several tiles may reach that number.
    fn tamed(&self, profile: Profile) -> Profile {
        let short = with_short_delays(profile);
        let profile = self.forced.apply(short.clone()).unwrap_or(short);
        if !self.facts.is_cpu || profile.hooks.delay_every == 0 && profile.spin_limit <= 4 {
            return profile;
        }
        // In a tile shape, the number of workgroups follows an asterisk.
        let text = profile.to_string();
        let mut parts = text.split('*');
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = parts.map(|part| part.trim_start_matches(|letter: char| letter.is_ascii_digit()));
        Profile::with_hooks_of(&rest.fold(first, |text, part| text + part)).unwrap_or(profile)
    }
}

/// The profile with at most [`MOST_POLLS_WITH_DELAYS`] if it delays tiles.
///
/// A delayed tile polls `32 * max(spin_limit, 64)` times. With 4096, a persistent workgroup of several hundred tiles
/// runs for seconds, longer than NVIDIA's driver waits before it gives the GPU to another device: the device is lost
/// (docs/portability.md).
pub(crate) fn with_short_delays(mut profile: Profile) -> Profile {
    if profile.hooks.delay_every != 0 {
        profile.spin_limit = profile.spin_limit.min(MOST_POLLS_WITH_DELAYS);
    }
    profile
}

/// Counts at which a profile takes another path: the numbers of its lines, and the items of its shapes.
pub fn borders(profile: &Profile, facts: &DeviceFacts) -> Vec<u32> {
    let mut all = vec![facts.min_lanes, facts.max_lanes];
    for value in profile.to_string().lines().filter_map(|line| line.split_once('=')).map(|(_, value)| value) {
        for part in value.split(|letter: char| !letter.is_ascii_digit() && letter != 'x') {
            let mut numbers = part.split('x').filter_map(|number| number.parse::<u32>().ok());
            let [threads, items] = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(1)];
            // Workgroups that sort segments search three quarters of their items for starts.
            let tile = threads.saturating_mul(items);
            all.extend([threads, tile, tile / 4 * 3]);
        }
    }
    all.sort_unstable();
    all.dedup();
    all.retain(|border| (1..1 << 24).contains(border));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(is_cpu: bool, lanes: (u32, u32)) -> DeviceFacts {
        DeviceFacts {
            vendor_id: if is_cpu { 0x10005 } else { 0x10de },
            is_cpu,
            compute_only: true,
            min_lanes: lanes.0,
            max_lanes: lanes.1,
            lanes_selectable: true,
            max_invocations: 1024,
            max_subgroups: 32,
            shared_memory: if is_cpu { 32 * 1024 } else { 48 * 1024 },
            max_groups_x: 65535,
        }
    }

    #[test]
    fn every_line_is_drawn_and_the_device_can_run_it() {
        for facts in [facts(false, (32, 32)), facts(true, (8, 8)), facts(true, (4, 4))] {
            let built_in = Profile::for_device(&facts);
            let forced = Forced::default();
            let profiles = Profiles { facts: &facts, built_in: &built_in, forced: &forced };
            let mut values = std::collections::HashMap::<String, Vec<String>>::new();
            let (mut refused, draws) = (0, 60usize);
            for seed in (0..draws).map(|seed| seed as u64) {
                let (profile, more) = profiles.draw(&mut Random::of(&[seed]));
                refused += more;
                assert_eq!(profile.clone().checked(&facts).as_ref(), Ok(&profile));
                assert_eq!(profiles.draw(&mut Random::of(&[seed])).0, profile, "the same again");
                assert!(profile.hooks.delay_every == 0 || profile.spin_limit <= MOST_POLLS_WITH_DELAYS);
                for line in profile.to_string().lines() {
                    let (name, value) = line.split_once('=').unwrap();
                    values.entry(name.to_owned()).or_default().push(value.to_owned());
                }
            }
            for (name, _) in lines() {
                assert!(values.contains_key(&format!("{name} ")), "{name} is never drawn");
            }
            for (name, values) in &values {
                // Without the line, the value is the default one.
                let varies = values.iter().any(|value| *value != values[0]) || values.len() < draws;
                assert!(varies, "{name} is always {:?}", values[0]);
            }
            assert!(refused < 60 * 60, "{refused} draws were refused");
            let small = &values["sort.pairs.small "];
            assert!(
                ["/buckets", "/merge"].iter().all(|method| small.iter().any(|value| value.contains(method))),
                "{small:?}"
            );
        }
    }

    #[test]
    fn forced_lines_stay() {
        let facts = facts(false, (32, 32));
        let built_in = Profile::for_device(&facts);
        let forced =
            Forced::new(&["small_ranking = verified".into(), "sort.pairs.small=192x4/buckets".into()]).unwrap();
        let built_in = forced.apply(built_in).unwrap();
        let profiles = Profiles { facts: &facts, built_in: &built_in, forced: &forced };
        for seed in 0..50 {
            let profile = profiles.draw(&mut Random::of(&[seed])).0;
            assert_eq!(profile.sort.small_ranking, Ranking::Verified);
            assert_eq!(profile.sort.pairs.small[..], [SmallShape::buckets(192, 4)]);
        }
        assert!(Forced::new(&["spin".into()]).is_err());
        assert!(Forced::new(&["spins=3".into()]).unwrap().apply(built_in).is_err());
    }

    #[test]
    fn differences_lead_from_one_profile_to_the_other() {
        let facts = facts(false, (32, 32));
        let built_in = Profile::for_device(&facts);
        let forced = Forced::default();
        let profile = Profiles { facts: &facts, built_in: &built_in, forced: &forced }.draw(&mut Random::of(&[3])).0;
        let lines = differences(&profile, &built_in);
        let back =
            lines.iter().try_fold(built_in.clone(), |profile, (name, value)| profile.with_line(name, value)).unwrap();
        assert_eq!(back, profile);
        assert!(differences(&built_in, &built_in).is_empty());
    }

    #[test]
    fn borders_are_the_sizes_of_all_lines() {
        let facts = facts(false, (32, 32));
        let all = borders(&Profile::for_device(&facts), &facts);
        for border in [32, 512, 1024, 2048, 4096, 8192, 1 << 14, 1 << 15, 1 << 18, 384 * 22] {
            assert!(all.contains(&border), "{border}");
        }
        assert!(!all.contains(&u32::MAX));
    }
}
