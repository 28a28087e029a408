//! Merges of several sequences as trees of merges of two.
//!
//! Depth `d` has 2^d nodes. Of k sequences, node `j` holds those from `j * k / 2^d` up to `(j + 1) * k / 2^d`, rounded
//! down. The root, the node of depth 0, is the output. A node of several sequences is the merge of its two children. A
//! node of one sequence is this sequence, in the caller's memory. So every item is read once at each depth, except for
//! those that the greatest depth leaves where they are.
//!
//! ```text
//!    depth 0                  01234
//!    depth 1           01              234        in area 0
//!    depth 2        0     1        2       34     34 in area 1, others where they are
//!    its children                        3    4
//! ```
//!
//! There are ceil(log2 k) depths with merges, here 0 to 2. The merges of one depth share dispatches, from the greatest
//! depth to depth 0. In a batch, a tree with fewer depths begins at its own greatest depth, so all trees share depth 0.

use super::format::Format;
use super::merger::MergeInfo;
use super::sequences::{MOST_SEQUENCES, MergeSequence};
use crate::core::memory::Range;
use crate::core::primitive::RequestInfo as _;
use crate::core::scratch::{Layout, PART_ALIGNMENT};
use crate::{Count, Result};

/// Depths with merges: 2^4 is [`MOST_SEQUENCES`].
pub(super) const MOST_DEPTHS: usize = MOST_SEQUENCES.ilog2() as usize;

const WORD: u64 = 4;

/// Scratch for the nodes of trees, except roots and leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nodes {
    /// Areas for the items of odd and of even depths (ping-pong): keys, then values. In its area, a node begins at the
    /// sum of the maximum counts of all sequences before its first one, those of preceding trees included.
    pub(super) areas: [Range; 2],
    /// Bytes of an area before the values.
    values_offset: u64,
    /// For each tree, a word for each node of depths 1 to 3: the number of items, if only the device knows it.
    pub(super) counts: Range,
}

/// The trees before a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    trees: u64,
    items: u64,
}

impl Before {
    pub(super) fn add(&mut self, tree: &Tree<'_>) {
        self.trees += 1;
        self.items += tree.items(0..tree.sequence_count());
    }
}

impl Nodes {
    /// Allocates scratch for trees with so many depths at most. `all`: all trees.
    pub(super) fn lay_out(
        format: &Format,
        depths: usize,
        all: Before,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let Before { trees, items } = all;
        let mut nodes = Self::default();
        if depths < 2 {
            return Ok(nodes);
        }
        let value_bytes = if format.has_value_arrays() { u64::from(format.value_words) * WORD } else { 0 };
        nodes.values_offset = items.saturating_mul(format.key_step().into()).next_multiple_of(PART_ALIGNMENT);
        for area in nodes.areas.iter_mut().take(depths - 1) {
            *area = layout.range(scratch, nodes.values_offset.saturating_add(items.saturating_mul(value_bytes)))?;
        }
        nodes.counts = layout.range(scratch, trees * u64::from(MOST_SEQUENCES) * WORD)?;
        Ok(nodes)
    }
}

/// A merge of two or more sequences.
pub(super) struct Tree<'i> {
    info: &'i MergeInfo<'i>,
    format: &'i Format,
    nodes: &'i Nodes,
    before: Before,
}

impl<'i> Tree<'i> {
    pub(super) fn new(info: &'i MergeInfo<'i>, format: &'i Format, nodes: &'i Nodes, before: Before) -> Self {
        Self { info, format, nodes, before }
    }

    fn sequence_count(&self) -> u32 {
        self.info.sequence_count()
    }

    /// Items of all sequences, or their maximum.
    pub(super) fn max_count(&self) -> u32 {
        self.info.max_count()
    }

    /// The number of depths with merges.
    pub(super) fn depths(&self) -> usize {
        self.sequence_count().next_power_of_two().ilog2() as usize
    }

    /// Returns sequence `index` of A, B and those after them; an empty one past the last.
    pub(super) fn sequence(&self, index: u32) -> MergeSequence {
        let MergeInfo { count_a, keys_a, values_a, count_b, keys_b, values_b, .. } = *self.info;
        match index {
            0 => MergeSequence { count: count_a, keys: keys_a, values: values_a },
            1 => MergeSequence { count: count_b, keys: keys_b, values: values_b },
            _ => self.info.more.get(index as usize - 2).copied().unwrap_or_default(),
        }
    }

