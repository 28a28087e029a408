//! Counts of executed tests.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;
use trommel::kernels::{Kernel, Variant};

/// Counts of executed kinds, cases and requests, and the kernels that they have used.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Kinds.
    pub kinds: u64,
    /// Submissions.
    pub submissions: u64,
    /// Executed cases.
    pub cases: u64,
    /// Executed batches.
    pub batches: u64,
    /// Executed cases with the built-in profile.
    pub built_in: u64,
    /// Requests by primitive.
    pub requests: BTreeMap<&'static str, u64>,
    /// Requests by the strategy asked for.
    pub strategies: BTreeMap<&'static str, u64>,
    /// Items of all requests.
    pub items: u64,
    /// Wrong cases.
    pub wrong: u64,
    /// Profiles and handles that the library has refused, and cases of more workgroups than a dispatch has.
    pub refused: [u64; 3],
    /// Kernels that were recorded, as they were specialized.
    pub variants: HashSet<Variant>,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.kinds += other.kinds;
        self.submissions += other.submissions;
        self.cases += other.cases;
        self.batches += other.batches;
        self.built_in += other.built_in;
        self.items += other.items;
        self.wrong += other.wrong;
        self.refused.iter_mut().zip(other.refused).for_each(|(all, more)| *all += more);
        for (all, more) in [(&mut self.requests, &other.requests), (&mut self.strategies, &other.strategies)] {
            more.iter().for_each(|(name, count)| *all.entry(name).or_default() += count);
        }
        self.variants.extend(&other.variants);
    }

    /// The summary, with a table of kernels; the last line counts cases.
    pub fn summary(&self, time: Duration) -> Summary<'_> {
        Summary { tally: self, time }
    }
}

/// A tally as text.
#[derive(Debug)]
pub struct Summary<'a> {
    tally: &'a Tally,
    time: Duration,
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = self.tally;
        let of = |name: &str| tally.variants.iter().filter(|variant| variant.kernel.name() == name).count();
        writeln!(f, "{:36} {:>8}", "kernel", "variants")?;
        for kernel in Kernel::ALL {
            writeln!(f, "{:36} {:>8}", kernel.name(), of(kernel.name()))?;
        }
        let never: Vec<_> = Kernel::ALL.iter().map(|kernel| kernel.name()).filter(|name| of(name) == 0).collect();
        if !never.is_empty() {
            writeln!(f, "never ran: {}", never.join(", "))?;
        }
        let list = |map: &BTreeMap<&str, u64>| {
            map.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
        };
        writeln!(f, "requests: {}; by strategy: {}", list(&tally.requests), list(&tally.strategies))?;
        let [profiles, handles, cases] = tally.refused;
        writeln!(
            f,
            "refused draws: {profiles} lines of profiles, {handles} handles, {cases} cases of too many workgroups"
        )?;
        let random = tally.cases - tally.built_in;
        writeln!(f, "cases: {} built-in profile, {random} random profiles; {} batches", tally.built_in, tally.batches)?;
        let seconds = self.time.as_secs_f64();
        writeln!(
            f,
            "{} kinds, {} submissions, {} cases, {} items in {seconds:.1} s ({:.0} cases a second)",
            tally.kinds,
            tally.submissions,
            tally.cases,
            tally.items,
            tally.cases as f64 / seconds.max(1e-3)
        )?;
        write!(f, "{} passed, {} failed", tally.cases.saturating_sub(tally.wrong), tally.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up_and_end_with_a_plain_line() {
        let one = Tally {
            cases: 5,
            wrong: 1,
            built_in: 2,
            requests: [("sort", 7)].into(),
            refused: [1, 2, 3],
            ..Tally::default()
        };
        let mut all = Tally::default();
        (0..2).for_each(|_| all.add(&one));
        assert_eq!((all.cases, all.requests["sort"], all.refused), (10, 14, [2, 4, 6]));
        let text = all.summary(Duration::from_secs(2)).to_string();
        assert!(text.ends_with("\n8 passed, 2 failed"), "{text}");
        assert!(text.contains("never ran: ") && text.contains("5 cases a second"), "{text}");
    }
}
