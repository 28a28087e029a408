//! Simplifies a failing case as long as it still fails, and describes the result.

use crate::arena::Poison;
use crate::kind::{Case, Kind, Scope};
use crate::profiles::{differences, with_line_of, with_short_delays};
use crate::tally::Tally;
use crate::tester::{Outcome, Submission, Tester, Verdict};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A case that fails, and how.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind of the case.
    pub kind: Kind,
    /// The case.
    pub case: Case,
    /// How it fails.
    pub verdict: Verdict,
}

/// How often a case is run before it counts as right.
const RUNS: u32 = 3;

impl Tester<'_> {
    /// Runs a case by itself, up to `runs` times. Returns the first verdict that is not right, otherwise
    /// [`Verdict::Right`].
    ///
    /// # Errors
    /// If the library refuses a handle, or the device breaks: see [`Tester::is_broken`].
    pub fn verdict(&mut self, kind: &Kind, number: u64, case: &Case, runs: u32) -> anyhow::Result<Verdict> {
        let live = kind.live(self.scope, &self.machine)?;
        for _ in 0..runs {
            match self.execute(&live, &Submission::alone(number, case.clone()), &mut Tally::default())? {
                Outcome::Broken(end) => {
                    let failure = Failure { kind: kind.clone(), case: case.clone(), verdict: Verdict::Right };
                    anyhow::bail!(
                        "{end:?}, {}, by this case alone:\n{}",
                        self.machine.fault(&end),
                        describe(&failure, self.scope)
                    );
                }
                Outcome::Done(verdicts) => {
                    if let Some(verdict) = verdicts.into_iter().find(|verdict| *verdict != Verdict::Right) {
                        return Ok(verdict);
                    }
                }
            }
        }
        Ok(Verdict::Right)
    }

    /// Whether the device hangs or is lost. Nothing more can be executed.
    pub fn is_broken(&self) -> bool {
        self.machine.is_broken()
    }

    /// Simplifies a failure as long as a simpler case fails too, for no longer than `patience`. A wrong output never
    /// turns into a refused call.
    ///
    /// # Errors
    /// If the device breaks.
    pub fn shrink(&mut self, number: u64, mut failure: Failure, patience: Duration) -> anyhow::Result<Failure> {
        let end = Instant::now() + patience;
        let is_refusal = matches!(failure.verdict, Verdict::Refused(_));
        'simpler: while Instant::now() < end {
            for (kind, case) in simpler(&failure.kind, &failure.case, self.scope) {
                if Instant::now() >= end {
                    break;
                }
                let verdict = match self.verdict(&kind, number, &case, RUNS) {
                    Ok(verdict) => verdict,
                    Err(error) if self.is_broken() => return Err(error),
                    // A handle that the library refuses to create gives no simpler case.
                    Err(_) => continue,
                };
                if verdict != Verdict::Right && matches!(verdict, Verdict::Refused(_)) == is_refusal {
                    failure = Failure { kind, case, verdict };
                    continue 'simpler;
                }
            }
            break;
        }
        Ok(failure)
    }
}

/// Everything that is one step simpler, the largest steps first.
fn simpler(kind: &Kind, case: &Case, scope: &Scope) -> Vec<(Kind, Case)> {
    let mut all = Vec::new();
    let mut same_kind = |case: Case| all.push((kind.clone(), case));
    let members = case.members.len();
    for chunk in [members / 2, members / 4, 1] {
        if chunk == 0 || members < 2 {
            continue;
        }
        for start in (0..members).step_by(chunk) {
            let kept = case.members.iter().enumerate().filter(|(index, _)| !(start..start + chunk).contains(index));
            same_kind(Case { members: kept.map(|(_, member)| *member).collect(), ..case.clone() });
        }
    }
    if case.is_batch && members == 1 {
        same_kind(Case { is_batch: false, ..case.clone() });
    }
    let of_profile = differences(&kind.profile, &scope.built_in).into_iter().filter_map(|(name, _)| {
        let simpler = with_short_delays(with_line_of(&kind.profile, &name, &scope.built_in).ok()?);
        let profile = simpler.checked(&scope.facts).ok().filter(|profile| *profile != kind.profile)?;
        Some(Kind { profile, ..kind.clone() })
    });
    let of_profile: Vec<_> = of_profile.map(|kind| (kind, case.clone())).collect();
    for (index, (handle, ask)) in case.members.iter().enumerate() {
        for ask in ask.simpler() {
            let mut members = case.members.clone();
            members[index] = (*handle, ask);
            same_kind(Case { members, ..case.clone() });
        }
    }
    same_kind(Case { poison: Poison::Fill(0), ..case.clone() });
    same_kind(Case { shuffled: false, ..case.clone() });
    all.retain(|(_, simpler)| simpler != case);
    all.extend(of_profile);
    let mut used: Vec<usize> = case.members.iter().map(|(handle, _)| *handle).collect();
    used.sort_unstable();
    used.dedup();
    for handle in used {
        for info in kind.handles[handle].simpler() {
            let mut handles = kind.handles.clone();
            handles[handle] = Arc::from(info);
            let mut case = case.clone();
            let segmented = handles[handle].is_segmented();
            case.members
                .iter_mut()
                .filter(|(known, _)| *known == handle)
                .for_each(|(_, ask)| *ask = ask.fitting(segmented));
            all.push((Kind { handles, ..kind.clone() }, case));
        }
    }
    all
}

/// Describes a failure: lines of the profile as `trommel-bench --set` takes them, handles, requests, differences.
pub fn describe(failure: &Failure, scope: &Scope) -> String {
    let Failure { kind, case, verdict } = failure;
    let mut text = String::new();
    let mut line = |what: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "  {what}");
    };
    let lines = differences(&kind.profile, &scope.built_in);
    if lines.is_empty() {
        line(format_args!("built-in profile"));
    }
    for (name, value) in lines {
        line(format_args!("--set \"{name}={value}\""));
    }
    let Case { is_batch, members, poison, shuffled, seed } = case;
    let how = if *is_batch { "batch" } else { "alone" };
    line(format_args!(
        "{how}, {} requests, scratch {poison:?}, arrays shuffled {shuffled}, arena seed {seed:#x}",
        members.len()
    ));
    for (index, (handle, ask)) in members.iter().enumerate() {
        line(format_args!("request {index}: handle {handle}, {ask}"));
    }
    for (index, info) in
        kind.handles.iter().enumerate().filter(|(index, _)| members.iter().any(|(handle, _)| handle == index))
    {
        line(format_args!("handle {index}: {}", info.describe()));
    }
    match verdict {
        Verdict::Right => line(format_args!("right")),
        Verdict::Refused(error) => line(format_args!("refused: {error}")),
        Verdict::Wrong(differences) => {
            differences.iter().for_each(|difference| line(format_args!("wrong: {difference}")))
        }
    }
    text
}
