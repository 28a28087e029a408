//! The methods, which differ in what is near and in how items are grouped.

use clap::ValueEnum;

/// What groups the items between two iterations; the twin of the `GROUPING` constants in glsl/args.glsl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    None = 0,
    Split = 1,
    Sort = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// All items are near.
    BellmanFord,
    /// Split in two by a pivot.
    NearFar,
    /// Split into buckets.
    Buckets,
    /// As near-far, but sorted in place of split.
    SortNearFar,
    /// As buckets, but sorted in place of split.
    SortBuckets,
}

impl Method {
    pub(crate) const ALL: [Self; 5] = [Self::BellmanFord, Self::NearFar, Self::Buckets, Self::SortNearFar, Self::SortBuckets];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BellmanFord => "bellman-ford",
            Self::NearFar => "near-far",
            Self::Buckets => "buckets",
            Self::SortNearFar => "sort-near-far",
            Self::SortBuckets => "sort-buckets",
        }
    }

    pub(crate) fn grouping(self) -> Grouping {
        match self {
            Self::BellmanFord => Grouping::None,
            Self::NearFar | Self::Buckets => Grouping::Split,
            Self::SortNearFar | Self::SortBuckets => Grouping::Sort,
        }
    }

    /// Of `buckets` that were asked for.
    pub(crate) fn buckets(self, buckets: u32) -> u32 {
        match self {
            Self::BellmanFord => 1,
            Self::NearFar | Self::SortNearFar => 2,
            Self::Buckets | Self::SortBuckets => buckets,
        }
    }

    /// The method of the same schedule that sorts.
    pub(crate) fn sorted(self) -> Option<Self> {
        match self {
            Self::NearFar => Some(Self::SortNearFar),
            Self::Buckets => Some(Self::SortBuckets),
            _ => None,
        }
    }
}
