//! The methods. They differ in the bucket function and in how items are grouped.

use clap::ValueEnum;

/// How items are grouped between two iterations. Matches the `GROUPING` constants in glsl/args.glsl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    None = 0,
    Split = 1,
    Sort = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// No grouping: all items are relaxed.
    BellmanFord,
    /// Split into two buckets by a pivot.
    NearFar,
    /// Split into buckets.
    Buckets,
    /// As `NearFar`, with a sort instead of the split.
    SortNearFar,
    /// As `Buckets`, with a sort instead of the split.
    SortBuckets,
}

impl Method {
    pub(crate) const ALL: [Self; 5] =
        [Self::BellmanFord, Self::NearFar, Self::Buckets, Self::SortNearFar, Self::SortBuckets];

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

    /// Returns the method's number of buckets; `buckets` is the requested one.
    pub(crate) fn buckets(self, buckets: u32) -> u32 {
        match self {
            Self::BellmanFord => 1,
            Self::NearFar | Self::SortNearFar => 2,
            Self::Buckets | Self::SortBuckets => buckets,
        }
    }

    /// Returns the method with the same schedule that sorts.
    pub(crate) fn sorted(self) -> Option<Self> {
        match self {
            Self::NearFar => Some(Self::SortNearFar),
            Self::Buckets => Some(Self::SortBuckets),
            _ => None,
        }
    }
}