    /// Returns the count of sequence `index`.
    fn count(&self, index: u32) -> Count {
        match index {
            0 => self.info.count_a,
            1 => self.info.count_b,
            _ => self.info.more.get(index as usize - 2).map_or(Count::host(0), |sequence| sequence.count),
        }
    }

    /// Returns the sum of the maximum counts of sequences.
    fn items(&self, sequences: std::ops::Range<u32>) -> u64 {
        sequences.map(|index| u64::from(self.count(index).max)).sum()
    }

    /// The sequences of a node.
    fn sequences_of(&self, depth: usize, node: u32) -> std::ops::Range<u32> {
        let first = |node: u32| (node * self.sequence_count()) >> depth;
        first(node)..first(node + 1)
    }

    /// Returns the memory of a node other than the root: that of a sequence, or a part of scratch.
    fn node(&self, depth: usize, node: u32) -> MergeSequence {
        let sequences = self.sequences_of(depth, node);
        if sequences.len() == 1 {
            return self.sequence(sequences.start);
        }
        let items = self.items(sequences.clone());
        let word = self.before.trees * u64::from(MOST_SEQUENCES) + u64::from((1 << depth) + node);
        let is_on_device = sequences.clone().any(|index| self.count(index).is_on_device());
        let address = if is_on_device { self.nodes.counts.address.wrapping_add(word * WORD) } else { 0 };
        // Merger::check_count() refuses sums that do not fit.
        let max = u32::try_from(items).unwrap_or(u32::MAX);
        let first = self.before.items + self.items(0..sequences.start);
        let Nodes { areas: [odd, even], values_offset, .. } = *self.nodes;
        let area = if depth % 2 == 1 { odd } else { even };
        let array = |offset: u64, bytes: u32| {
            let address = area.address.wrapping_add(offset).wrapping_add(first.wrapping_mul(bytes.into()));
            Range::new(address, items.wrapping_mul(bytes.into()))
        };
        MergeSequence {
            count: Count { max, address },
            keys: array(0, self.format.key_step()),
            values: array(values_offset, 4 * self.format.value_words),
        }
    }

    /// The number of merges of a depth.
    pub(super) fn merges(&self, depth: usize) -> u32 {
        (0..1 << depth).map(|node| u32::from(self.sequences_of(depth, node).len() > 1)).sum()
    }

    /// Calls `visit` with each merge of two nodes at a depth. Those of a tree of more than two
    /// sequences write no status: see [`super::status`].
    pub(super) fn for_each_merge(&self, depth: usize, visit: &mut dyn FnMut(&MergeInfo<'_>)) {
        if self.sequence_count() == 2 {
            if depth == 0 {
                visit(self.info);
            }
            return;
        }
        for node in (0..1 << depth).filter(|node| self.sequences_of(depth, *node).len() > 1) {
            let [a, b] = [2 * node, 2 * node + 1].map(|child| self.node(depth + 1, child));
            let MergeInfo { keys_out, values_out, count_out, .. } = *self.info;
            let (keys_out, values_out, count_out) = match depth {
                0 => (keys_out, values_out, count_out),
                _ => {
                    let MergeSequence { count, keys, values } = self.node(depth, node);
                    (keys, values, count.address)
                }
            };
            visit(&MergeInfo {
                count_a: a.count,
                count_b: b.count,
                keys_a: a.keys,
                values_a: a.values,
                keys_b: b.keys,
                values_b: b.values,
                keys_out,
                values_out,
                count_out,
                ..MergeInfo::default()
            });
        }
    }

    /// The address of the status.
    pub(super) fn status(&self) -> u64 {
        self.info.status
    }

    /// Rows of the check of all counts: one for each two sequences. None for two sequences: their merge checks both.
    pub(super) fn checked_pairs(&self) -> u32 {
        if self.sequence_count() == 2 { 0 } else { self.sequence_count().div_ceil(2) }
    }
}
