//! Checks that the problems of a batch are independent: no problem writes bytes that another problem touches.
//!
//! The ranges of all problems go into a buffer of fixed size, as spans. A full buffer is sorted by address; neighbors
//! are compared, and neighbors without a gap between them are joined. So a batch takes one pass over its problems,
//! whatever their order, if the buffer holds all spans or if the arrays are adjacent.
//!
//! Where spans outnumber the buffer, the first pass guesses: it also joins neighbors that have a small gap between
//! them. A range that lies in such a gap makes the guess fail. Then passes over rising windows of addresses decide.
//! Each window but the last has 3/4 of the buffer's capacity C or more, so n ranges take at most n / (3/4 C) + 2
//! passes. Within a pass, at least C / 4 spans are added between one sort of the buffer and the next.
//!
//! The buffer is memory of the device, allocated with the first handle that allows batches. C is
//! [`DEVICE_SPANS`](crate::core::check_memory::DEVICE_SPANS), 2^21. Up to as many ranges take one pass and one sort,
//! which are n log n steps in any order. A batch has at most 12 * 2^20 ranges, or 52 * 2^20 if requests name
//! as much memory as they can. So no batch takes more than 10 passes, or 37 of such requests: fewer than 2 log n.
//!
//! The device's memory serves one thread at a time. A thread that finds it in use does not wait: its buffer has
//! [`STACK_SPANS`] spans on its stack. Then n ranges take n / 1716 + 2 passes at most. These are more than log n
//! where n exceeds 21,000. Nothing but a larger buffer avoids that: the requests cannot be permuted, and to compare n
//! elements for distinctness in space S takes time n^(2 - o(1)) / S (Yao 1994, Near-optimal time-space tradeoff for
//! element distinctness). The bound does not concern the device's memory, which holds a sixth of the most ranges.

use super::Argument;
use crate::core::check_memory::{CheckMemory, SpanWords};
use crate::core::memory::{Access, MAX_NAMED, NamedArguments, Range};
use crate::{Error, Result};
use arrayvec::ArrayVec;
use bytemuck::{Pod, Zeroable};
use std::iter::repeat_n;

/// Memory that the problem at an index names, argument by argument.
pub(super) trait Problems: Fn(usize, &mut dyn FnMut(Argument)) {}
impl<F: Fn(usize, &mut dyn FnMut(Argument))> Problems for F {}

/// Spans on the stack: 36 KiB, most of what a recording may take. They are free again when plans are built.
const STACK_SPANS: usize = 2288;

/// Calls `check` with a buffer for the ranges of `count` problems: the device's memory, unless another thread uses it.
pub(super) fn with_buffer<T>(memory: &CheckMemory, count: usize, check: impl FnOnce(&mut [Span]) -> T) -> T {
    let most = count.saturating_mul(MAX_NAMED);
    // Small batches leave the device's memory to others.
    match (most > STACK_SPANS).then(|| memory.take()).flatten() {
        Some(mut words) => check(bytemuck::cast_slice_mut(&mut words)),
        None => on_stack(most.min(STACK_SPANS), check),
    }
}

/// Calls `check` with a buffer of `len` spans on the stack.
// A frame of its own, for those who need it.
#[inline(never)]
fn on_stack<T>(len: usize, check: impl FnOnce(&mut [Span]) -> T) -> T {
    let mut spans = ArrayVec::<_, STACK_SPANS>::new();
    spans.extend(repeat_n(Span::zeroed(), len));
    check(&mut spans)
}

/// The check of a batch: gets the ranges of all problems, in any order, and reads them again where it cannot decide at
/// once.
pub(super) struct Independence<'m> {
    sweep: Sweep<'m>,
    guess: Swept,
}

impl<'m> Independence<'m> {
    /// `buffer`: at least 4 spans, whatever they are, or as many as there are ranges.
    pub(super) fn new(buffer: &'m mut [Span]) -> Self {
        Self { sweep: Sweep::new(buffer), guess: Ok(()) }
    }

    /// Adds memory that a problem names.
    pub(super) fn add(&mut self, argument: &Argument) {
        if argument.range.size == 0 {
            return;
        }
        self.sweep.smallest = self.sweep.smallest.min(argument.range.size);
        if self.guess.is_ok() {
            self.guess = self.sweep.add(argument);
        }
    }

