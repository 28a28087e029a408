//! Draws the output of `trommel-bench`: the rate of each approach to a split against the number of buckets.

mod picture;
mod record;

use anyhow::Context as _;
use clap::Parser;
use record::Record;
use std::fs;
use std::path::PathBuf;

/// Draws the approaches to a split that a record has, keys on the left and pairs on the right, as SVG.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Args {
    /// Output of `trommel-bench`.
    record: PathBuf,
    /// SVG file to write.
    picture: PathBuf,
    /// Items of the drawn cases; the cases of other sizes are skipped.
    #[arg(long, default_value_t = picture::ITEMS)]
    n: u32,
}

fn main() -> anyhow::Result<()> {
    let Args { record, picture, n } = Args::parse();
    let text = fs::read_to_string(&record).with_context(|| record.display().to_string())?;
    let svg = Record::parse(&text)
        .and_then(|record| picture::draw(&record, n))
        .with_context(|| record.display().to_string())?;
    fs::write(&picture, svg).with_context(|| picture.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_plot_is_of_the_committed_record() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let record = Record::parse(&read("bench/records/h200-580.159.04-compute-split.txt")).unwrap();
        let drawn = picture::draw(&record, picture::ITEMS).unwrap();
        // `assert_eq!` would print a megabyte.
        assert!(drawn == read("docs/images/split-approaches.svg"), "draw it anew: see bench/records/README.md");
    }
}
