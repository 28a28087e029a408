//! Requests of items: keys and values in every layout, counts on the host or on the device, segments.

use super::keys::{Bits, bytes_of};
use super::problem::{Array, Places};
use std::ops::Range;
use trommel::{Count, KeyType, Layout, Placement, STATUS_COUNT_CLAMPED, Segments, ValueType};

/// Source of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// All keys; the count is on the host.
    Host,
    /// In device memory, in a word of its own.
    Device(u32),
    /// In device memory, in a word that several jobs read. Jobs of one slot have the same count.
    Shared { slot: usize, value: u32 },
}

impl Counted {
    /// The count, if it is in device memory.
    pub(crate) fn on_device(self) -> Option<u32> {
        match self {
            Self::Host => None,
            Self::Device(value) | Self::Shared { value, .. } => Some(value),
        }
    }

    /// The word in device memory.
    pub(crate) fn array(self, role: &'static str) -> Option<Array> {
        let slot = if let Self::Shared { slot, .. } = self { Some(slot) } else { None };
        self.on_device().map(|value| Array { slot, ..Array::words(role, &[value]) })
    }
}

/// A request with its items. `H`: the handle, and the members of the info besides the items.
#[derive(Clone)]
pub(crate) struct Job<H> {
    pub(crate) handle: H,
    /// The keys; their number is the maximum count.
    pub(crate) keys: Vec<Bits>,
    /// Number of keys; for segmented handles, number of segments.
    pub(crate) count: Counted,
    pub(crate) status: bool,
    /// Segment offsets, one more than segments; for segmented handles only.
    pub(crate) offsets: Vec<u32>,
}

impl<H> Job<H> {
    /// All keys, without a status word.
    pub(crate) fn of(handle: H, keys: Vec<Bits>) -> Self {
        Self { handle, keys, count: Counted::Host, status: false, offsets: Vec::new() }
    }

    /// The same job with its count in device memory and a status word.
    pub(crate) fn counted(self, count: Counted) -> Self {
        Self { count, status: true, ..self }
    }

    /// The same job with segments.
    pub(crate) fn cut(self, offsets: Vec<u32>) -> Self {
        Self { offsets, ..self }
    }

    /// Number of keys.
    pub(crate) fn max(&self) -> u32 {
        u32::try_from(self.keys.len()).expect("tests are small")
    }

    pub(crate) fn is_segmented(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// The maximum count.
    pub(crate) fn max_count(&self) -> u32 {
        if self.is_segmented() { self.offsets.len() as u32 - 1 } else { self.max() }
    }

    /// Ranges of items that are processed independently. All other items stay unchanged.
    pub(crate) fn runs(&self) -> Vec<Range<usize>> {
        let count = self.count.on_device().unwrap_or(u32::MAX).min(self.max_count()) as usize;
        if !self.is_segmented() {
            return std::iter::once(0..count).collect();
        }
        let index = |offset: u32| offset.min(self.max()) as usize;
        self.offsets[..=count].windows(2).map(|pair| index(pair[0])..index(pair[1])).collect()
    }

    /// Whether the count exceeds its maximum, or segments end past the end of the arrays.
    fn is_clamped(&self) -> bool {
        let (requested, most) = (self.count.on_device(), self.max_count());
        let end = self.offsets.get(requested.unwrap_or(u32::MAX).min(most) as usize);
        requested.is_some_and(|count| count > most) || end.is_some_and(|end| *end > self.max())
    }

    /// Source index of the item at each output index, if each run is stably sorted by `rank`.
    pub(crate) fn stable_order<K: Ord>(&self, rank: impl Fn(usize) -> K) -> Vec<Option<usize>> {
        let mut all = Vec::new();
        for run in self.runs().into_iter().filter(|run| !run.is_empty()) {
            all.resize(run.start, None);
            let mut order: Vec<usize> = run.collect();
            order.sort_by_key(|item| rank(*item));
            all.extend(order.into_iter().map(Some));
        }
        all
    }

    /// The arrays of the items, the count, the status and the segments. `order`: the source index of the item at each
    /// output index. `flags`: of the status, beside clamping.
    pub(crate) fn item_arrays(
        &self,
        format: &Format,
        values: Vec<u8>,
        order: &[Option<usize>],
        flags: u32,
    ) -> Vec<Array> {
        let clamped = if self.is_clamped() { STATUS_COUNT_CLAMPED } else { 0 };
        let mut all = format.arrays(&self.keys, values, order);
        all.extend(self.count.array("count"));
        all.extend(self.status.then(|| Array::status(clamped | flags)));
        all.extend(self.is_segmented().then(|| Array::words("segments", &self.offsets)));
        all
    }

    /// Number of keys in an info.
    pub(crate) fn count(&self, places: &Places) -> Count {
        if self.is_segmented() { Count::host(self.max()) } else { places.count("count", self.max()) }
    }

    /// Segments in an info.
    pub(crate) fn segments(&self, places: &Places) -> Segments {
        if !self.is_segmented() {
            return Segments::default();
        }
        Segments { offsets: places.range("segments"), count: places.count("count", self.max_count()) }
    }
}

/// Types and layout of items, and the arrays that hold the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) key: KeyType,
    pub(crate) value: ValueType,
    pub(crate) drop_keys: bool,
    pub(crate) layout: Layout,
    pub(crate) placement: Placement,
    /// 0: the result is in `keys` and `values`. 1: it is in `keys_out` and `values_out`.
    pub(crate) result_side: usize,
}