    /// Checks that no problem writes bytes that another one touches. The arguments of one problem do not conflict with
    /// each other.
    ///
    /// # Errors
    /// [`Error::Overlap`] names the argument of the later problem, then that of the earlier one.
    pub(super) fn finish(mut self, count: usize, problems: impl Problems) -> Result<()> {
        let batch = Batch { count, problems };
        if self.guess.is_ok() && self.sweep.join().is_ok() {
            return Ok(());
        }
        self.sweep.start_windows();
        loop {
            if let Err(Collision(span)) = self.sweep.pass(&batch) {
                return Err(batch.overlap_at(span));
            }
            if !self.sweep.advance() {
                return Ok(());
            }
        }
    }
}

/// Most ranges that several problems of a batch share by [`Access::Shared`].
pub(crate) const MAX_SHARED: usize = 16;

/// The ranges that problems share. For the check they are written, each by the first problem that names it.
#[derive(Default)]
struct SharedRanges(ArrayVec<Range, MAX_SHARED>);

impl SharedRanges {
    /// Whether no earlier problem shares the argument's range. True for every argument that is not shared, and for
    /// ranges that find no room: these have one problem, or conflict.
    fn is_first(&mut self, argument: &Argument) -> bool {
        if argument.access != Access::Shared {
            return true;
        }
        let is_known = self.0.contains(&argument.range);
        if !is_known && !self.0.is_full() {
            self.0.push(argument.range);
        }
        !is_known
    }
}

/// Bytes that problems touch, all of them for reading or all for writing. Joined spans have one start and one end.
///
/// The order of the two ends is the flag, which would take 8 more bytes: a span that is only read has its end first.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Span(SpanWords);

impl Span {
    fn new(start: u64, end: u64, written: bool) -> Self {
        Self(if written { [start, end] } else { [end, start] })
    }

    fn of(argument: &Argument) -> Self {
        Self::new(argument.range.address, argument.range.end(), argument.access != Access::Read)
    }

    fn start(self) -> u64 {
        self.0[0].min(self.0[1])
    }

    fn end(self) -> u64 {
        self.0[0].max(self.0[1])
    }

    fn is_written(self) -> bool {
        self.0[0] < self.0[1]
    }

    fn conflicts(self, other: Self) -> bool {
        self.start() < other.end() && other.start() < self.end() && (self.is_written() || other.is_written())
    }

    /// The span around both, written if one of them is.
    fn around(self, other: Self) -> Self {
        let written = self.is_written() || other.is_written();
        Self::new(self.start().min(other.start()), self.end().max(other.end()), written)
    }
}

struct Batch<P> {
    count: usize,
    problems: P,
}

impl<P: Problems> Batch<P> {
    /// Calls `visit` for each range that is not empty, problem by problem, until `visit` fails.
    fn try_for_each(&self, mut visit: impl FnMut(&Argument) -> Swept) -> Swept {
        let mut result = Ok(());
        for index in 0..self.count {
            (self.problems)(index, &mut |argument| {
                if result.is_ok() && argument.range.size != 0 {
                    result = visit(&argument);
                }
            });
            if result.is_err() {
                break;
            }
        }
        result
    }

    fn arguments(&self, index: usize) -> NamedArguments {
        let mut arguments = NamedArguments::new();
        (self.problems)(index, &mut |argument| arguments.push(argument));
        arguments
    }

    /// Names the arguments that conflict where the span begins.
    // A frame of its own: lists of arguments are large.
    #[inline(never)]
    fn overlap_at(&self, span: Span) -> Error {
        let problems = || (0..self.count).map(|index| (index, self.arguments(index)));
        let begins = |argument: &&Argument| argument.range.address == span.start() && argument.range.size != 0;
        let pair = problems().find_map(|(index, arguments)| Some((index, *arguments.iter().find(begins)?))).and_then(
            |(index, argument)| {
                let conflicts = |arguments: &NamedArguments| arguments.iter().any(|other| argument.conflicts(other));
                let (other, _) = problems().find(|(other, arguments)| *other != index && conflicts(arguments))?;
                self.conflict_of(index.max(other), index.min(other))
            },
        );
        debug_assert!(pair.is_some(), "a collision has two problems");
        let (first, second) = pair.unwrap_or(("infos", "infos"));
        Error::Overlap { first, second }
    }

    /// The first argument of a problem that conflicts with one of an earlier problem, and that one.
    fn conflict_of(&self, later: usize, earlier: usize) -> Option<(&'static str, &'static str)> {
        let theirs = self.arguments(earlier);
        let conflict = |mine: &Argument| Some((mine.name(), theirs.iter().find(|their| mine.conflicts(their))?.name()));
        self.arguments(later).iter().find_map(conflict)
    }
}

/// Why a pass ends early: this span shares bytes with spans before it, or with the gaps between those that were joined.
struct Collision(Span);

