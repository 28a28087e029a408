//! Checks that the problems of a batch are independent: no problem writes bytes that another problem touches.
//!
//! The ranges of all problems go into a buffer of fixed size on the stack. A full buffer is sorted by address;
//! neighbors are compared, and neighbors without a gap between them are joined. So most batches take one pass over the
//! problems, whatever their order: batches of up to [`CAPACITY`] ranges, and larger ones whose arrays lie one behind
//! the other.
//!
//! Where ranges outnumber the buffer, the first pass guesses: it also joins neighbors that have a small gap between
//! them. A range that lies in such a gap makes the guess fail. Then passes over rising windows of addresses decide.
//! Each window has [`CAPACITY`] / 2 ranges or more, so n ranges take at most 2 n / [`CAPACITY`] + 2 passes: fewer than
//! log n up to 13,000 ranges. More ranges take O(n^2 / [`CAPACITY`]). No algorithm in constant memory takes O(n log n)
//! in every order: the requests cannot be permuted, and to compare n elements for distinctness in space S takes time
//! n^(2 - o(1)) / S (Yao 1994, Near-optimal time-space tradeoff for element distinctness).

use super::Argument;
use crate::core::memory::NamedArguments;
use crate::{Error, Result};
use arrayvec::ArrayVec;

/// Memory that the problem at an index names, argument by argument.
pub(super) trait Problems: Fn(usize, &mut dyn FnMut(Argument)) {}
impl<F: Fn(usize, &mut dyn FnMut(Argument))> Problems for F {}

/// Ranges that the buffer holds: 36 KiB of stack, most of what a recording may take. It is free again when plans are
/// built.
const CAPACITY: usize = 2304;

/// The check of a batch: gets the ranges of all problems, in any order, and reads them again where it cannot decide at
/// once.
pub(super) struct Independence<const CAPACITY: usize = { self::CAPACITY }> {
    sweep: Sweep<CAPACITY>,
    guess: Swept,
}

impl Independence {
    pub(super) fn new() -> Self {
        Self { sweep: Sweep::new(), guess: Ok(()) }
    }
}

impl<const CAPACITY: usize> Independence<CAPACITY> {
    /// Adds memory that a problem names.
    pub(super) fn add(&mut self, argument: &Argument) {
        let span = Span::of(argument);
        if self.guess.is_ok() && !span.is_empty() {
            self.guess = self.sweep.add(span);
        }
    }

    /// Checks that no problem writes bytes that another one touches. The arguments of one problem do not conflict with
    /// each other.
    ///
    /// # Errors
    /// [`Error::Overlap`] names the argument of the later problem, then that of the earlier one.
    pub(super) fn finish(&mut self, count: usize, problems: impl Problems) -> Result<()> {
        let batch = Batch { count, problems };
        if self.guess.is_ok() && self.sweep.join().is_ok() {
            return Ok(());
        }
        match batch.collision(&mut self.sweep) {
            Some(span) => Err(batch.overlap_at(span)),
            None => Ok(()),
        }
    }
}

/// Bytes that problems touch, all of them for reading or all for writing. Joined spans have one start and one end.
///
/// The order of the two ends is the flag, which would take 8 more bytes: a span that is only read has its end first.
#[derive(Clone, Copy, Debug)]
struct Span([u64; 2]);

impl Span {
    fn new(start: u64, end: u64, written: bool) -> Self {
        Self(if written { [start, end] } else { [end, start] })
    }

