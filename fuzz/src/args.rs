//! The command line.

use clap::{Parser, ValueEnum};
use std::fmt::Write as _;
use trommel_fuzz::kind::Which;

/// Runs random requests and batches on a device and compares every byte with an oracle of its own.
#[derive(Clone, Debug, Parser)]
#[command(version, about)]
pub(crate) struct Args {
    /// How long to go on.
    #[arg(long, default_value_t = 1.0, conflicts_with = "cases")]
    pub(crate) minutes: f64,
    /// How many cases to run instead.
    #[arg(long)]
    pub(crate) cases: Option<u64>,
    /// The seed of everything.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Only the kind of this number.
    #[arg(long)]
    pub(crate) kind: Option<u64>,
    /// Only the case of this number, of that kind, by itself.
    #[arg(long, requires = "kind")]
    pub(crate) case: Option<u64>,
    /// How often that kind or case is run.
    #[arg(long, default_value_t = 1)]
    pub(crate) repeat: u32,
    /// The first kind.
    #[arg(long, default_value_t = 0, conflicts_with = "kind")]
    pub(crate) from: u64,
    /// Index of the device, or part of its name.
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// Threads, each with a device of its own [default: one a core].
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// The profiles to run with.
    #[arg(long, value_enum, default_value_t = ProfileArg::Both)]
    pub(crate) profile: ProfileArg,
    /// A primitive such as `sort`, or `batch`, or a part of a handle's description, such as `key: F32`.
    #[arg(long)]
    pub(crate) only: Option<String>,
    /// A line of every profile, as `small_ranking=verified`; any number of them.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Most items of a request [default: 2500 on a CPU, else 300000, and millions now and then].
    #[arg(long)]
    pub(crate) max_items: Option<u32>,
    /// Loads the validation layer; each of its messages is an error.
    #[arg(long)]
    pub(crate) validate: bool,
    /// Prints each submission before it is executed.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Does not simplify failing cases.
    #[arg(long)]
    pub(crate) no_shrink: bool,
    /// For tests of this program: plants an error in one of so many cases.
    #[arg(long, hide = true, default_value_t = 0)]
    pub(crate) plant: u64,
}

/// Which profiles to run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    BuiltIn,
    Random,
    Both,
}

impl From<ProfileArg> for Which {
    fn from(profile: ProfileArg) -> Self {
        match profile {
            ProfileArg::BuiltIn => Self::BuiltIn,
            ProfileArg::Random => Self::Random,
            ProfileArg::Both => Self::Both,
        }
    }
}

impl Args {
    /// The command that draws the same kinds and cases.
    pub(crate) fn reproducer(&self, kind: u64, case: Option<u64>) -> String {
        let mut line = format!("trommel-fuzz --seed {} --kind {kind}", self.seed);
        // Writing to a string cannot fail.
        let _ = case.map_or(Ok(()), |case| write!(line, " --case {case}"));
        let profile = match self.profile {
            ProfileArg::BuiltIn => Some("built-in"),
            ProfileArg::Random => Some("random"),
            ProfileArg::Both => None,
        };
        let max_items = self.max_items.map(|items| items.to_string());
        let options = [
            ("profile", profile),
            ("only", self.only.as_deref()),
            ("max-items", max_items.as_deref()),
            ("device", self.device.as_deref()),
        ];
        for (name, value) in options.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            let quote = if value.contains(' ') { "\"" } else { "" };
            let _ = write!(line, " --{name} {quote}{value}{quote}");
        }
        self.set.iter().for_each(|set| {
            let _ = write!(line, " --set \"{set}\"");
        });
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reproducers_are_understood_and_draw_the_same() {
        let line = "trommel-fuzz --seed 9 --profile random --only sort --max-items 77 --set window=3 --minutes 3";
        let args = Args::try_parse_from(line.split_whitespace()).unwrap();
        let reproducer = args.reproducer(5, Some(6));
        assert_eq!(
            reproducer,
            "trommel-fuzz --seed 9 --kind 5 --case 6 --profile random --only sort --max-items 77 --set \"window=3\""
        );
        let again = Args::try_parse_from(reproducer.replace('"', "").split_whitespace()).unwrap();
        assert_eq!((again.kind, again.case, again.seed), (Some(5), Some(6), 9));
        assert_eq!(
            (again.profile, again.only, again.max_items, again.set),
            (args.profile, args.only, args.max_items, args.set)
        );
    }

    #[test]
    fn contradictions_are_refused() {
        for line in ["--minutes 3 --cases 4", "--case 4", "--kind 3 --from 4", "--profile none"] {
            assert!(Args::try_parse_from(format!("trommel-fuzz {line}").split_whitespace()).is_err(), "{line}");
        }
    }
}
