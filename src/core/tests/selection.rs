//! The selection of cases that run.

/// Whether every format runs with every strategy. Otherwise each format runs with some of them, in rotation: most of
/// the time goes into pipelines.
pub(crate) fn in_full() -> bool {
    std::env::var_os("TROMMEL_TEST_FULL").is_some()
}

/// Whether the driver creates pipelines slowly: then only the first formats run, in few ways.
pub(crate) fn in_brief() -> bool {
    std::env::var_os("TROMMEL_TEST_BRIEF").is_some()
}

/// Whether `index` is the first format: with it, every driver runs every kernel.
pub(crate) fn always(index: usize) -> bool {
    index == 0
}

/// Whether the case at `index` runs on a device with subgroups of so many lanes. In full and on GPUs: every case. In
/// brief: none. Otherwise every third case, a different third for each subgroup size: the suite runs with three sizes.
pub(crate) fn in_rotation(index: usize, lanes: u32) -> bool {
    let is_here = lanes > 16 || (index + lanes.trailing_zeros() as usize).is_multiple_of(3);
    in_full() || !in_brief() && is_here
}
