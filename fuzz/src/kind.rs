//! Kinds: a profile and handles on it; and the cases of a kind.

use crate::PRIMITIVES;
use crate::arena::{Image, Poison};
use crate::machine::Machine;
use crate::primitive::{Ask, Handle, HandleInfo, Limits, Prepared, Primitive};
use crate::profiles::{self, Forced, Profiles};
use crate::random::Random;
use std::sync::Arc;
use trommel::{Device, DeviceFacts, Error, Profile, Request, batch_scratch_size};

/// Which profiles are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The device's own.
    BuiltIn,
    /// Random ones.
    Random,
    /// Either.
    #[default]
    Both,
}

/// Parameters of all draws.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The seed of everything.
    pub seed: u64,
    /// The device.
    pub facts: DeviceFacts,
    /// The device's built-in profile, with the forced lines.
    pub built_in: Profile,
    /// Lines that every profile has.
    pub forced: Forced,
    /// Which profiles are drawn.
    pub which: Which,
    /// A primitive's name, "batch", or a part of a handle's description. None: all.
    pub only: Option<String>,
    /// Most items of a request.
    pub max_items: u32,
}

impl Scope {
    fn primitives(&self) -> Vec<&'static dyn Primitive> {
        let all: Vec<&'static dyn Primitive> = PRIMITIVES.iter().map(|primitive| *primitive as _).collect();
        let named: Vec<_> =
            all.iter().copied().filter(|primitive| self.only.as_deref() == Some(primitive.name())).collect();
        if named.is_empty() { all } else { named }
    }

    fn batches_only(&self) -> bool {
        self.only.as_deref() == Some("batch")
    }

    /// The part of a description that every handle must have.
    fn wanted(&self) -> Option<&str> {
        let named = |only: &str| only == "batch" || PRIMITIVES.iter().any(|primitive| primitive.name() == only);
        self.only.as_deref().filter(|only| !named(only))
    }

    /// Limits of draws with a profile.
    pub fn limits(&self, profile: &Profile) -> Limits {
        // As many of the smallest tiles as a dispatch has workgroups.
        let most = profile.max_groups_x.saturating_mul(65535).saturating_mul(32);
        Limits {
            facts: self.facts.clone(),
            profile: profile.clone(),
            least_items: 0,
            max_items: self.max_items.min(most),
            max_bytes: if self.facts.is_cpu { 1 << 19 } else { 1 << 22 },
            borders: profiles::borders(profile, &self.facts),
        }
    }
}

/// A profile, and handles on it.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The profile.
    pub profile: Profile,
    /// Whether it is the device's own.
    pub is_built_in: bool,
    /// The handles.
    pub handles: Vec<Arc<dyn HandleInfo>>,
    /// How many draws the library has refused: profiles, then handles.
    pub refused: [u32; 2],
    /// Cases that are drawn.
    pub cases: u32,
}

/// A kind on a device.
#[derive(Debug)]
pub struct Live {
    /// The library.
    pub device: Device,
    /// The handles of the kind.
    pub handles: Vec<Box<dyn Handle>>,
    /// Limits of draws.
    pub limits: Limits,
}

impl Kind {
    /// The kind of this number.
    ///
    /// # Errors
    /// If the device cannot be used.
    pub fn draw(scope: &Scope, number: u64, machine: &Machine) -> trommel::Result<Self> {
        let mut random = Random::of(&[scope.seed, number]);
        let is_built_in = match scope.which {
            Which::BuiltIn => true,
            Which::Random => false,
            Which::Both => random.chance(2, 5),
        };
        let profiles = Profiles { facts: &scope.facts, built_in: &scope.built_in, forced: &scope.forced };
        let (profile, refused) = if is_built_in { (scope.built_in.clone(), 0) } else { profiles.draw(&mut random) };
        let limits = scope.limits(&profile);
        let device = machine.library(&profile)?;
        let count = if scope.facts.is_cpu { random.between(1, 2) } else { random.between(1, 5) };
        let mut kind = Self { profile, is_built_in, handles: Vec::new(), refused: [refused, 0], cases: 0 };
        let primitives = scope.primitives();
        // If a part of a description is required, most draws lack it.
        let mut patience = 100_000;
        while kind.handles.len() < count as usize && patience > 0 {
            patience -= 1;
            let info = random.pick(&primitives).draw(&limits, &mut random);
            if scope.wanted().is_some_and(|wanted| !info.describe().contains(wanted)) {
                continue;
            }
            match info.create(&device) {
                Ok(_) => kind.handles.push(info.into()),
                Err(Error::Malformed { .. } | Error::TooLarge { .. }) => kind.refused[1] += 1,
                Err(error) => return Err(error),
            }
        }
        // CPU drivers take longest for pipelines.
        kind.cases = if scope.facts.is_cpu { random.between(150, 300) } else { random.between(250, 450) };
        Ok(kind)
    }