    fn of(argument: &Argument) -> Self {
        Self::new(argument.range.address, argument.range.end(), argument.written)
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

    fn is_empty(self) -> bool {
        self.0[0] == self.0[1]
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
    fn try_for_each(&self, mut visit: impl FnMut(Span) -> Swept) -> Swept {
        let mut result = Ok(());
        for index in 0..self.count {
            (self.problems)(index, &mut |argument| {
                let span = Span::of(&argument);
                if result.is_ok() && !span.is_empty() {
                    result = visit(span);
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

    /// A span whose first byte another problem's range conflicts with, if any problems conflict.
    fn collision<const CAPACITY: usize>(&self, sweep: &mut Sweep<CAPACITY>) -> Option<Span> {
        sweep.spans.clear();
        (sweep.gap, sweep.guesses) = (self.smallest() - 1, false);
        loop {
            if let Err(Collision(span)) = sweep.pass(self) {
                return Some(span);
            }
            if !sweep.advance() {
                return None;
            }
        }
    }

    /// Bytes of the smallest range that is not empty; at least 1.
    fn smallest(&self) -> u64 {
        let mut smallest = u64::MAX;
        for index in 0..self.count {
            (self.problems)(index, &mut |argument| {
                if argument.range.size != 0 {
                    smallest = smallest.min(argument.range.size);
                }
            });
        }
        smallest
    }

    /// Names the arguments that conflict where the span begins.
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
struct Sweep<const CAPACITY: usize> {
    spans: ArrayVec<Span, CAPACITY>,
    /// The window: spans are left out that begin before `from`, or at `to` or behind.
    from: u64,
    to: u64,
    /// Neighbors are joined whose gap is no longer. A gap that is shorter than every range takes none, so that joining
    /// loses nothing.
    gap: u64,
    /// A full buffer extends `gap`, so that one window does. Otherwise it cuts the window short.
    guesses: bool,
}

impl<const CAPACITY: usize> Sweep<CAPACITY> {
    /// Most spans that a full buffer keeps: sorting it again is paid for by as many as go in until then.
    const KEPT: usize = CAPACITY / 4 * 3;

    /// Over all addresses, with guesses.
    const fn new() -> Self {
        Self { spans: ArrayVec::new_const(), from: 0, to: u64::MAX, gap: 0, guesses: true }
    }

    /// Compares all ranges that begin in the window, or in the part of it that is left when the pass ends.
    fn pass(&mut self, batch: &Batch<impl Problems>) -> Swept {
        batch.try_for_each(|span| self.add(span))?;
        self.join()
    }

    fn add(&mut self, span: Span) -> Swept {
        if self.spans.is_full() {
            self.join()?;
            self.make_room()?;
        }
        if (self.from..self.to).contains(&span.start()) {
            self.spans.push(span);
        }
        Ok(())
    }

    /// Sorts the spans, compares neighbors and joins those that lie close together.
    fn join(&mut self) -> Swept {
        // Bytes that are read may be read again, so only a guess joins them with written ones.
        let (gap, mixes) = (self.gap, self.guesses && self.gap != 0);
        self.spans.sort_unstable_by_key(|span| span.start());
        let mut joined = 0;
        for next in 0..self.spans.len() {
            let span = self.spans[next];
            match self.spans[..joined].last_mut() {
                Some(last) if last.conflicts(span) => return Err(Collision(span)),
                Some(last)
                    if span.start().saturating_sub(last.end()) <= gap
                        && (mixes || last.is_written() == span.is_written()) =>
                {
                    *last = last.around(span);
                }
                _ => {
                    self.spans[joined] = span;
                    joined += 1;
                }
            }
        }
        self.spans.truncate(joined);
        Ok(())
    }

    fn make_room(&mut self) -> Swept {
        if !self.guesses && self.spans.len() > Self::KEPT {
            self.to = self.spans[CAPACITY / 2].start();
            self.spans.truncate(CAPACITY / 2);
        }
        while self.spans.len() > Self::KEPT {
            self.gap = self.gap.saturating_mul(2).max(1);
            self.join()?;
        }
        Ok(())
    }

    /// Moves the window behind the last one, unless that was the last. A span that reaches into it stays.
    fn advance(&mut self) -> bool {
        let last = self.spans.last().copied().filter(|span| span.end() > self.to);
        self.spans.clear();
        self.spans.extend(last);
        let more = self.to != u64::MAX;
        (self.from, self.to) = (self.to, u64::MAX);
        more
    }
}

#[cfg(test)]
mod tests;
