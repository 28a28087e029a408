//! Device memory of a case: arrays of items, small tables and scratch.

use crate::inputs::{Field, Source, Sources};
use ash::vk;
use std::ops::Range;
use std::sync::Arc;
use trommel::Scratch;
use trommel::host::{Buffer, Context};

/// An array of a case, before it has memory.
#[derive(Default)]
pub(crate) struct ArrayInfo {
    /// The fields of an input item. Empty if the case only writes the array.
    pub(crate) fields: Vec<Field>,
    /// Bytes of an item.
    pub(crate) stride: u32,
    /// Which of the two buffers exist. The input is copied to the first before each run.
    pub(crate) sides: [bool; 2],
    /// Items that each buffer has room for.
    pub(crate) capacity: u32,
    /// Items of the input. None: those of the case.
    pub(crate) items: Option<u32>,
    /// Lengths of the sequences of input items, one after the other, that are sorted before the first run: see
    /// [`Sources::get`]. Empty if keys stay as they are drawn.
    pub(crate) sequences: Vec<u32>,
}

impl ArrayInfo {
    /// An array that one step leaves to the next.
    pub(crate) fn intermediate(stride: u32, capacity: u32) -> Self {
        Self { stride, sides: [stride != 0, false], capacity, ..Self::default() }
    }

    /// Bytes of `n` items, in whole words.
    pub(crate) fn size(&self, n: u32) -> u64 {
        (u64::from(self.stride) * u64::from(n)).next_multiple_of(4)
    }

    /// Items of the input of a case with `n` items.
    fn items(&self, n: u32) -> u32 {
        self.items.unwrap_or(n)
    }

    /// Bytes of device memory of a case with `n` items.
    pub(crate) fn memory(&self, n: u32) -> u64 {
        let sides = self.sides.iter().map(|exists| u64::from(*exists)).sum::<u64>();
        self.size(self.items(n)) * u64::from(!self.fields.is_empty()) + self.size(self.capacity) * sides
    }
}

/// A small array beside the items, before it has memory.
pub(crate) enum Table {
    /// This case has none.
    Absent,
    /// Words that the operation reads.
    Input(Vec<u32>),
    /// The operation writes this many words, and a check reads them.
    Output(u64),
}

struct Array {
    stride: u32,
    /// Bytes of the input's items.
    size: u64,
    source: Option<Arc<Source>>,
    sides: [Option<Buffer>; 2],
}

/// Arrays, tables and scratch. Operations number their arrays and tables.
pub(crate) struct Memory {
    context: Context,
    arrays: Vec<Array>,
    inputs: Vec<Option<Buffer>>,
    outputs: Vec<Option<Buffer>>,
    scratch: Buffer,
}

impl Memory {
    /// The arrays of a case with `n` items. `tables` names the tables once the inputs of all arrays exist.
    pub(crate) fn new(
        context: &Context,
        sources: &mut Sources,
        n: u32,
        arrays: &[ArrayInfo],
        tables: impl FnOnce(&[Option<Arc<Source>>]) -> Vec<Table>,
        scratch_size: u64,
    ) -> trommel::Result<Self> {
        let array = |info: &ArrayInfo| -> trommel::Result<Array> {
            let side = |exists: bool| exists.then(|| poisoned(context, info.size(info.capacity))).transpose();
            let source = || sources.get(context, &info.fields, &info.sequences, info.items(n));
            let source = (!info.fields.is_empty()).then(source).transpose()?;
            Ok(Array {
                stride: info.stride,
                size: info.size(info.items(n)),
                source,
                sides: [side(info.sides[0])?, side(info.sides[1])?],
            })
        };
        let arrays = arrays.iter().map(array).collect::<trommel::Result<Vec<_>>>()?;
        let sources: Vec<_> = arrays.iter().map(|array| array.source.clone()).collect();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for table in tables(&sources) {
            let (input, output) = match table {
                Table::Absent => (None, None),
                Table::Input(words) => (Some(context.upload(&words)?), None),
                Table::Output(words) => (None, Some(poisoned(context, words * 4)?)),
            };
            inputs.push(input);
            outputs.push(output);
        }
        Ok(Self { context: context.clone(), arrays, inputs, outputs, scratch: context.buffer(scratch_size)? })
    }

