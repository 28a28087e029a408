//! The methods of a merge, against the number of items.

use crate::figure::{Axis, BLUE, Figure, GREEN, Line, Mark, ORANGE, VERMILLION};

pub(crate) const FIGURE: Figure = Figure {
    title: |_| "Merging two sequences of equal length".to_owned(),
    missing: |_| "no case of merges".to_owned(),
    panels: &[("keys_u32", "u32 keys")],
    lines: &[
        Line { label: "Path", cases: "merge_ITEMS", color: BLUE, mark: Mark::Dot },
        Line { label: "CircularBuffer", cases: "merge_circular_ITEMS", color: VERMILLION, mark: Mark::Square },
        Line { label: "Tiled", cases: "merge_tiled_ITEMS", color: ORANGE, mark: Mark::Triangle },
        Line { label: "Basic", cases: "merge_basic_ITEMS", color: GREEN, mark: Mark::Cross },
    ],
    axis: Axis::Items(&[16, 18, 20, 22, 24, 26]),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::draw;
    use crate::record::Record;

    #[test]
    fn a_method_has_a_point_for_each_size_of_the_record() {
        let record = Record::of(
            "merge_keys_u32 n=65536 1.0 ms 4.5 Gitems/s 1.0 GB/s\nmerge_keys_u32 n=4096 1.0 ms 0.5 Gitems/s 1.0 GB/s\n\
             merge_keys_u32 n=1048576 1.0 ms 9.5 Gitems/s 1.0 GB/s\nmerge_basic_keys_u32 n=67108864 1 ms 2 Gitems/s\n",
        );
        let points = |line: usize| FIGURE.points(&FIGURE.lines[line], &record, "keys_u32", 7);
        assert_eq!((points(0), points(3)), (vec![(16.0, 4.5), (20.0, 9.5)], vec![(26.0, 2.0)]));
        assert!(points(1).is_empty());
        let svg = draw(&FIGURE, &record, 7).unwrap();
        assert!(svg.contains("equal length on Some GPU") && svg.contains("2^16") && svg.contains("Basic"));
        assert!(!svg.contains("Tiled"), "what is not drawn is in no legend");
        assert_eq!(draw(&FIGURE, &Record::of(""), 7).unwrap_err().to_string(), "no case of merges");
    }
}