impl Format {
    /// Bytes from one key to the next; 0: keys are dense. Narrow keys: 7 keys, so that keys occur at every byte of a
    /// word. Others: 5 more words, so that items occur at every word of a cache line.
    pub(crate) fn key_stride(&self) -> u32 {
        match (self.layout, self.key.size()) {
            (Layout::Strided, size) if size < 4 => 7 * size,
            (Layout::Strided, size) => size + 20,
            _ => 0,
        }
    }

    /// Bytes from one value to the next; 0: values are dense, or none are read.
    pub(crate) fn value_stride(&self) -> u32 {
        let is_read = !matches!(self.value, ValueType::None | ValueType::Index);
        if self.layout == Layout::Strided && is_read { self.value.size() + 12 } else { 0 }
    }

    /// `n` values of a problem. Ascending, so that a swap of equal keys is found. Distinct for all problems and words.
    pub(crate) fn values(&self, n: usize, problem: usize) -> Vec<u8> {
        let is_index = self.value == ValueType::Index;
        let first = if is_index { 0 } else { 0x0100_0000_u32.wrapping_mul(problem as u32 + 1) };
        let words = n as u32 * (self.value.size() / 4);
        (0..words).flat_map(|word| first.wrapping_add(word).to_le_bytes()).collect()
    }

    /// The arrays of inputs, then those of outputs.
    fn arrays(&self, keys: &[Bits], values: Vec<u8>, order: &[Option<usize>]) -> Vec<Array> {
        let columns = self.columns(keys, values);
        let side = |side: usize| columns.iter().filter_map(move |column| column.array(self, side, order));
        side(0).chain(side(1)).collect()
    }

    /// Keys and values, or both interleaved.
    fn columns(&self, keys: &[Bits], values: Vec<u8>) -> Vec<Column> {
        let (key_size, value_size) = (self.key.size() as usize, self.value.size() as usize);
        let keys = bytes_of(keys, key_size);
        let column = |roles, size: usize, stride: u32, items| {
            let stride = if stride == 0 { size } else { stride as usize };
            Column { roles, size, stride, items, is_dropped: false, is_index: false }
        };
        const KEYS: [&str; 2] = ["keys", "keys out"];
        if self.layout == Layout::Interleaved {
            let pairs = keys.chunks_exact(key_size).zip(values.chunks_exact(value_size));
            let items = pairs.flat_map(|(key, value)| [key, value].concat()).collect();
            return vec![column(KEYS, key_size + value_size, 0, items)];
        }
        let mut columns =
            vec![Column { is_dropped: self.drop_keys, ..column(KEYS, key_size, self.key_stride(), keys) }];
        if value_size != 0 {
            let of_values = column(["values", "values out"], value_size, self.value_stride(), values);
            columns.push(Column { is_index: self.value == ValueType::Index, ..of_values });
        }
        columns
    }
}

/// Keys, values, or interleaved keys and values.
struct Column {
    /// Names of input and output.
    roles: [&'static str; 2],
    /// Size of an item, and distance of neighboring items of the input, in bytes.
    size: usize,
    stride: usize,
    /// The items of the input, dense.
    items: Vec<u8>,
    /// Whether the request leaves their output undefined.
    is_dropped: bool,
    /// Whether items are their indices, which no input holds.
    is_index: bool,
}

impl Column {
    /// The array on the side of inputs (0) or of outputs (1), if the request has it.
    fn array(&self, format: &Format, side: usize, order: &[Option<usize>]) -> Option<Array> {
        let is_preserved = format.placement == Placement::Preserve;
        let exists = match side {
            0 => !(is_preserved && self.is_index),
            _ => format.placement != Placement::InPlace && !(is_preserved && self.is_dropped),
        };
        let is_input = side == 0 && !self.is_index;
        let items = if is_input { self.items.clone() } else { vec![0xcd; self.items.len()] };
        let stride = if side == 0 { self.stride } else { self.size };
        let mut array = Array { stride, ..Array::input(self.roles[side], self.size, items) };
        let is_written = side == 1 || !is_preserved;
        if is_written && (side != format.result_side || self.is_dropped) {
            array.undefined = order.len();
        } else if is_written {
            self.scatter(order, &mut array.expected);
        }
        exists.then_some(array)
    }

    /// Writes the item of each output index.
    fn scatter(&self, order: &[Option<usize>], output: &mut [u8]) {
        for (target, source) in output.chunks_exact_mut(self.size).zip(order) {
            if let Some(source) = source {
                target.copy_from_slice(&self.items[source * self.size..][..self.size]);
            }
        }
    }
}
