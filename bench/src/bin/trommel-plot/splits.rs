//! The approaches to a split, against the number of buckets.

use crate::figure::{Axis, BLUE, Figure, GRAY, GREEN, Line, Mark, ORANGE, PURPLE, SKY_BLUE, VERMILLION, count};

/// Keys on the left, and pairs on the right.
pub(crate) const FIGURE: Figure = Figure {
    title: |n| format!("Splitting {} items", count(n)),
    missing: |n| format!("no case of splits of {n} items"),
    panels: &[("keys", "u32 keys"), ("pairs", "u32 keys with u32 values")],
    lines: &[
        Line { label: "split", cases: "split_ITEMS_mBUCKETS", color: BLUE, mark: Mark::Dot },
        Line { label: "by subgroups", cases: "split_subgroups_ITEMS_mBUCKETS", color: SKY_BLUE, mark: Mark::Square },
        Line { label: "direct", cases: "split_direct_ITEMS_mBUCKETS", color: ORANGE, mark: Mark::Triangle },
        Line {
            label: "reduced-bit sort",
            cases: "split_by_reduced_bit_ITEMS_mBUCKETS",
            color: VERMILLION,
            mark: Mark::Square,
        },
        Line { label: "binary splits", cases: "split_by_binary_ITEMS_mBUCKETS", color: GREEN, mark: Mark::Triangle },
        Line {
            label: "random insertion",
            cases: "split_by_insertion_ITEMS_mBUCKETS",
            color: PURPLE,
            mark: Mark::Cross,
        },
        // Its cases do not depend on the number of buckets.
        Line { label: "sort of the keys", cases: "split_by_sort_ITEMS", color: GRAY, mark: Mark::None },
    ],
    axis: Axis::Buckets(&[1, 2, 3, 4, 5, 6, 7, 8]),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::draw;
    use crate::record::Record;

    #[test]
    fn a_line_has_the_points_that_the_record_has() {
        let record = Record::of(
            "split_keys_m2 n=32 1.0 ms 4.5 Gitems/s 1.0 GB/s\nsplit_keys_m8 n=32 1.0 ms 3.5 Gitems/s 1.0 GB/s\n\
             split_keys_m16 n=64 1.0 ms 2.5 Gitems/s 1.0 GB/s\nsplit_by_sort_keys n=32 1.0 ms 1.5 Gitems/s 1.0 GB/s\n",
        );
        let points = |label: &str| {
            let line = FIGURE.lines.iter().find(|line| line.label == label).unwrap();
            FIGURE.points(line, &record, "keys", 32)
        };
        assert_eq!(points("split"), [(1.0, 4.5), (3.0, 3.5)]);
        assert_eq!(points("sort of the keys"), [1, 2, 3, 4, 5, 6, 7, 8].map(|bits| (bits.into(), 1.5)));
        assert!(points("binary splits").is_empty());
        assert_eq!(draw(&FIGURE, &record, 32).unwrap(), draw(&FIGURE, &record, 32).unwrap(), "the same bytes");
        let svg = draw(&FIGURE, &record, 32).unwrap();
        assert!(svg.contains("Splitting 2^5 items on Some GPU") && svg.contains("sort of the keys"));
        assert!(!svg.contains("binary splits"), "what is not drawn is in no legend");
    }

    #[test]
    fn a_record_without_any_is_refused() {
        let refused = draw(&FIGURE, &Record::of(""), 100).unwrap_err().to_string();
        assert_eq!(refused, "no case of splits of 100 items");
    }
}
