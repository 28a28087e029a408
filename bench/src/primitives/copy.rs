//! `vkCmdCopyBuffer`, for comparison. A compute kernel may copy several times as fast.

use crate::arrays::{ArrayInfo, Contents, Memory};
use crate::handles::Handles;
use crate::inputs::{Content, Field, Keys};
use crate::items::{Items, KEYS};
use crate::workload::{Family, Operation, Primitive, Step, Workload};
use ash::vk;
use std::sync::Arc;
use trommel::Timestamps;

/// A copy of `u32` keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferCopy;

impl Primitive for BufferCopy {
    fn families(&self) -> Vec<Family> {
        vec![Family::new("copy_buffer", Self, &[1 << 20, 1 << 24, 1 << 28])]
    }
}

impl Workload for BufferCopy {
    fn bytes_per_item(&self) -> u32 {
        8
    }

    fn prepare(&self, n: u32, _handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        Ok(Box::new(Copies(n)))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        Items::default().compare(vec![std::ops::Range { start: 0, end: n }], contents)?.check_copied()
    }

    fn with_keys(&self, _keys: Keys) -> Arc<dyn Workload> {
        Arc::new(*self)
    }
}

/// A copy of so many keys.
struct Copies(u32);

impl Operation for Copies {
    fn arrays(&self) -> Vec<ArrayInfo> {
        // Without a first buffer nothing is restored before the run, so that the copy reads from memory and not from a
        // cache.
        let fields = vec![Field { content: Content::Keys(Keys::Random), size: 4 }];
        vec![ArrayInfo { fields, stride: 4, sides: [false, true], capacity: self.0, ..ArrayInfo::default() }]
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        Ok(0)
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        vec![Box::new(CopyStep(memory))]
    }

    fn output_sides(&self) -> Vec<usize> {
        vec![1]
    }
}

struct CopyStep<'a>(&'a Memory);

impl Step for CopyStep<'_> {
    unsafe fn record(&self, commands: vk::CommandBuffer, _timestamps: Option<Timestamps>) -> trommel::Result<()> {
        self.0.copy_input(commands, KEYS, 1);
        Ok(())
    }

    fn timestamp_count(&self) -> trommel::Result<u32> {
        Ok(0)
    }

    fn describe(&self) -> trommel::Result<String> {
        Ok(String::new())
    }
}
