//! A Vulkan that executes nothing and checks each command against Vulkan's rules.
//!
//! Instances, physical devices and devices are pointers to a [`Fake`], command buffers pointers to a [`Recording`].
//! Pipelines, layouts and modules are numbers; buffers are one of [`BUFFERS`]. driver.rs has the driver.

mod driver;

use ash::vk;
use fake_vulkan::{MOST_GROUPS_Y, PUSH_BYTES};
use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use trommel::DeviceFacts;

pub(crate) use driver::get_proc_addr;
pub(crate) use fake_vulkan::{ALL_FEATURES, set_features};

/// Base addresses of the buffers; a buffer's handle is its index and one.
pub(crate) const BUFFERS: [u64; 2] = [1 << 56, u64::MAX - (1 << 20) + 1];

/// A physical device and the device on it.
pub(crate) struct Fake {
    pub(crate) facts: DeviceFacts,
    pub(crate) api_version: u32,
    /// The minor version that the instance was created for.
    pub(crate) instance_minor: u32,
    pub(crate) families: Vec<vk::QueueFlags>,
    pub(crate) debug_utils: bool,
    /// Bits of the eight features that the device has, in the order of [`set_features`].
    pub(crate) features: u32,
    /// Whether objects come with allocation callbacks.
    pub(crate) callbacks: bool,
    /// The creation of an object that fails, counted from now; below 0: none.
    pub(crate) fail_after: AtomicI64,
    next: AtomicU64,
    live: Mutex<HashSet<u64>>,
    faults: Mutex<Vec<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fake {
    /// A device that meets all requirements of the library.
    pub(crate) fn new(facts: DeviceFacts) -> Self {
        let graphics = if facts.compute_only { vk::QueueFlags::empty() } else { vk::QueueFlags::GRAPHICS };
        Self {
            facts,
            api_version: vk::API_VERSION_1_3,
            instance_minor: 3,
            families: vec![vk::QueueFlags::COMPUTE | graphics],
            debug_utils: false,
            features: ALL_FEATURES,
            callbacks: false,
            fail_after: AtomicI64::new(-1),
            next: AtomicU64::new(1),
            live: Mutex::default(),
            faults: Mutex::default(),
        }
    }

    /// The pointer that stands for the instance, the physical device and the device.
    pub(crate) fn raw(&self) -> u64 {
        std::ptr::from_ref(self).addr() as u64
    }

    /// Objects that have not been destroyed.
    pub(crate) fn live(&self) -> usize {
        locked(&self.live).len()
    }

    /// Rules that creations and destructions have broken since the last call.
    pub(crate) fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.faults))
    }

    fn fault(&self, text: String) {
        locked(&self.faults).push(text);
    }

    fn is_live(&self, object: u64) -> bool {
        locked(&self.live).contains(&object)
    }

    fn create(&self, callbacks: *const vk::AllocationCallbacks<'_>) -> Result<u64, vk::Result> {
        if callbacks.is_null() == self.callbacks {
            self.fault("an object is created with other allocation callbacks than the device's".into());
        }
        if self.fail_after.load(Ordering::Relaxed) >= 0 && self.fail_after.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        let object = self.next.fetch_add(1, Ordering::Relaxed);
        locked(&self.live).insert(object);
        Ok(object)
    }

    fn destroy(&self, object: u64, callbacks: *const vk::AllocationCallbacks<'_>) {
        if object != 0 && !locked(&self.live).remove(&object) {
            self.fault(format!("object {object} is destroyed, and is not alive"));
        }
        if callbacks.is_null() == self.callbacks {
            self.fault("an object is destroyed with other allocation callbacks than the device's".into());
        }
    }
}

/// The buffer range and the queries that commands of the next call may use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) buffer: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) pool: u64,
    pub(crate) first_query: u32,
    pub(crate) queries: u32,
}

/// A command buffer: the state of the recording, a hash of the commands, and the rules that they have broken.
pub(crate) struct Recording {
    device: *const Fake,
    limits: Limits,
    hash: u64,
    pub(crate) commands: u32,
    pub(crate) dispatches: u32,
    pub(crate) faults: Vec<String>,
    bound: bool,
    pushed: u32,
    labels: i32,
    arguments_visible: bool,
    written: HashSet<u32>,
}

impl Recording {
    pub(crate) fn new(device: &Fake) -> Self {
        Self {
            device,
            limits: Limits::default(),
            hash: 0,
            commands: 0,
            dispatches: 0,
            faults: Vec::new(),
            bound: false,
            pushed: 0,
            labels: 0,
            arguments_visible: false,
            written: HashSet::new(),
        }
    }

