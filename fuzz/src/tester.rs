//! Executes kinds and cases and compares.

use crate::arena::{Array, Difference, Image, Poison};
use crate::kind::{Case, Kind, Live, Scope, requests};
use crate::machine::{End, Machine, between_calls};
use crate::random::Random;
use crate::tally::Tally;
use ash::vk;
use trommel::{Error, Scratch, cmd_batch};

/// Most bytes of a submission, unless a single case has more.
const MOST_BYTES: usize = 16 << 20;

/// How the cases of a submission follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// Cases may run at the same time.
    Nothing,
    /// Cases run one after the other.
    Barrier,
    /// One after the other in the same scratch: each case finds the content that the case before has left.
    SharedScratch,
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte is as expected.
    Right,
    /// Some bytes differ.
    Wrong(Vec<Difference>),
    /// The library has refused a valid call.
    Refused(Error),
}

/// The result of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The submission was executed: a verdict for each case.
    Done(Vec<Verdict>),
    /// The device hangs or was lost.
    Broken(End),
}

/// Cases that are submitted together.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Number and case.
    pub cases: Vec<(u64, Case)>,
    between: Between,
    seed: u64,
}

impl Submission {
    /// One case by itself.
    pub fn alone(number: u64, case: Case) -> Self {
        Self { cases: std::iter::once((number, case)).collect(), between: Between::Barrier, seed: 0 }
    }
}

/// Executes cases on a machine.
#[derive(Debug)]
pub struct Tester<'a> {
    /// Parameters of all draws.
    pub scope: &'a Scope,
    /// The device.
    pub machine: Machine,
    /// Every so many cases have an error planted; 0: none. For tests of the tester.
    pub plant: u64,
    found: Vec<u8>,
}

struct Prepared {
    image: Image,
    scratch_size: u64,
    /// First byte in the arena.
    offset: usize,
}

impl<'a> Tester<'a> {
    /// A tester on a machine.
    pub fn new(scope: &'a Scope, machine: Machine, plant: u64) -> Self {
        Self { scope, machine, plant, found: Vec::new() }
    }