    /// Replaces scratch if it is smaller than `size`.
    pub(crate) fn grow_scratch(&mut self, size: u64) -> trommel::Result<()> {
        if size > self.scratch.size() {
            self.scratch = self.context.buffer(size)?;
        }
        Ok(())
    }

    pub(crate) fn scratch(&self) -> Scratch {
        self.scratch.scratch()
    }

    fn buffer(&self, array: usize, side: usize) -> Option<&Buffer> {
        self.arrays.get(array)?.sides[side].as_ref()
    }

    /// A whole buffer of an array. Empty if the array has no such buffer.
    pub(crate) fn whole(&self, array: usize, side: usize) -> trommel::Range {
        self.buffer(array, side).map(Buffer::range).unwrap_or_default()
    }

    /// The items of one problem.
    pub(crate) fn part(&self, array: usize, side: usize, problem: &Range<u32>) -> trommel::Range {
        let Some(buffer) = self.buffer(array, side) else { return trommel::Range::default() };
        let bytes = |items: u32| u64::from(items) * u64::from(self.arrays[array].stride);
        trommel::Range::new(buffer.address() + bytes(problem.start), bytes(problem.end - problem.start))
    }

    /// A table. Empty if the case has none of this number.
    pub(crate) fn table(&self, number: usize) -> trommel::Range {
        let buffers = [&self.inputs, &self.outputs].map(|buffers| buffers.get(number)?.as_ref());
        buffers.into_iter().flatten().next().map(Buffer::range).unwrap_or_default()
    }

    /// Records copies of all inputs to the first buffers of their arrays.
    pub(crate) fn restore(&self, commands: vk::CommandBuffer) {
        (0..self.arrays.len()).for_each(|array| self.copy_input(commands, array, 0));
    }

    /// Records a copy of an array's input to one of its buffers, if both exist.
    pub(crate) fn copy_input(&self, commands: vk::CommandBuffer, array: usize, side: usize) {
        let Some((to, source)) = self.buffer(array, side).zip(self.arrays[array].source.as_ref()) else { return };
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: self.arrays[array].size }];
        // SAFETY: both buffers hold so many bytes and outlive the run.
        unsafe { self.context.vk().cmd_copy_buffer(commands, source.device.handle(), to.handle(), &region) };
    }

    /// Downloads the outputs: of array `i` the buffer `sides[i]`, and the tables that the operation has written.
    pub(crate) fn download(&self, sides: &[usize]) -> trommel::Result<Contents> {
        let words = |bytes: u64| usize::try_from(bytes / 4).unwrap_or(usize::MAX);
        let array = |(array, side): (&Array, &usize)| -> trommel::Result<_> {
            let buffer = array.sides[*side].as_ref();
            buffer.map(|buffer| self.context.download(buffer, words(array.size)).map(Arc::new)).transpose()
        };
        let table = |buffer: &Option<Buffer>| -> trommel::Result<_> {
            buffer.as_ref().map(|buffer| self.context.download(buffer, words(buffer.size()))).transpose()
        };
        Ok(Contents {
            inputs: self.arrays.iter().map(|array| array.source.as_ref().map(|source| source.host.clone())).collect(),
            outputs: self.arrays.iter().zip(sides).map(array).collect::<trommel::Result<_>>()?,
            tables: self.outputs.iter().map(table).collect::<trommel::Result<_>>()?,
        })
    }
}

/// The words of a case's memory after a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// The input of each array.
    pub(crate) inputs: Vec<Option<Arc<Vec<u32>>>>,
    /// The output of each array that a check reads.
    pub(crate) outputs: Vec<Option<Arc<Vec<u32>>>>,
    /// The words that the operation has written to each table.
    pub(crate) tables: Vec<Option<Vec<u32>>>,
}

/// Memory without the content of earlier cases, which may equal the right output.
fn poisoned(context: &Context, size: u64) -> trommel::Result<Buffer> {
    let buffer = context.buffer(size)?;
    context.run(|commands| {
        // SAFETY: the command buffer is recording; the buffer outlives the run.
        unsafe { context.vk().cmd_fill_buffer(commands, buffer.handle(), 0, vk::WHOLE_SIZE, 0xdead_beef) };
        Ok(())
    })?;
    Ok(buffer)
}