type Swept = std::result::Result<(), Collision>;

/// Passes over the ranges of all problems, through a buffer that sorts and joins them.
struct Sweep<'m> {
    buffer: &'m mut [Span],
    /// Spans in the buffer.
    len: usize,
    /// The window: spans are left out that begin before `from`, or at `to` or behind.
    from: u64,
    to: u64,
    /// Neighbors are joined whose gap is no longer. A gap that is shorter than every range takes none, so that joining
    /// loses nothing.
    gap: u64,
    /// A full buffer extends `gap`, so that one window does. Otherwise it cuts the window short.
    guesses: bool,
    /// Bytes of the smallest range that is not empty, of those that the first pass has seen.
    smallest: u64,
    /// Of the pass.
    shared: SharedRanges,
}

impl<'m> Sweep<'m> {
    /// Over all addresses, with guesses.
    fn new(buffer: &'m mut [Span]) -> Self {
        Self {
            buffer,
            len: 0,
            from: 0,
            to: u64::MAX,
            gap: 0,
            guesses: true,
            smallest: u64::MAX,
            shared: SharedRanges::default(),
        }
    }

    /// Begins again at the lowest address, without guesses.
    fn start_windows(&mut self) {
        (self.len, self.from, self.to, self.gap, self.guesses) = (0, 0, u64::MAX, self.smallest - 1, false);
    }

    /// Most spans that a full buffer keeps: sorting it again is paid for by as many as go in until then.
    fn most_kept(&self) -> usize {
        self.buffer.len() / 4 * 3
    }

    /// Compares all ranges that begin in the window, or in the part of it that is left when the pass ends.
    fn pass(&mut self, batch: &Batch<impl Problems>) -> Swept {
        self.shared = SharedRanges::default();
        batch.try_for_each(|argument| self.add(argument))?;
        self.join()
    }

    #[inline]
    fn add(&mut self, argument: &Argument) -> Swept {
        if !self.shared.is_first(argument) {
            return Ok(());
        }
        let span = Span::of(argument);
        if self.len == self.buffer.len() {
            self.make_room()?;
        }
        if (self.from..self.to).contains(&span.start()) {
            self.buffer[self.len] = span;
            self.len += 1;
        }
        Ok(())
    }

    /// Sorts the spans, compares neighbors and joins those that lie close together. After a collision, its span is the
    /// last one of the buffer.
    fn join(&mut self) -> Swept {
        self.buffer[..self.len].sort_unstable_by_key(|span| span.start());
        self.join_sorted()
    }

    fn join_sorted(&mut self) -> Swept {
        // Bytes that are read may be read again, so only a guess joins them with written ones.
        let (gap, mixes) = (self.gap, self.guesses && self.gap != 0);
        let mut joined = 0;
        let mut result = Ok(());
        for next in 0..self.len {
            let span = self.buffer[next];
            match self.buffer[..joined].last_mut() {
                Some(last) if last.conflicts(span) => {
                    self.buffer[joined] = span;
                    joined += 1;
                    result = Err(Collision(span));
                    break;
                }
                Some(last)
                    if span.start().saturating_sub(last.end()) <= gap
                        && (mixes || last.is_written() == span.is_written()) =>
                {
                    *last = last.around(span);
                }
                _ => {
                    self.buffer[joined] = span;
                    joined += 1;
                }
            }
        }
        self.len = joined;
        result
    }

    /// Makes room in a full buffer.
    #[inline(never)]
    fn make_room(&mut self) -> Swept {
        let joined = self.join();
        if self.guesses {
            joined?;
            while self.len > self.most_kept() {
                self.gap = self.gap.saturating_mul(2).max(self.smallest - 1).max(1);
                self.join_sorted()?;
            }
            return Ok(());
        }
        // The lowest collision decides, as in a buffer that holds all spans.
        if let Err(Collision(span)) = joined {
            self.to = span.start().saturating_add(1);
        }
        if self.len > self.most_kept() {
            self.len = self.most_kept();
            self.to = self.buffer[self.len].start();
        }
        Ok(())
    }

    /// Moves the window behind the last one, unless that was the last. A span that reaches into it stays.
    fn advance(&mut self) -> bool {
        let last = self.buffer[..self.len].last().copied().filter(|span| span.end() > self.to);
        self.len = 0;
        if let Some(last) = last {
            self.buffer[0] = last;
            self.len = 1;
        }
        let more = self.to != u64::MAX;
        (self.from, self.to) = (self.to, u64::MAX);
        more
    }
}

#[cfg(test)]
mod tests;
