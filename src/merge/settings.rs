//! Settings of merges in profiles.

use crate::Result;
use crate::core::settings::settings;
use crate::tuning::{Basis, Limits, Shape, SizedMerge, refuse};

/// Most items of a merge sort: the product with the number of merged runs must fit a `u32`.
const MOST_MERGED: u32 = 1 << 26;

settings! {
    /// Settings of merges.
    pub struct Settings {
        /// Number of runs that are merged into one: a power of two.
        pub fan: u32,
    }
}

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[("merge_fan", "merge.fan")];

impl Settings {
    pub(crate) fn of(_basis: &Basis<'_>) -> Self {
        Self { fan: 16 }
    }

    /// Shapes of merges are checked where they are used: [`Settings::check_shapes`].
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as the settings of every folder")]
    pub(crate) fn check(&self, _limits: &Limits<'_>) -> Result<()> {
        Ok(())
    }

    /// Checks that runs can be merged with these shapes. Whether their items fit shared memory depends on the format
    /// and is checked later.
    pub(crate) fn check_shapes(&self, sized: &SizedMerge, limits: &Limits<'_>) -> Result<()> {
        for shape in [sized.run, sized.window] {
            let Shape { threads, items } = shape;
            if items == 0 || limits.check_group(shape).is_err() {
                return refuse(format!("{threads} x {items} merges no items"));
            }
        }
        let (fan, plain_threads) = (self.fan, limits.profile.plain_threads);
        if ![2, 4, 8, 16, 32].contains(&fan) {
            return refuse(format!("{fan} runs at a time are not a power of two from 2 to 32"));
        }
        if !plain_threads.is_multiple_of(fan) {
            return refuse(format!("{plain_threads} plain threads are not a multiple of {fan} runs"));
        }
        let step = sized.step(fan);
        if sized.spacing(fan) == 0 || !sized.run.tile().is_multiple_of(step) {
            return refuse(format!("{sized} has samples of every {step} items, which do not fit runs or windows"));
        }
        if sized.up_to > MOST_MERGED {
            return refuse(format!("{sized}: at most {MOST_MERGED} items are merged"));
        }
        Ok(())
    }
}
