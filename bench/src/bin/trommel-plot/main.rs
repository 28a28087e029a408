//! Draws the output of `trommel-bench`: the rate of each approach to a split against the number of buckets, of each
//! method of a merge against the number of items, or of insertions into each kind of hash table against its load.

mod figure;
mod loads;
mod merges;
mod picture;
mod record;
mod splits;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use figure::Figure;
use record::Record;
use std::fs;
use std::path::PathBuf;

/// Draws cases of a record as SVG.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Args {
    /// Output of `trommel-bench`.
    record: PathBuf,
    /// SVG file to write.
    picture: PathBuf,
    /// What to draw.
    #[arg(long, value_enum, default_value_t = Subject::Splits)]
    figure: Subject,
    /// Items of the drawn splits; the cases of other sizes are skipped.
    #[arg(long, default_value_t = SPLIT_ITEMS)]
    n: u32,
}

/// Items of the splits in the committed picture.
const SPLIT_ITEMS: u32 = 1 << 25;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Subject {
    /// The approaches to a split, against the number of buckets.
    Splits,
    /// The methods of a merge, against the number of items.
    Merges,
    /// Insertions into hash tables, against the load.
    HashLoads,
}

impl Subject {
    const fn figure(self) -> &'static Figure {
        match self {
            Self::Splits => &splits::FIGURE,
            Self::Merges => &merges::FIGURE,
            Self::HashLoads => &loads::FIGURE,
        }
    }
}

fn main() -> anyhow::Result<()> {
    let Args { record, picture, figure, n } = Args::parse();
    let text = fs::read_to_string(&record).with_context(|| record.display().to_string())?;
    let svg = Record::parse(&text)
        .and_then(|record| picture::draw(figure.figure(), &record, n))
        .with_context(|| record.display().to_string())?;
    fs::write(&picture, svg).with_context(|| picture.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_plots_are_of_the_committed_records() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        for (subject, record, picture) in [
            (Subject::Splits, "h200-580.159.04-compute-split.txt", "split-approaches.svg"),
            (Subject::Merges, "h200-580.159.04-compute-merge-whole.txt", "merge-methods.svg"),
            (Subject::HashLoads, "h200-580.159.04-compute-hash-two-buckets.txt", "hash-loads.svg"),
        ] {
            let record = Record::parse(&read(&format!("bench/records/{record}"))).unwrap();
            let drawn = picture::draw(subject.figure(), &record, SPLIT_ITEMS).unwrap();
            // `assert_eq!` would print a megabyte.
            let same = drawn == read(&format!("docs/images/{picture}"));
            assert!(same, "draw {picture} anew: see bench/records/README.md");
        }
    }
}
