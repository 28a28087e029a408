//! Calls of splitters.

use crate::calls::{Call, Handle, Place, Shape, begun, c_count, c_key, c_range, c_scratch, c_strategy, c_timestamps};
use ash::vk;
use std::ptr;
use trommel::capi::*;
use trommel::{BucketFunction, KeyType, Request, Result, SplitInfo, Splitter, SplitterInfo};

/// Few buckets and many, for keys of one word, of two words, and narrower than a word.
pub(crate) fn handles(place: &Place) -> Vec<Box<dyn Handle + '_>> {
    let keys = |key, buckets| SplitterInfo { key, ..SplitterInfo::keys(buckets, BucketFunction::default()) };
    let infos = [keys(KeyType::U32, 16), keys(KeyType::U32, 1000), keys(KeyType::U64, 5), keys(KeyType::I16, 5)];
    let infos = infos.map(|info| info.batches().strategy(place.strategy));
    infos.into_iter().map(|info| Box::new(Splitters::new(place, info)) as Box<dyn Handle>).collect()
}

/// A splitter in Rust and one in C.
struct Splitters<'a> {
    place: &'a Place,
    splitter: Splitter,
    c_splitter: TrmSplitter,
}

impl<'a> Splitters<'a> {
    fn new(place: &'a Place, info: SplitterInfo) -> Self {
        let splitter = Splitter::new(&place.device, &info).unwrap_or_else(|error| panic!("{info:?}: {error}"));
        let c_info = TrmSplitterCreateInfo {
            flags: TRM_SPLITTER_CREATE_BATCHES_BIT,
            key_type: c_key(info.key),
            bucket_count: info.buckets,
            strategy: c_strategy(info.strategy),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::SplitterCreateInfo) }
        };
        let mut c_splitter = ptr::null_mut();
        // SAFETY: everything is valid.
        unsafe { assert_eq!(trmCreateSplitter(place.c_device.0, &c_info, &mut c_splitter), 0, "{info:?}") };
        Self { place, splitter, c_splitter }
    }
}

impl Drop for Splitters<'_> {
    fn drop(&mut self) {
        // SAFETY: no command is ever executed.
        unsafe { trmDestroySplitter(self.c_splitter) };
    }
}

impl Handle for Splitters<'_> {
    fn name(&self) -> String {
        format!("{:?}", self.splitter.info())
    }

    fn counts(&self) -> Vec<u32> {
        let counts = [100, 1000, 30_000, 50_000, 100_000, 1 << 20, 1 << 24];
        counts.into_iter().filter(|count| *count <= self.place.most).collect()
    }

    /// With all results.
    fn call(&self, shape: Shape) -> Box<dyn Call + '_> {
        let SplitterInfo { key, buckets, .. } = *self.splitter.info();
        let (scratch, timestamps) = (self.place.scratch, self.place.timestamps);
        let info = SplitInfo {
            count: shape.count(2),
            keys: shape.array(0, shape.count.into(), key.size()),
            keys_out: shape.array(1, shape.count.into(), key.size()),
            status: shape.status(3),
            offsets: shape.array(4, u64::from(buckets) + 1, 4),
            counts: shape.array(5, buckets.into(), 4),
            commands: shape.array(6, buckets.into(), size_of::<vk::DispatchIndirectCommand>() as u32),
            command_items: 64,
            scratch,
            timestamps: Some(timestamps),
            ..SplitInfo::default()
        };
        let c_info = TrmSplitInfo {
            splitter: self.c_splitter,
            count: c_count(info.count),
            keys: c_range(info.keys),
            keys_out: c_range(info.keys_out),
            status: info.status,
            offsets: c_range(info.offsets),
            counts: c_range(info.counts),
            commands: c_range(info.commands),
            command_items: info.command_items,
            scratch: c_scratch(scratch),
            timestamps: c_timestamps(timestamps),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::SplitInfo) }
        };
        Box::new(Split { splitters: self, info, c_info })
    }
}

struct Split<'a> {
    splitters: &'a Splitters<'a>,
    info: SplitInfo,
    c_info: TrmSplitInfo,
}

impl Call for Split<'_> {
    fn name(&self) -> String {
        format!("a split of {:?} by {:?}", self.info.count, self.splitters.splitter.info())
    }

    fn request(&self) -> Request<'_> {
        Request::Split(&self.splitters.splitter, self.info)
    }

    fn info(&self) -> *const TrmInfoHeader {
        ptr::from_ref(&self.c_info).cast()
    }

    fn record(&self, commands: vk::CommandBuffer) -> Result<()> {
        // SAFETY: the commands are never executed.
        unsafe { self.splitters.splitter.cmd_split(commands, &self.info) }
    }

    fn record_in_c(&self, commands: vk::CommandBuffer) -> i32 {
        // SAFETY: the commands are never executed.
        unsafe { trmCmdSplit(commands, self.splitters.c_splitter, &self.c_info) }
    }
}
