//! Insertions into hash tables of both schemes, against the load.

use crate::figure::{Axis, BLUE, Figure, Line, Mark, VERMILLION};

pub(crate) const FIGURE: Figure = Figure {
    title: |_| "Inserting 2^22 pairs into a table with 2^27 slots".to_owned(),
    missing: |_| "no case of insertions into a table".to_owned(),
    panels: &[("", "u32 keys with u32 values")],
    lines: &[
        Line { label: "Bucketed", cases: "hash_insert_into_loadLOAD_2^27", color: BLUE, mark: Mark::Dot },
        Line { label: "Linear", cases: "hash_insert_into_linear_loadLOAD_2^27", color: VERMILLION, mark: Mark::Square },
    ],
    axis: Axis::Loads { percents: &[0, 25, 50, 70, 80, 87, 90, 93], items: 1 << 22 },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::draw;
    use crate::record::Record;

    #[test]
    fn a_scheme_has_a_point_for_each_load_of_the_record() {
        let record = Record::of(
            "hash_insert_into_load00_2^27 n=4194304 1.0 ms 4.5 Gitems/s 1.0 GB/s\n\
             hash_insert_into_load25_2^27 n=1048576 1.0 ms 9.5 Gitems/s 1.0 GB/s\n\
             hash_insert_into_load93_2^27 n=4194304 1.0 ms 1.5 Gitems/s 1.0 GB/s\n",
        );
        let points = |line: usize| FIGURE.points(&FIGURE.lines[line], &record, "", 7);
        assert_eq!(points(0), [(0.0, 4.5), (93.0, 1.5)], "cases of other sizes are skipped");
        assert!(points(1).is_empty());
        let svg = draw(&FIGURE, &record, 7).unwrap();
        assert!(svg.contains("2^27 slots on Some GPU") && svg.contains("percent") && svg.contains("Bucketed"));
        assert!(!svg.contains("Linear"), "what is not drawn is in no legend");
        assert_eq!(draw(&FIGURE, &Record::of(""), 7).unwrap_err().to_string(), "no case of insertions into a table");
    }
}
