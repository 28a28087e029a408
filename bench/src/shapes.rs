//! Parts of a profile that `--tune` searches: kinds of items, and the roles of shapes.

use trommel::tuning::ItemShapes;
use trommel::{Profile, Strategy};

/// Items with shapes of their own in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Keys,
    Pairs,
    /// Keys of more than 32 bits, with or without values.
    Long,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Keys, Self::Pairs, Self::Long];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Pairs => "pairs",
            Self::Long => "long",
        }
    }

    /// The part of a profile that the kind uses.
    pub(crate) fn shapes(self, profile: &mut Profile) -> &mut ItemShapes {
        match self {
            Self::Keys => &mut profile.sort_keys,
            Self::Pairs => &mut profile.sort_pairs,
            Self::Long => &mut profile.sort_long,
        }
    }
}

/// The use of a shape, as members of [`ItemShapes`] have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A single workgroup sorts all items.
    Small,
    /// Every workgroup counts all items, and scatters those of its tile.
    SingleDispatch,
    /// Tiles of passes over many bins.
    Tiles,
    /// Tiles that are counted first, into at most 64 bins.
    Counted,
    /// Tiles that are counted first, into more bins. The last of [`ItemShapes::tiles`] serves these.
    CountedMany,
    /// Tiles of passes into few bins that look back.
    FewBins,
}

impl Role {
    /// In the order of the search.
    pub(crate) const ALL: [Self; 6] =
        [Self::Small, Self::SingleDispatch, Self::Tiles, Self::Counted, Self::CountedMany, Self::FewBins];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::SingleDispatch => "single_dispatch",
            Self::Tiles => "tiles",
            Self::Counted => "counted",
            Self::CountedMany => "counted_many",
            Self::FewBins => "few_bins",
        }
    }

    /// The strategy that takes shapes of this role. `requested`: by the command line.
    pub(crate) fn strategy(self, requested: Strategy) -> Strategy {
        match self {
            Self::Small | Self::Tiles => requested,
            Self::SingleDispatch | Self::Counted | Self::CountedMany => Strategy::ReduceThenScan,
            Self::FewBins => Strategy::Lookback,
        }
    }
}
