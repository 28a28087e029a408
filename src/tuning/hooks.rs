//! Settings that only tests of the library change.

use crate::core::settings::settings;

settings! {
    /// Rare events on demand: late tiles, wrong ranks, a ring that is always full. Tests of the library set them.
    pub struct Hooks {
        /// One tile in this many is late; 0: none.
        pub delay_every: u32 = Hooks::NONE.delay_every,
        /// Whether atomic counters rank the lanes of a subgroup in a wrong order, so that every tile is ranked again.
        pub wrong_ranks: bool = Hooks::NONE.wrong_ranks,
        /// Number of tiles in the ring: a power of two.
        pub ring_entries: u32 = Hooks::NONE.ring_entries,
        /// Largest distance of a look-back in the ring, in tiles.
        pub ring_reach: u32 = Hooks::NONE.ring_reach,
    }
}

impl Hooks {
    /// The values of every profile outside of tests. The ring is as large as the record on an H200 wants it.
    pub const NONE: Self = Self { delay_every: 0, wrong_ranks: false, ring_entries: 1024, ring_reach: 64 };

    pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[
        ("delay_every", "hooks.delay_every"),
        ("wrong_ranks", "hooks.wrong_ranks"),
        ("ring_entries", "hooks.ring_entries"),
        ("ring_reach", "hooks.ring_reach"),
    ];
}

impl Default for Hooks {
    fn default() -> Self {
        Self::NONE
    }
}
