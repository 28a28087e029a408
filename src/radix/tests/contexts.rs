//! The contexts of all cases.

use crate::core::tests::{at_exit::at_exit, selection};
use crate::host::{Context, ContextInfo};
use crate::tuning::{Hooks, ItemKind, Profile, Shape, SizedTile, SmallShape};
use std::sync::{Mutex, PoisonError};

static OPEN: Mutex<Vec<(usize, bool, Context)>> = Mutex::new(Vec::new());

static TAKEN: Mutex<Vec<bool>> = Mutex::new(Vec::new());

/// The index of a thread among the running ones. Each thread has its own contexts: CPU drivers compile the work of one
/// queue sequentially.
struct Lane(usize);

impl Lane {
    fn take() -> Self {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = taken.iter().position(|taken| !taken).unwrap_or(taken.len());
        let lanes = taken.len().max(lane + 1);
        taken.resize(lanes, false);
        taken[lane] = true;
        Self(lane)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)[self.0] = false;
    }
}

thread_local! {
    static LANE: Lane = Lane::take();
}

/// Checks that the validation layer, if it is on, has reported nothing. Every test ends with this check.
pub(super) fn assert_silence(context: &Context) {
    assert_eq!(context.messages(), Vec::<String>::new());
}

/// Entries of the ring, and the maximum distance of look-back in it. A few tiles wrap around this ring.
pub(super) const RING_ENTRIES: u32 = 8;
pub(super) const RING_REACH: u32 = 3;

/// The context with hardware or emulated subgroups. Tiles are small, so that few keys need many tiles.
pub(super) fn context(emulated: bool) -> Context {
    let lane = LANE.with(|lane| lane.0);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., context)) = open.iter().find(|(of, known, _)| (*of, *known) == (lane, emulated)) {
        return context.clone();
    }
    let native = Context::new().unwrap();
    let threads = if emulated { 128 } else { native.device().facts().max_lanes.max(64) };
    let shape = |items| Shape { threads, items };
    let mut profile = Profile {
        lanes: if emulated { 32 } else { 0 },
        emulated_subgroups: emulated,
        plain_threads: threads,
        hooks: Hooks { ring_entries: RING_ENTRIES, ring_reach: RING_REACH, ..Hooks::default() },
        spin_limit: 3,
        max_groups_x: 7,
        ..native.device().profile().clone()
    };
    for member in ["ranked", "merges", "ring", "few_bins", "counted", "single_dispatch"] {
        profile = profile.with_member(member, "").unwrap();
    }
    for kind in ItemKind::ALL {
        let tile = SizedTile { up_to: u32::MAX, shape: shape(2).into() };
        profile.radix[kind].tiles = [tile].into_iter().collect();
        // Pairs and the other kinds sort segments both by merging and by digits: one way with each kind of subgroups.
        let merges = (kind == ItemKind::Pairs) == emulated;
        profile.radix[kind].segments =
            if merges { SmallShape::merge(threads, 3) } else { SmallShape::radix(threads, 3) };
        profile.sort[kind].small =
            [SmallShape::radix(threads, 1), SmallShape::buckets(threads, 2), SmallShape::merge(threads, 3)]
                .into_iter()
                .collect();
    }
    profile.sort.finish = shape(2);
    profile.merge.fan = 4;
    profile.radix.histogram_groups = 3;
    let context = Context::with(&ContextInfo { profile: Some(profile), ..ContextInfo::default() }).unwrap();
    open.push((lane, emulated, context.clone()));
    at_exit(|| OPEN.lock().unwrap_or_else(PoisonError::into_inner).clear());
    context
}

pub(super) fn tile_of(emulated: bool) -> usize {
    context(emulated).device().profile().radix.keys.tiles[0].shape.tile() as usize
}

/// Whether the case at `index` runs on this device.
pub(super) fn in_rotation(index: usize) -> bool {
    selection::in_rotation(index, context(false).device().facts().max_lanes)
}
