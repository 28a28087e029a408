//! The look-back state that tiles publish: words, and their positions in the ring.

use super::contexts::RING_ENTRIES;
use crate::shared::{PackedPass, RING_GROUPS, RING_TAG_SHIFT};
use std::ops::Range;

// States of look-back words: see glsl/core/lookback.glsl.
pub(super) const INVALID: u32 = 0;
pub(super) const AGGREGATE: u32 = 1;
pub(super) const PREFIX: u32 = 2;

pub(super) fn look_back_word(state: u32, moves_before: u32, count: u32) -> u32 {
    state << 30 ^ moves_before << 31 | count
}

/// Tickets, tails, and counters of groups.
pub(super) fn ticket_words(passes: usize) -> usize {
    passes * (2 + RING_GROUPS as usize)
}

/// The ring during a pass of one problem alone.
pub(super) struct Ring {
    pub(super) laps_before: u32,
    pub(super) bins: usize,
}

impl Ring {
    pub(super) fn of(pass: PackedPass, tiles: usize, bins: usize) -> Self {
        Self { bins, laps_before: pass.index() * (tiles as u32).div_ceil(RING_ENTRIES) }
    }

    pub(super) fn tag(&self, tile: usize) -> u32 {
        self.laps_before + tile as u32 / RING_ENTRIES + 1
    }

    /// The two words of a descriptor in the ring: lower and upper half of a count.
    pub(super) fn halves(tag: u32, state: u32, count: u32) -> [u32; 2] {
        let head = tag << RING_TAG_SHIFT | state << 16;
        [head | count & 0xffff, head | count >> 16]
    }

    /// Index of the group counter that a tile increments. In this small ring, groups have two tiles.
    pub(super) fn group(tile: usize) -> usize {
        tile % RING_ENTRIES as usize / 2
    }

    pub(super) fn words_of(&self, tile: usize, digit: usize) -> [usize; 2] {
        let low = 2 * (tile % RING_ENTRIES as usize * self.bins + digit);
        [low, low + 1]
    }

    /// Index of the first group counter of a pass: counters follow tickets and tails.
    pub(super) fn counters(pass: PackedPass) -> usize {
        2 * pass.digits() as usize + pass.index() as usize * RING_GROUPS as usize
    }

    pub(super) fn counted(tiles: Range<usize>) -> [u32; RING_ENTRIES as usize / 2] {
        let mut counters = [0; RING_ENTRIES as usize / 2];
        tiles.for_each(|tile| counters[Self::group(tile)] += 1);
        counters
    }

    /// Checks that entries of this pass hold inclusive prefixes. Tiles in `sure` have certainly found their entry free,
    /// so they have written it. Other tiles may have stopped waiting: their entry may be missing or half written.
    pub(super) fn check(&self, words: &[u32], prefixes: &[u32], tiles: Range<usize>, sure: Range<usize>) {
        for (tile, digit) in tiles.flat_map(|tile| (0..self.bins).map(move |digit| (tile, digit))) {
            let found = self.words_of(tile, digit).map(|word| words[word]);
            if sure.contains(&tile) || found.iter().all(|word| word >> RING_TAG_SHIFT == self.tag(tile)) {
                let prefix = prefixes[tile * self.bins + digit];
                assert_eq!(
                    found,
                    Self::halves(self.tag(tile), PREFIX, prefix),
                    "tile {tile} digit {digit} of the ring"
                );
            }
        }
    }
}