    /// Draws the cases of a kind, as they are submitted together.
    pub fn submissions(&self, kind: &Kind, live: &Live, number: u64, tally: &mut Tally) -> Vec<Submission> {
        let mut random = Random::of(&[self.scope.seed, number, 2]);
        if kind.handles.is_empty() {
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut next = 0;
        while next < u64::from(kind.cases) {
            let end = (next + u64::from(random.log_between(1, 40))).min(kind.cases.into());
            let drawn = (next..end).map(|case| (case, Case::draw(self.scope, kind, number, case)));
            let cases = drawn.filter(|(_, case)| is_within_a_dispatch(live, case, tally)).collect();
            let between = random.pick(&[Between::Nothing, Between::Barrier, Between::SharedScratch]);
            all.push(Submission { cases, between, seed: random.draw() });
            next = end;
        }
        all
    }

    /// Executes a submission. Splits it into several if it has too many bytes.
    ///
    /// # Errors
    /// If the device has no memory.
    pub fn execute(&mut self, live: &Live, submission: &Submission, tally: &mut Tally) -> anyhow::Result<Outcome> {
        let mut verdicts = vec![Verdict::Right; submission.cases.len()];
        let mut next = 0;
        while next < submission.cases.len() {
            let (first, mut bytes, mut prepared) = (next, 0, Vec::new());
            while let Some((_, case)) = submission.cases.get(next)
                && (prepared.is_empty() || bytes < MOST_BYTES)
            {
                let made = self.prepare(live, case, submission.between);
                match made {
                    Ok(mut made) => {
                        made.offset = bytes;
                        bytes += made.image.before.len();
                        prepared.push((next, made));
                    }
                    Err(error) => verdicts[next] = Verdict::Refused(error),
                }
                next += 1;
            }
            tally.submissions += 1;
            match self.submit(live, submission, prepared, bytes, &mut verdicts)? {
                End::Done => {}
                end => return Ok(Outcome::Broken(end)),
            }
            debug_assert!(next > first);
        }
        Ok(Outcome::Done(verdicts))
    }

    fn prepare(&self, live: &Live, case: &Case, between: Between) -> trommel::Result<Prepared> {
        let scratch_size = case.scratch_size(live)?;
        let own = if between == Between::SharedScratch { 0 } else { scratch_size };
        Ok(Prepared { image: case.image(live, own), scratch_size, offset: 0 })
    }

    fn submit(
        &mut self,
        live: &Live,
        submission: &Submission,
        mut prepared: Vec<(usize, Prepared)>,
        bytes: usize,
        verdicts: &mut [Verdict],
    ) -> anyhow::Result<End> {
        let shared = submission.between == Between::SharedScratch;
        let most = prepared.iter().map(|(_, made)| made.scratch_size).max().unwrap_or(0);
        let mut random = Random::of(&[submission.seed]);
        let poison = Poison::draw(&mut random);
        let size = if shared { usize::try_from(most.next_multiple_of(4))? } else { 0 };
        let common = Image::new(Vec::<Vec<Array>>::new(), size, poison, false, &mut random);
        let total = bytes + common.before.len();
        let (address, buffer) = self.machine.reserve(total as u64)?;
        prepared.iter_mut().for_each(|(_, made)| made.image.bind(address + made.offset as u64));
        let staged = self.machine.bytes(total);
        for (_, made) in &prepared {
            staged[made.offset..][..made.image.before.len()].copy_from_slice(&made.image.before);
        }
        staged[bytes..].copy_from_slice(&common.before);

        let mut refused = None;
        let executed = self.machine.execute(total as u64, |vk, commands| {
            for (nth, (index, made)) in prepared.iter().enumerate() {
                if nth != 0 && submission.between != Between::Nothing {
                    between_calls(vk, commands);
                }
                let offset = if shared { bytes + common.scratch } else { made.offset + made.image.scratch };
                let scratch = Scratch { buffer, offset: offset as u64, size: made.scratch_size };
                // SAFETY: the command buffer is recording; the arena outlives its execution.
                let recorded = unsafe { record(live, &submission.cases[*index].1, &made.image, commands, scratch) };
                if let Err(error) = recorded {
                    refused = Some((*index, error.clone()));
                    return Err(error.into());
                }
            }
            Ok(())
        });
        if let Some((index, error)) = refused {
            // The other cases are executed without the refused one.
            verdicts[index] = Verdict::Refused(error);
            prepared.retain(|(known, _)| *known != index);
            return self.submit(live, submission, prepared, bytes, verdicts);
        }
        let end = executed?;
        if end == End::Done {
            self.compare(submission, &prepared, (&common, bytes), verdicts);
        }
        Ok(end)
    }

    fn compare(
        &mut self,
        submission: &Submission,
        prepared: &[(usize, Prepared)],
        common: (&Image, usize),
        verdicts: &mut [Verdict],
    ) {
        let total = common.1 + common.0.before.len();
        self.found.clear();
        // Cached memory is read faster once than twice.
        self.found.extend_from_slice(self.machine.bytes(total));
        let mut beside = common.0.compare(&self.found[common.1..]);
        for (index, made) in prepared {
            let (number, case) = &submission.cases[*index];
            let found = &mut self.found[made.offset..][..made.image.before.len()];
            if self.plant != 0 && number % self.plant == self.plant - 1 {
                made.image.plant(found, &mut Random::of(&[case.seed]));
            }
            let mut differences = made.image.compare(found);
            // Differences beside the shared scratch count for the first case: any case may have caused them.
            differences.append(&mut beside);
            if !differences.is_empty() {
                verdicts[*index] = Verdict::Wrong(differences);
            }
        }
    }

    /// Counts a kind's cases that have been executed.
    pub fn count(kind: &Kind, submission: &Submission, verdicts: &[Verdict], tally: &mut Tally) {
        for ((_, case), verdict) in submission.cases.iter().zip(verdicts) {
            tally.cases += 1;
            tally.batches += u64::from(case.is_batch);
            tally.built_in += u64::from(kind.is_built_in);
            tally.wrong += u64::from(*verdict != Verdict::Right);
            for (handle, ask) in &case.members {
                let info = &kind.handles[*handle];
                *tally.requests.entry(info.primitive()).or_default() += 1;
                if let Some(strategy) = info.strategy() {
                    *tally.strategies.entry(strategy).or_default() += 1;
                }
                tally.items += u64::from(ask.all_items());
            }
        }
    }
}

/// Whether a dispatch has enough workgroups for the case: profiles of small tiles and few workgroups in x run out of
/// them.
fn is_within_a_dispatch(live: &Live, case: &Case, tally: &mut Tally) -> bool {
    let refused = matches!(case.scratch_size(live), Err(Error::TooLarge { why: "the workgroups of one dispatch", .. }));
    tally.refused[2] += u64::from(refused);
    !refused
}

/// # Safety
/// As for the library's own calls.
unsafe fn record(
    live: &Live,
    case: &Case,
    image: &Image,
    commands: vk::CommandBuffer,
    scratch: Scratch,
) -> trommel::Result<()> {
    if case.is_batch {
        let prepared = case.prepare(live, Some(image));
        // SAFETY: the caller's promise.
        return unsafe { cmd_batch(commands, &requests(&prepared), scratch) };
    }
    let (handle, ask) = &case.members[0];
    // SAFETY: the caller's promise.
    unsafe { live.handles[*handle].record(commands, ask, &image.ranges[0], scratch) }
}
