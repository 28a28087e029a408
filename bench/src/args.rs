//! The command line.

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use trommel::tuning::{SizedTile, SmallShape, TileShape};
use trommel::{Profile, Strategy};

/// Times the library on the GPU and prints one line a case.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Args {
    /// Only these cases. A word that is no name selects all names that contain it.
    pub(crate) filter: Vec<String>,
    /// Index of the device, or part of its name.
    #[arg(long)]
    pub(crate) device: Option<String>,
    /// The queue family: compute without graphics where there is one, or with graphics.
    #[arg(long, value_enum, default_value_t = Queue::Compute)]
    pub(crate) queue: Queue,
    /// Items, as `1048576` or `2^20`, instead of each case's own sizes.
    #[arg(long, value_delimiter = ',', value_parser = parse_count)]
    pub(crate) n: Vec<u32>,
    /// How sorts and splits find where keys go.
    #[arg(long, value_enum, default_value_t = StrategyArg::Auto)]
    pub(crate) strategy: StrategyArg,
    /// Tiles for every size, as `THREADSxITEMS`, `THREADSxITEMS/verified` or, with every option,
    /// `THREADSxITEMS/verified_by_source_index/swizzled*GROUPS`.
    #[arg(long)]
    pub(crate) shape: Option<TileShape>,
    /// Single-workgroup sorts by rising tile, as `256x4/merge,512x8`; `none` for none.
    #[arg(long, value_parser = parse_small)]
    pub(crate) small: Option<SmallShapes>,
    /// Replaces a line of the profile, as `radix.direct_up_to=1048576`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// A profile, such as `--tune` writes, instead of the device's built-in one.
    #[arg(long)]
    pub(crate) profile: Option<PathBuf>,
    /// Writes a record of everything.
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
    /// Verifies every size; without it, those up to 2^26.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Verifies nothing.
    #[arg(long, conflicts_with = "verify")]
    pub(crate) no_verify: bool,
    /// Times each pass as well, in runs of their own.
    #[arg(long)]
    pub(crate) passes: bool,
    /// Prints the driver's statistics of each pipeline: registers, shared memory and the like.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Searches the tile shapes of sorts, splits and merges, and writes the profile found.
    #[arg(long, value_name = "FILE")]
    pub(crate) tune: Option<PathBuf>,
    /// Times the host instead: it records batches with their arrays in several orders in memory. Nothing is executed.
    #[arg(long)]
    pub(crate) recording: bool,
    /// Times the creation of handles instead, with the driver's cache off and with a warm `VkPipelineCache`.
    #[arg(long)]
    pub(crate) creation: bool,
    /// Threads that create pipelines with `--creation`; 0: as many as there are cores.
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: u32,
    /// Lists the cases and their sizes.
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Queue {
    Compute,
    Graphics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum StrategyArg {
    Auto,
    Lookback,
    ReduceThenScan,
    ChainedScan,
    Ring,
    RingInOrder,
}

impl From<StrategyArg> for Strategy {
    fn from(strategy: StrategyArg) -> Self {
        match strategy {
            StrategyArg::Auto => Self::Auto,
            StrategyArg::Lookback => Self::Lookback,
            StrategyArg::ReduceThenScan => Self::ReduceThenScan,
            StrategyArg::ChainedScan => Self::ChainedScan,
            StrategyArg::Ring => Self::Ring,
            StrategyArg::RingInOrder => Self::RingInOrder,
        }
    }
}

/// Shapes in one argument. For clap, a bare `Vec` would be an argument given several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SmallShapes(pub(crate) Vec<SmallShape>);

impl Args {
    /// `profile` with the shapes and lines that the command line asks for.
    pub(crate) fn reshape(&self, mut profile: Profile) -> anyhow::Result<Profile> {
        let mut lines = Vec::new();
        if let Some(shape) = self.shape {
            let others = ["counted", "single_dispatch", "ring", "few_bins"];
            lines.extend(others.map(|member| (member, String::new())));
            lines.push(("tiles", SizedTile { up_to: u32::MAX, shape }.to_string()));
        }
        if let Some(SmallShapes(small)) = &self.small {
            // Small arrays would take the ranked shapes otherwise.
            lines.push(("ranked", String::new()));
            lines.push(("small", small.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")));
        }
        for (member, value) in lines {
            profile = profile.with_member(member, &value)?;
        }
        self.set.iter().try_fold(profile, |profile, line| {
            let (name, value) = line.split_once('=').with_context(|| format!("\"{line}\" is not NAME=VALUE"))?;
            Ok(profile.with_line(name.trim(), value.trim())?)
        })
    }

    /// Whether the output of a case is compared with the CPU's.
    pub(crate) fn verifies(&self, n: u32) -> bool {
        !self.no_verify && (self.verify || n <= 1 << 26)
    }
}

fn parse_count(text: &str) -> Result<u32, String> {
    let count = match text.split_once('^') {
        Some((base, exponent)) => {
            base.parse().ok().zip(exponent.parse().ok()).and_then(|(b, e)| u32::checked_pow(b, e))
        }
        None => text.parse().ok(),
    };
    count.filter(|count| *count != 0).ok_or_else(|| "a count is 1 to 4294967295".into())
}

fn parse_small(text: &str) -> Result<SmallShapes, String> {
    if text == "none" {
        return Ok(SmallShapes(Vec::new()));
    }
    let shapes = text
        .split(',')
        .map(str::parse)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error: trommel::Error| error.to_string())?;
    if shapes.len() > 4 {
        return Err("a profile holds four small shapes".into());
    }
    Ok(SmallShapes(shapes))
}

/// The profile of a device that does not exist.
#[cfg(test)]
pub(crate) fn any_profile() -> Profile {
    Profile::for_device(&trommel::DeviceFacts {
        vendor_id: 1,
        is_cpu: false,
        compute_only: false,
        min_lanes: 32,
        max_lanes: 32,
        lanes_selectable: true,
        max_invocations: 256,
        max_subgroups: 32,
        shared_memory: 16 * 1024,
        max_groups_x: 65535,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::tuning::{ItemKind, Ranking, Shape};

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn a_full_line_is_understood() {
        let args = parse(
            "trommel-bench sort_keys batch --queue graphics --n 1024,2^20 --strategy reduce_then_scan --shape 384x22 \
             --small 256x4/merge,512x8 --device 1 --json a.json --profile p --passes --stats --no-verify",
        )
        .unwrap();
        assert_eq!(args.filter, ["sort_keys", "batch"]);
        assert_eq!(args.queue, Queue::Graphics);
        assert_eq!(args.n, [1024, 1 << 20]);
        assert_eq!(Strategy::from(args.strategy), Strategy::ReduceThenScan);
        assert_eq!(args.shape, Some(Shape { threads: 384, items: 22 }.into()));
        assert_eq!(args.small.as_ref().unwrap().0, [SmallShape::merge(256, 4), SmallShape::radix(512, 8)]);
        assert!(args.passes && args.stats && !args.verifies(1));
    }

    #[test]
    fn without_arguments_everything_is_measured_and_most_is_verified() {
        let args = parse("trommel-bench").unwrap();
        assert!(args.filter.is_empty() && args.n.is_empty());
        assert!(args.verifies(1 << 26) && !args.verifies(1 << 28));
        assert!(parse("trommel-bench --verify").unwrap().verifies(1 << 28));
    }

    #[test]
    fn every_strategy_has_its_name() {
        for strategy in Strategy::ALL.into_iter().chain([Strategy::Auto]) {
            let args = parse(&format!("trommel-bench --strategy {}", strategy.name())).unwrap();
            assert_eq!(Strategy::from(args.strategy), strategy);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "--n 0",
            "--n 2^32",
            "--n many",
            "--shape 256",
            "--shape ax4",
            "--small 256x4/quick",
            "--small 1x1,1x1,1x1,1x1,1x1",
            "--queue gpu",
        ] {
            assert!(parse(&format!("trommel-bench {line}")).is_err(), "{line} should be refused");
        }
        assert!(parse("trommel-bench --verify --no-verify").is_err(), "one contradicts the other");
    }

    #[test]
    fn lines_replace_those_of_the_profile() {
        let set = |lines: &str| parse(&format!("trommel-bench {lines}")).unwrap().reshape(any_profile());
        let profile = set("--set sort.prefixes_up_to=9 --set small_ranking=verified").unwrap();
        assert_eq!((profile.sort.prefixes_up_to, profile.sort.small_ranking), (9, Ranking::Verified));
        for (line, why) in
            [("spin", "is not NAME=VALUE"), ("spins=3", "spins is unknown"), ("spin_limit=x", "is not a number")]
        {
            let error = set(&format!("--set {line}")).unwrap_err().to_string();
            assert!(error.contains(why), "{error} should say: {why}");
        }
    }

    #[test]
    fn shapes_replace_those_of_the_profile() {
        let profile =
            parse("trommel-bench --shape 128x6/verified --small none").unwrap().reshape(any_profile()).unwrap();
        for kind in ItemKind::ALL {
            assert!(profile.sort[kind].small.is_empty());
            let tiles = &profile.radix[kind].tiles;
            assert_eq!(tiles.len(), 1, "one shape serves every size");
            assert_eq!(tiles[0].up_to, u32::MAX);
            assert_eq!(
                tiles[0].shape,
                TileShape { ranking: Ranking::Verified, ..Shape { threads: 128, items: 6 }.into() }
            );
        }
    }
}