    /// The kind on a device.
    ///
    /// # Errors
    /// The library's.
    pub fn live(&self, scope: &Scope, machine: &Machine) -> trommel::Result<Live> {
        let device = machine.library(&self.profile)?;
        let handles = self.handles.iter().map(|info| info.create(&device)).collect::<trommel::Result<_>>()?;
        Ok(Live { device, handles, limits: scope.limits(&self.profile) })
    }
}

/// Requests that are recorded together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Recorded as a batch, rather than by itself.
    pub is_batch: bool,
    /// Each request, with the number of its handle.
    pub members: Vec<(usize, Ask)>,
    /// Content of scratch before the execution.
    pub poison: Poison,
    /// Whether arrays are in random order in memory.
    pub shuffled: bool,
    /// Seed of the arena.
    pub seed: u64,
}

/// Whether some requests may have millions of items: only on a GPU, and only if the command line allows that many.
fn may_be_large(scope: &Scope) -> bool {
    !scope.facts.is_cpu && scope.max_items >= MANY_ITEMS
}

/// Most items of a request on a GPU, but for a few.
pub const MANY_ITEMS: u32 = 300_000;

/// Most requests of a batch.
const MOST_MEMBERS: u32 = 40;

impl Case {
    /// The case of this number.
    pub fn draw(scope: &Scope, kind: &Kind, number: u64, case: u64) -> Self {
        let mut random = Random::of(&[scope.seed, number, case, 1]);
        let is_batch = scope.batches_only() || random.chance(1, 5);
        let count = match (is_batch, random.chance(1, 3)) {
            (false, _) => 1,
            (true, false) => random.between(1, 5),
            (true, true) => random.log_between(2, MOST_MEMBERS),
        };
        let mut limits = scope.limits(&kind.profile);
        limits.max_items = if count > 1 { (limits.max_items / count).max(1) } else { limits.max_items };
        limits.max_bytes /= u64::from(count);
        if !is_batch && may_be_large(scope) && random.chance(1, 700) {
            (limits.least_items, limits.max_items, limits.max_bytes) = (1 << 20, 1 << 22, 96 << 20);
        }
        let mut member = || {
            let handle = random.index(kind.handles.len());
            (handle, kind.handles[handle].draw(&limits, &mut random))
        };
        let members = (0..count).map(|_| member()).collect();
        Self {
            is_batch,
            members,
            poison: Poison::draw(&mut random),
            shuffled: random.chance(2, 3),
            seed: random.draw(),
        }
    }

    /// Bytes of scratch that the case needs.
    ///
    /// # Errors
    /// The library's, of batches of too many kinds.
    pub fn scratch_size(&self, live: &Live) -> trommel::Result<u64> {
        if self.is_batch {
            batch_scratch_size(&requests(&self.prepare(live, None)))
        } else {
            live.handles[self.members[0].0].scratch_size(&self.members[0].1)
        }
    }

    /// Prepares the requests of the case, with the addresses of an image. Without an image, addresses are null.
    pub fn prepare<'a>(&self, live: &'a Live, image: Option<&Image>) -> Vec<Box<dyn Prepared + 'a>> {
        let none = Default::default();
        let prepare = |(index, (handle, ask)): (usize, &(usize, Ask))| {
            live.handles[*handle].prepare(ask, image.map_or(&none, |image| &image.ranges[index]))
        };
        self.members.iter().enumerate().map(prepare).collect()
    }

    /// The memory of the case.
    pub fn image(&self, live: &Live, scratch: u64) -> Image {
        let arrays = self.members.iter().map(|(handle, ask)| live.handles[*handle].arrays(ask, &live.limits)).collect();
        let scratch = usize::try_from(scratch.next_multiple_of(4)).unwrap_or(usize::MAX);
        Image::new(arrays, scratch, self.poison, self.shuffled, &mut Random::of(&[self.seed]))
    }
}

/// The requests of a batch.
pub fn requests<'a>(prepared: &'a [Box<dyn Prepared + '_>]) -> Vec<Request<'a>> {
    prepared.iter().map(|prepared| prepared.request()).collect()
}
