//! Sorts as problems: their requests, and their expected results by the standard library.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use crate::common::comparator::Comparator;
use crate::common::items::{self, Format};
use crate::common::keys::{Bits, Keys, number};
use crate::common::problem::{Array, Places, Problem};
use ash::vk;
use trommel::{Request, Result, SortInfo, Sorter};

/// One sort.
pub(crate) type Job<'a> = items::Job<&'a Sorter>;

impl<'a> Job<'a> {
    pub(crate) fn new(sorter: &'a Sorter, keys: Vec<Bits>) -> Self {
        Self::of(sorter, keys)
    }

    pub(crate) fn draw(sorter: &'a Sorter, keys: Keys, n: usize, seed: u64) -> Self {
        Self::new(sorter, keys.draw(sorter.info().key, n, seed))
    }

    fn format(&self) -> Format {
        let trommel::SorterInfo { key, value, drop_keys, layout, placement, .. } = *self.handle.info();
        Format { key, value, drop_keys, layout, placement, result_side: self.handle.result_side() as usize }
    }

    /// Source index of the item at each output index.
    fn order(&self) -> Vec<Option<usize>> {
        let info = self.handle.info();
        let end = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
        let width = end - info.begin_bit;
        let range = if width == 128 { Bits::MAX } else { (1 << width) - 1 };
        self.stable_order(|item| number(info.key, info.order, self.keys[item]) >> info.begin_bit & range)
    }

    /// The info of the sort with its arrays at `places`.
    pub(crate) fn info(&self, places: &Places) -> SortInfo {
        let format = self.format();
        SortInfo {
            count: self.count(places),
            segments: self.segments(places),
            keys: places.range("keys"),
            values: places.range("values"),
            keys_out: places.range("keys out"),
            values_out: places.range("values out"),
            key_stride: format.key_stride(),
            value_stride: format.value_stride(),
            scratch: places.scratch,
            status: places.address("status"),
            ..SortInfo::default()
        }
    }
}

impl Problem for Job<'_> {
    fn arrays(&self, index: usize) -> Vec<Array> {
        let format = self.format();
        self.item_arrays(&format, format.values(self.keys.len(), index), &self.order(), 0)
    }

    fn scratch_size(&self) -> u64 {
        self.handle.scratch_size(self.max()).expect("counts are small")
    }

    fn request(&self, places: &Places) -> Request<'_> {
        Request::Sort(self.handle, self.info(places))
    }

    unsafe fn record(&self, commands: vk::CommandBuffer, places: &Places) -> Result<()> {
        // SAFETY: as the caller's.
        unsafe { self.handle.cmd_sort(commands, &self.info(places)) }
    }
}

/// A sort by a comparator.
#[derive(Clone)]
pub(crate) struct Compared<'a> {
    pub(crate) job: Job<'a>,
    pub(crate) comparator: Comparator,
    /// Whether the comparator is no order: the content of the outputs is undefined.
    pub(crate) is_disorder: bool,
}

impl Compared<'_> {
    fn info(&self, places: &Places) -> SortInfo {
        let (user_address, user_words) = (places.address("user data"), self.comparator.words);
        SortInfo { user_address, user_words, ..self.job.info(places) }
    }
}

impl Problem for Compared<'_> {
    fn arrays(&self, index: usize) -> Vec<Array> {
        let (job, format) = (&self.job, self.job.format());
        let order = job.stable_order(|item| self.comparator.rank(job.keys[item]));
        let mut all = job.item_arrays(&format, format.values(job.keys.len(), index), &order, 0);
        let outputs = if format.result_side == 0 { ["keys", "values"] } else { ["keys out", "values out"] };
        for array in all.iter_mut().filter(|array| self.is_disorder && outputs.contains(&array.role)) {
            array.undefined = order.len();
        }
        all.extend(self.comparator.array());
        all
    }

    fn scratch_size(&self) -> u64 {
        self.job.scratch_size()
    }

    fn begins_with_transfer(&self) -> bool {
        true
    }

    fn request(&self, places: &Places) -> Request<'_> {
        Request::Sort(self.job.handle, self.info(places))
    }

    unsafe fn record(&self, commands: vk::CommandBuffer, places: &Places) -> Result<()> {
        // SAFETY: as the caller's.
        unsafe { self.job.handle.cmd_sort(commands, &self.info(places)) }
    }
}
