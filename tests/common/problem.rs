//! Problems: a request of a primitive, its arrays, and their expected content.

use ash::vk;
use trommel::{Count, Request, Result, Scratch};

/// A request that an [`Arena`](super::arena::Arena) runs and checks.
pub(crate) trait Problem {
    /// The arrays that the request names. `index` is the problem's number in the arena: values of two problems differ.
    fn arrays(&self, index: usize) -> Vec<Array>;

    /// Size of the scratch of the request alone, in bytes.
    fn scratch_size(&self) -> u64;

    /// The request with its arrays at `places`. Without places, all addresses are null: such a request determines the
    /// scratch of a batch.
    fn request(&self, places: &Places) -> Request<'_>;

    /// Whether the recording of the request alone begins with a transfer to scratch.
    fn begins_with_transfer(&self) -> bool {
        false
    }

    /// Records the request alone.
    ///
    /// # Safety
    /// As for the library's own call.
    unsafe fn record(&self, commands: vk::CommandBuffer, places: &Places) -> Result<()>;
}

/// Problems of one type, and problems of several types as `&dyn Problem`, are passed alike.
impl<'a, P: Problem> From<&'a P> for &'a (dyn Problem + 'a) {
    fn from(problem: &'a P) -> Self {
        problem
    }
}

/// An array of a problem.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    /// Name of the array, unique in the problem.
    pub(crate) role: &'static str,
    pub(crate) alignment: usize,
    /// How many bytes behind a multiple of 8 the array begins. None: any number that the alignment allows.
    pub(crate) behind_8: Option<usize>,
    /// Size of an item, in bytes.
    pub(crate) size: usize,
    /// Distance of neighboring items, in bytes.
    pub(crate) stride: usize,
    /// The items before the run, without the gaps between them. Empty: noise.
    pub(crate) before: Vec<u8>,
    /// The expected items, without the gaps between them.
    pub(crate) expected: Vec<u8>,
    /// Number of leading items with undefined content after the run.
    pub(crate) undefined: usize,
    /// Problems with an array of the same slot share it.
    pub(crate) slot: Option<usize>,
}

impl Array {
    /// Items that are only read.
    pub(crate) fn input(role: &'static str, size: usize, items: Vec<u8>) -> Self {
        let expected = items.clone();
        Self {
            role,
            alignment: size.min(4),
            behind_8: None,
            size,
            stride: size,
            before: items,
            expected,
            undefined: 0,
            slot: None,
        }
    }

    /// Words that are only read.
    pub(crate) fn words(role: &'static str, words: &[u32]) -> Self {
        Self::input(role, 4, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// Words that are written, and noise before.
    pub(crate) fn results(role: &'static str, words: &[u32]) -> Self {
        Self { before: Vec::new(), ..Self::words(role, words) }
    }

    /// A status word that gets these flags.
    pub(crate) fn status(flags: u32) -> Self {
        Self { before: 0xdead_beef_u32.to_le_bytes().into(), ..Self::words("status", &[flags]) }
    }

    /// Size in bytes, with gaps.
    pub(crate) fn len(&self) -> usize {
        let items = self.expected.len() / self.size;
        items.checked_sub(1).map_or(0, |last| last * self.stride + self.size)
    }

    /// Writes items to a copy of this array.
    pub(crate) fn write(&self, items: &[u8], bytes: &mut [u8]) {
        for (index, item) in items.chunks_exact(self.size).enumerate() {
            bytes[index * self.stride..][..self.size].copy_from_slice(item);
        }
    }
}

/// Where an arena has placed the arrays and the scratch of a problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) arrays: Vec<(&'static str, trommel::Range)>,
    pub(crate) scratch: Scratch,
}

impl Places {
    /// The array of a role; [`trommel::Range::NONE`] if there is none.
    pub(crate) fn range(&self, role: &str) -> trommel::Range {
        let array = self.arrays.iter().find(|(known, _)| *known == role);
        array.map_or(trommel::Range::NONE, |(_, range)| *range)
    }

    /// The address of the array of a role; null if there is none.
    pub(crate) fn address(&self, role: &str) -> vk::DeviceAddress {
        self.range(role).address
    }

    /// The count in the word of a role; the maximum, on the host, if there is none.
    pub(crate) fn count(&self, role: &str, max: u32) -> Count {
        Count::device(self.address(role), max)
    }
}
