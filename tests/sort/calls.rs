//! Calls of sorters.

use crate::calls::{
    Call, Handle, Place, Shape, begun, c_count, c_key, c_range, c_scratch, c_strategy, c_timestamps, c_value,
};
use crate::spirv::words_of;
use ash::vk;
use std::ptr;
use trommel::capi::*;
use trommel::{
    Count, KeyType, Request, Result, Segments, SortComparatorKernel, SortInfo, Sorter, SorterInfo, Strategy, ValueType,
};

/// Items of one word, items of many words, keys narrower than a word, which are packed at the end, and segments. Keys
/// by a comparator.
pub(crate) fn handles(place: &Place) -> Vec<Box<dyn Handle + '_>> {
    let keys = SorterInfo::keys().batches().strategy(place.strategy);
    let of = |key, value| SorterInfo { key, value, ..keys };
    let infos = [
        of(KeyType::U32, ValueType::U32),
        keys,
        of(KeyType::U64, ValueType::None),
        of(KeyType::U64, ValueType::Bytes(16)),
        of(KeyType::F64, ValueType::U32),
        of(KeyType::I16, ValueType::None),
        of(KeyType::I16, ValueType::U32),
        of(KeyType::U32x4, ValueType::None),
        of(KeyType::U32x4, ValueType::U32),
        SorterInfo { segmented: true, ..of(KeyType::U32, ValueType::U32) },
    ];
    let sorters = infos.into_iter().map(|info| Sorters::new(place, info)).chain([Sorters::by_comparator(place, keys)]);
    sorters.map(|sorters| Box::new(sorters) as Box<dyn Handle>).collect()
}

/// A sorter in Rust and one in C.
struct Sorters<'a> {
    place: &'a Place,
    sorter: Sorter,
    c_sorter: TrmSorter,
    user_words: [u32; 4],
}

impl<'a> Sorters<'a> {
    fn new(place: &'a Place, info: SorterInfo) -> Self {
        let sorter = Sorter::new(&place.device, &info).unwrap_or_else(|error| panic!("{info:?}: {error}"));
        let c_info = Self::c_info(info);
        let mut c_sorter = ptr::null_mut();
        // SAFETY: everything is valid.
        unsafe { assert_eq!(trmCreateSorter(place.c_device.0, &c_info, &mut c_sorter), 0, "{info:?}") };
        Self { place, sorter, c_sorter, user_words: [0; 4] }
    }

    fn by_comparator(place: &'a Place, info: SorterInfo) -> Self {
        // The comparator has one order, and no digits.
        let info = SorterInfo { strategy: Strategy::Auto, ..info };
        let bytes = include_bytes!("../kernels/sort_masked_u32.spv");
        let code = words_of(bytes);
        let kernel = SortComparatorKernel::from_spirv(&code).expect("a kernel of this version");
        // SAFETY: the compiler has created the module from a valid function.
        let sorter = unsafe { Sorter::with_comparator(&place.device, &info, &kernel) };
        let c_info = Self::c_info(info);
        let mut c_sorter = ptr::null_mut();
        // SAFETY: everything is valid, the module as above.
        let result =
            unsafe { trmCreateSorterFromSpirv(place.c_device.0, &c_info, code.as_ptr(), bytes.len(), &mut c_sorter) };
        assert_eq!(result, 0, "{info:?}");
        Self { place, sorter: sorter.expect("a sorter"), c_sorter, user_words: [0, 0, 0, 1] }
    }

    fn c_info(info: SorterInfo) -> TrmSorterCreateInfo {
        let (value_type, value_size) = c_value(info.value);
        let segmented = if info.segmented { TRM_SORTER_CREATE_SEGMENTED_BIT } else { 0 };
        TrmSorterCreateInfo {
            flags: TRM_SORTER_CREATE_BATCHES_BIT | segmented,
            key_type: c_key(info.key),
            value_type,
            value_size,
            strategy: c_strategy(info.strategy),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::SorterCreateInfo) }
        }
    }
}

impl Drop for Sorters<'_> {
    fn drop(&mut self) {
        // SAFETY: no command is ever executed.
        unsafe { trmDestroySorter(self.c_sorter) };
    }
}

impl Handle for Sorters<'_> {
    fn name(&self) -> String {
        format!("{:?}", self.sorter.info())
    }

    fn counts(&self) -> Vec<u32> {
        let counts = [100, 1000, 6000, 30_000, 50_000, 100_000, 1 << 20, 1 << 24];
        let more = (10..20).map(|log2| 1 << log2).filter(|_| self.sorter.info().segmented);
        counts.into_iter().chain(more).filter(|count| *count <= self.place.most).collect()
    }

    fn call(&self, shape: Shape) -> Box<dyn Call + '_> {
        let SorterInfo { key, value, segmented, .. } = *self.sorter.info();
        let (scratch, timestamps) = (self.place.scratch, self.place.timestamps);
        let (count, segments) = if segmented {
            // The last offset is the number of keys, so a count in device memory is that of the segments.
            let segments = Segments { offsets: shape.array(4, 101, 4), count: Count { max: 100, ..shape.count(2) } };
            (Count::host(shape.count), segments)
        } else {
            (shape.count(2), Segments::default())
        };
        let info = SortInfo {
            count,
            keys: shape.array(0, shape.count.into(), key.size()),
            values: shape.array(1, shape.count.into(), value.size()),
            status: shape.status(3),
            segments,
            scratch,
            timestamps: Some(timestamps),
            user_words: self.user_words,
            ..SortInfo::default()
        };
        let c_info = TrmSortInfo {
            sorter: self.c_sorter,
            count: c_count(info.count),
            keys: c_range(info.keys),
            values: c_range(info.values),
            status: info.status,
            segments: TrmSegments { offsets: c_range(segments.offsets), count: c_count(segments.count) },
            scratch: c_scratch(scratch),
            timestamps: c_timestamps(timestamps),
            user_words: self.user_words,
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::SortInfo) }
        };
        Box::new(Sort { sorters: self, info, c_info })
    }
}

struct Sort<'a> {
    sorters: &'a Sorters<'a>,
    info: SortInfo,
    c_info: TrmSortInfo,
}

impl Call for Sort<'_> {
    fn name(&self) -> String {
        format!("a sort of {:?} by {:?}", self.info.count, self.sorters.sorter.info())
    }

    fn request(&self) -> Request<'_> {
        Request::Sort(&self.sorters.sorter, self.info)
    }

    fn info(&self) -> *const TrmInfoHeader {
        ptr::from_ref(&self.c_info).cast()
    }

    fn record(&self, commands: vk::CommandBuffer) -> Result<()> {
        // SAFETY: the commands are never executed.
        unsafe { self.sorters.sorter.cmd_sort(commands, &self.info) }
    }

    fn record_in_c(&self, commands: vk::CommandBuffer) -> i32 {
        // SAFETY: the commands are never executed.
        unsafe { trmCmdSort(commands, self.sorters.c_sorter, &self.c_info) }
    }
}
