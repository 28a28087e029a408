//! Times of the two ways to sort.

use crate::compute::median;

/// Timestamps of a frame: after the boxes have moved, then after each step, first of the full sort, then of the update.
pub(crate) const STAMPS: u32 = 8;

/// Milliseconds of one way to sort, in the order of [`Times::COLUMNS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Times([f64; 6]);

impl Times {
    /// `order` is the sum of the columns before it, `frame` that of `order` and `tree`.
    pub(crate) const COLUMNS: [&str; 6] = ["codes", "sort", "merge", "order", "tree", "frame"];

    fn new([codes, sort, merge, tree]: [f64; 4]) -> Self {
        let order = codes + sort + merge;
        Self([codes, sort, merge, order, tree, order + tree])
    }

    pub(crate) fn columns(&self) -> [(&'static str, f64); 6] {
        std::array::from_fn(|column| (Self::COLUMNS[column], self.0[column]))
    }

    /// Milliseconds until the items are sorted.
    pub(crate) fn order(&self) -> f64 {
        self.0[3]
    }

    /// Milliseconds until the tree is built.
    pub(crate) fn frame(&self) -> f64 {
        self.0[5]
    }
}

/// Median times over the frames of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ways {
    pub(crate) full_sort: Times,
    pub(crate) update: Times,
}

impl Ways {
    /// How many times as fast the update is as the full sort: until the items are sorted, and until the tree is built.
    pub(crate) fn speed_ups(&self) -> [f64; 2] {
        [self.full_sort.order() / self.update.order(), self.full_sort.frame() / self.update.frame()]
    }

    /// Computes the times from the timestamps of one frame after the other, in milliseconds.
    pub(crate) fn from_stamps(stamps: &[f64]) -> Self {
        let (frames, _) = stamps.as_chunks::<{ STAMPS as usize }>();
        let medians = |times: fn(&[f64; STAMPS as usize]) -> Times| {
            let frames: Vec<_> = frames.iter().map(times).collect();
            Times(std::array::from_fn(|column| median(frames.iter().map(|times| times.0[column]))))
        };
        Self {
            full_sort: medians(|s| Times::new([s[1] - s[0], s[2] - s[1], 0.0, s[3] - s[2]])),
            update: medians(|s| Times::new([s[4] - s[3], s[5] - s[4], s[6] - s[5], s[7] - s[6]])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ways;

    #[test]
    fn medians_are_over_frames() {
        let frame = |step: f64| [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(|stamp| stamp * step);
        let ways = Ways::from_stamps(&[frame(9.0), frame(1.0), frame(2.0)].concat());
        assert_eq!(ways.full_sort.0, [2.0, 2.0, 0.0, 4.0, 2.0, 6.0]);
        assert_eq!(ways.update.0, [2.0, 2.0, 2.0, 6.0, 2.0, 8.0]);
    }
}