    /// Forgets all commands.
    pub(crate) fn begin(&mut self, limits: Limits) {
        // SAFETY: the device outlives its command buffers.
        *self = Self { limits, ..Self::new(unsafe { &*self.device }) };
    }

    /// Ends the recording: checks that labels are closed and queries are written. Returns a hash of the commands.
    pub(crate) fn end(&mut self) -> u64 {
        if self.labels != 0 {
            self.fault(format!("{} labels are still open", self.labels));
        }
        let queries = u32::try_from(self.written.len()).unwrap_or(u32::MAX);
        if self.commands != 0 && queries != self.limits.queries {
            self.fault(format!("{queries} of {} queries are written", self.limits.queries));
        }
        self.hash
    }

    fn fault(&mut self, text: impl Into<String>) {
        self.faults.push(text.into());
    }

    fn check(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.fault(text());
        }
    }

    fn log(&mut self, words: &[u64]) {
        self.commands += 1;
        for word in words {
            self.hash = (self.hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }

    fn device(&self) -> &Fake {
        // SAFETY: the device outlives its command buffers.
        unsafe { &*self.device }
    }

    fn bind(&mut self, point: vk::PipelineBindPoint, pipeline: u64) {
        self.log(&[1, pipeline]);
        let live = self.device().is_live(pipeline);
        self.check(live && point == vk::PipelineBindPoint::COMPUTE, || {
            format!("pipeline {pipeline} is bound, and none")
        });
        self.bound = true;
    }

    fn push(&mut self, layout: u64, stages: vk::ShaderStageFlags, offset: u32, bytes: &[u8]) {
        self.log(&[2, offset.into()]);
        for word in bytes.chunks(4) {
            self.hash = (self.hash ^ word.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
                .wrapping_mul(0xd134_2543_de82_ef95);
        }
        let (size, live) = (u32::try_from(bytes.len()).unwrap_or(u32::MAX), self.device().is_live(layout));
        let fits = offset.checked_add(size).is_some_and(|end| end <= PUSH_BYTES);
        let aligned = offset.is_multiple_of(4) && size.is_multiple_of(4) && size != 0;
        self.check(fits && aligned, || format!("{size} bytes at {offset} of the push constants"));
        self.check(live && stages == vk::ShaderStageFlags::COMPUTE, || {
            format!("push constants for layout {layout}, {stages:?}")
        });
        if offset <= self.pushed {
            self.pushed = self.pushed.max(offset.saturating_add(size));
        }
    }

    fn before_dispatch(&mut self) {
        self.dispatches += 1;
        let (bound, pushed) = (self.bound, self.pushed);
        self.check(bound, || "a dispatch without a pipeline".into());
        self.check(pushed != 0, || "a dispatch without push constants".into());
    }

    fn dispatch(&mut self, x: u32, y: u32, z: u32) {
        self.log(&[3, x.into(), y.into(), z.into()]);
        self.before_dispatch();
        let most = self.device().facts.max_groups_x;
        self.check(x <= most && y <= MOST_GROUPS_Y && z == 1, || format!("{x} x {y} x {z} workgroups"));
    }

    fn dispatch_indirect(&mut self, buffer: u64, offset: u64) {
        self.log(&[4, buffer, offset]);
        self.before_dispatch();
        self.in_scratch("indirect command", buffer, offset, 12);
        let visible = self.arguments_visible;
        self.check(visible, || "an indirect command is read, and no barrier is before it".into());
    }

    fn in_scratch(&mut self, what: &str, buffer: u64, offset: u64, size: u64) {
        let Limits { buffer: scratch, offset: start, size: room, .. } = self.limits;
        let inside = offset >= start && u128::from(offset) + u128::from(size) <= u128::from(start) + u128::from(room);
        self.check(buffer == scratch && inside, || {
            let scratch = format!("scratch is {room} bytes at {start} of buffer {scratch}");
            format!("{what}: {size} bytes at {offset} of buffer {buffer}; {scratch}")
        });
        self.check(offset.is_multiple_of(4), || format!("{what}: offset {offset} is not a multiple of 4"));
    }

    fn update(&mut self, buffer: u64, offset: u64, bytes: &[u8]) {
        let size = bytes.len() as u64;
        self.log(&[5, buffer, offset, size]);
        for word in bytes.chunks(4) {
            self.hash = (self.hash ^ word.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
                .wrapping_mul(0xd134_2543_de82_ef95);
        }
        self.in_scratch("update", buffer, offset, size);
        self.check((1..=65_536).contains(&size) && size.is_multiple_of(4), || format!("an update of {size} bytes"));
    }

    fn fill(&mut self, buffer: u64, offset: u64, size: u64, word: u32) {
        self.log(&[9, buffer, offset, size, word.into()]);
        self.in_scratch("fill", buffer, offset, size);
        self.check(size != 0 && size.is_multiple_of(4), || format!("a fill of {size} bytes"));
    }

    fn barrier(&mut self, barrier: &vk::MemoryBarrier2<'_>) {
        use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};
        let (source, target) = (barrier.src_stage_mask, barrier.dst_stage_mask);
        self.log(&[
            6,
            source.as_raw(),
            barrier.src_access_mask.as_raw(),
            target.as_raw(),
            barrier.dst_access_mask.as_raw(),
        ]);
        let sources = Stage::COMPUTE_SHADER | Stage::ALL_TRANSFER;
        let targets = Stage::COMPUTE_SHADER | Stage::DRAW_INDIRECT;
        let known = sources.contains(source) && targets.contains(target) && !source.is_empty() && !target.is_empty();
        self.check(known, || format!("a barrier from {source:?} to {target:?}"));
        for (stages, access) in [(source, barrier.src_access_mask), (target, barrier.dst_access_mask)] {
            let mut allowed = Access::empty();
            for (stage, accesses) in [
                (Stage::COMPUTE_SHADER, Access::SHADER_STORAGE_READ | Access::SHADER_STORAGE_WRITE),
                (Stage::ALL_TRANSFER, Access::TRANSFER_WRITE),
                (Stage::DRAW_INDIRECT, Access::INDIRECT_COMMAND_READ),
            ] {
                if stages.contains(stage) {
                    allowed |= accesses;
                }
            }
            self.check(allowed.contains(access), || format!("access {access:?} in stages {stages:?}"));
        }
        self.arguments_visible |= target.contains(Stage::DRAW_INDIRECT);
    }

    fn timestamp(&mut self, stage: vk::PipelineStageFlags2, pool: u64, query: u32) {
        self.log(&[7, stage.as_raw(), pool, query.into()]);
        let Limits { pool: promised, first_query, queries, .. } = self.limits;
        let inside = query.checked_sub(first_query).is_some_and(|index| index < queries);
        self.check(pool == promised && inside, || {
            format!("query {query} of pool {pool}; the call has {queries} from {first_query} of pool {promised}")
        });
        let new = self.written.insert(query);
        self.check(new, || format!("query {query} is written twice"));
    }

    fn label(&mut self, change: i32) {
        self.log(&[8, u64::from(change.unsigned_abs()), u64::from(change < 0)]);
        self.labels += change;
        let (labels, debug) = (self.labels, self.device().debug_utils);
        self.check(labels >= 0, || "a label ends that has not begun".into());
        self.check(debug, || "a label without VK_EXT_debug_utils".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null;
    use vk::PipelineStageFlags2 as Stage;

    const LIMITS: Limits = Limits { buffer: 1, offset: 256, size: 1024, pool: 9, first_query: 4, queries: 1 };

    fn facts() -> DeviceFacts {
        DeviceFacts {
            vendor_id: 0,
            is_cpu: false,
            compute_only: false,
            min_lanes: 32,
            max_lanes: 32,
            lanes_selectable: true,
            max_invocations: 1024,
            max_subgroups: 32,
            shared_memory: 32_768,
            max_groups_x: 65_535,
        }
    }

    /// The faults of a good recording in which `plant` does one thing more.
    fn faults(plant: impl Fn(&mut Recording)) -> Vec<String> {
        let fake = Fake { debug_utils: true, ..Fake::new(facts()) };
        let object = fake.create(null()).expect("no failure is planned");
        let mut recording = Recording::new(&fake);
        recording.begin(LIMITS);
        recording.label(1);
        recording.bind(vk::PipelineBindPoint::COMPUTE, object);
        recording.push(object, vk::ShaderStageFlags::COMPUTE, 0, &[0; 8]);
        recording.dispatch(65_535, 1, 1);
        let barrier =
            vk::MemoryBarrier2::default().src_stage_mask(Stage::COMPUTE_SHADER).dst_stage_mask(Stage::DRAW_INDIRECT);
        recording.barrier(&barrier);
        recording.dispatch_indirect(1, 256 + 1012);
        recording.update(1, 256, &[0; 1024]);
        recording.label(-1);
        recording.timestamp(Stage::COMPUTE_SHADER, 9, 4);
        plant(&mut recording);
        recording.end();
        recording.faults
    }

    #[test]
    fn a_good_recording_has_no_fault() {
        assert_eq!(faults(|_| ()), Vec::<String>::new());
    }

    #[test]
    fn each_planted_fault_is_found() {
        type Plant = fn(&mut Recording);
        let plants: &[(&str, Plant)] = &[
            ("dead pipeline", |r| r.bind(vk::PipelineBindPoint::COMPUTE, 77)),
            ("graphics", |r| r.bind(vk::PipelineBindPoint::GRAPHICS, 1)),
            ("push behind the end", |r| r.push(1, vk::ShaderStageFlags::COMPUTE, 124, &[0; 8])),
            ("push of half a word", |r| r.push(1, vk::ShaderStageFlags::COMPUTE, 0, &[0; 2])),
            ("push for another stage", |r| r.push(1, vk::ShaderStageFlags::VERTEX, 0, &[0; 4])),
            ("push for no layout", |r| r.push(5, vk::ShaderStageFlags::COMPUTE, 0, &[0; 4])),
            ("too many groups in x", |r| r.dispatch(65_536, 1, 1)),
            ("too many groups in y", |r| r.dispatch(1, 65_536, 1)),
            ("groups in z", |r| r.dispatch(1, 1, 2)),
            ("indirect behind scratch", |r| r.dispatch_indirect(1, 256 + 1016)),
            ("indirect before scratch", |r| r.dispatch_indirect(1, 252)),
            ("indirect of another buffer", |r| r.dispatch_indirect(2, 256)),
            ("indirect misaligned", |r| r.dispatch_indirect(1, 258)),
            ("update behind scratch", |r| r.update(1, 256, &[0; 1028])),
            ("update of half a word", |r| r.update(1, 256, &[0; 6])),
            ("update of nothing", |r| r.update(1, 256, &[])),
            ("update misaligned", |r| r.update(1, 257, &[0; 4])),
            ("barrier from nothing", |r| {
                r.barrier(&vk::MemoryBarrier2::default().dst_stage_mask(Stage::COMPUTE_SHADER))
            }),
            ("barrier to the host", |r| {
                r.barrier(
                    &vk::MemoryBarrier2::default().src_stage_mask(Stage::COMPUTE_SHADER).dst_stage_mask(Stage::HOST),
                );
            }),
            ("access of another stage", |r| {
                let barrier = vk::MemoryBarrier2::default()
                    .src_stage_mask(Stage::COMPUTE_SHADER)
                    .dst_stage_mask(Stage::COMPUTE_SHADER);
                r.barrier(&barrier.src_access_mask(vk::AccessFlags2::TRANSFER_WRITE));
            }),
            ("query before the first", |r| r.timestamp(Stage::COMPUTE_SHADER, 9, 3)),
            ("query behind the last", |r| r.timestamp(Stage::COMPUTE_SHADER, 9, 5)),
            ("query written twice", |r| r.timestamp(Stage::COMPUTE_SHADER, 9, 4)),
            ("query of another pool", |r| r.timestamp(Stage::COMPUTE_SHADER, 8, 4)),
            ("open label", |r| r.label(1)),
            ("closed label", |r| r.label(-1)),
        ];
        for (name, plant) in plants {
            assert!(!faults(plant).is_empty(), "{name}");
        }
    }

    #[test]
    fn an_empty_state_is_found() {
        let fake = Fake::new(facts());
        let mut recording = Recording::new(&fake);
        recording.begin(LIMITS);
        recording.dispatch(1, 1, 1);
        recording.dispatch_indirect(1, 256);
        recording.label(1);
        recording.label(-1);
        recording.end();
        let text = recording.faults.join("; ");
        for part in
            ["without a pipeline", "without push constants", "no barrier", "VK_EXT_debug_utils", "0 of 1 queries"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn other_commands_have_another_number() {
        let fake = Fake::new(facts());
        let mut recording = Recording::new(&fake);
        let mut number = |size: u8, groups| {
            recording.begin(LIMITS);
            recording.push(1, vk::ShaderStageFlags::COMPUTE, 0, &[size; 4]);
            recording.dispatch(groups, 1, 1);
            recording.end()
        };
        assert_eq!(number(1, 1), number(1, 1));
        assert_ne!(number(1, 1), number(2, 1));
        assert_ne!(number(1, 1), number(1, 2));
    }

    #[test]
    fn objects_are_counted_and_callbacks_compared() {
        let fake = Fake { callbacks: true, ..Fake::new(facts()) };
        let object = fake.create(null()).expect("no failure is planned");
        assert_eq!((fake.live(), fake.take_faults().len()), (1, 1));
        fake.destroy(object, null());
        fake.destroy(object, std::ptr::dangling());
        assert_eq!((fake.live(), fake.take_faults().len()), (0, 2));
        fake.fail_after.store(1, Ordering::Relaxed);
        let results = [(); 3].map(|()| fake.create(std::ptr::dangling()).is_ok());
        assert_eq!(results, [true, false, true]);
    }
}
