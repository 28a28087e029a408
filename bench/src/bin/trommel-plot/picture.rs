//! The picture: a panel for keys and one for pairs, a line for each approach. The same record gives the same bytes.

use crate::record::Record;
use anyhow::ensure;
use plotters::element::DynElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Items of the cases drawn.
pub(crate) const ITEMS: u32 = 1 << 25;

/// An approach to a split, and the style of its line.
struct Line {
    /// Text in the legend.
    label: &'static str,
    /// Prefix of the names of its cases. `keys` or `pairs` follows and, unless `flat`, the number of buckets.
    name: &'static str,
    /// The cases do not depend on the number of buckets.
    flat: bool,
    color: RGBColor,
    mark: Mark,
}

/// The marker of a point: lines are distinguishable without their colors.
#[derive(Clone, Copy)]
enum Mark {
    Dot,
    Square,
    Triangle,
    Cross,
    None,
}

// The palette of Okabe and Ito, which color-blind readers can distinguish.
const LINES: [Line; 7] = [
    Line { label: "split", name: "split", flat: false, color: RGBColor(0, 114, 178), mark: Mark::Dot },
    Line {
        label: "by subgroups",
        name: "split_subgroups",
        flat: false,
        color: RGBColor(86, 180, 233),
        mark: Mark::Square,
    },
    Line { label: "direct", name: "split_direct", flat: false, color: RGBColor(230, 159, 0), mark: Mark::Triangle },
    Line {
        label: "reduced-bit sort",
        name: "split_by_reduced_bit",
        flat: false,
        color: RGBColor(213, 94, 0),
        mark: Mark::Square,
    },
    Line {
        label: "binary splits",
        name: "split_by_binary",
        flat: false,
        color: RGBColor(0, 158, 115),
        mark: Mark::Triangle,
    },
    Line {
        label: "random insertion",
        name: "split_by_insertion",
        flat: false,
        color: RGBColor(204, 121, 167),
        mark: Mark::Cross,
    },
    Line {
        label: "sort of the keys",
        name: "split_by_sort",
        flat: true,
        color: RGBColor(90, 90, 90),
        mark: Mark::None,
    },
];

/// Items of each panel: the word in names of cases, and the title.
const PANELS: [(&str, &str); 2] = [("keys", "u32 keys"), ("pairs", "u32 keys with u32 values")];

/// Bits of the bucket: 2 to 256 buckets.
const BITS: std::ops::RangeInclusive<u32> = 1..=8;

// Lengths in pixels.
const WIDTH: i32 = 960;
const HEIGHT: i32 = 462;
/// Height of the title and the legend, the middles of their first lines, and the distance of the legend's lines.
const HEAD: i32 = 90;
const TITLE_MIDDLE: i32 = 20;
const LEGEND_MIDDLE: i32 = 50;
const LEGEND_STEP: i32 = 22;
/// Entries in a line of the legend, the width of an entry, and the length of its sample line.
const ENTRIES: usize = 4;
const ENTRY: i32 = 190;
const ENTRY_LINE: i32 = 32;
const FONT: &str = "sans-serif";

impl Line {
    /// Returns pairs of bucket bits and rate, for the cases in the record.
    fn points(&self, record: &Record, items: &str, n: u32) -> Vec<(f64, f64)> {
        let name = |bits: u32| match self.flat {
            true => format!("{}_{items}", self.name),
            false => format!("{}_{items}_m{}", self.name, 1 << bits),
        };
        BITS.filter_map(|bits| Some((f64::from(bits), record.rate(&name(bits), n)?))).collect()
    }

    fn stroke(&self) -> ShapeStyle {
        self.color.stroke_width(2)
    }
}

impl Mark {
    fn at<'a, DB: DrawingBackend + 'a, Coord: Clone + 'a>(
        self,
        at: Coord,
        color: RGBColor,
    ) -> Option<DynElement<'a, DB, Coord>> {
        let origin = EmptyElement::at(at);
        match self {
            Self::Dot => Some((origin + Circle::new((0, 0), 4, color.filled())).into_dyn()),
            Self::Square => Some((origin + Rectangle::new([(-4, -4), (4, 4)], color.filled())).into_dyn()),
            Self::Triangle => Some((origin + TriangleMarker::new((0, 0), 6, color.filled())).into_dyn()),
            Self::Cross => Some((origin + Cross::new((0, 0), 4, color.stroke_width(2))).into_dyn()),
            Self::None => None,
        }
    }
}

/// The picture as SVG.
pub(crate) fn draw(record: &Record, n: u32) -> anyhow::Result<String> {
    let lines = PANELS.map(|(items, _)| LINES.each_ref().map(|line| line.points(record, items, n)));
    let rates = lines.iter().flatten().flatten().map(|(_, rate)| *rate);
    let most = rates.fold(0.0, f64::max);
    ensure!(most > 0.0, "no case of splits of {n} items");
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH.unsigned_abs(), HEIGHT.unsigned_abs())).into_drawing_area();
        // Pages may be dark.
        root.fill(&WHITE)?;
        let (head, panels) = root.split_vertically(HEAD);
        let drawn: Vec<_> =
            (0..LINES.len()).filter(|line| lines.iter().any(|panel| !panel[*line].is_empty())).collect();
        draw_head(&head, &format!("Splitting {} items on {}", count(n), record.device), &drawn)?;
        for ((panel, (_, title)), points) in panels.split_evenly((1, PANELS.len())).iter().zip(PANELS).zip(&lines) {
            draw_panel(panel, title, points, most)?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn count(n: u32) -> String {
    if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws the title, and a legend of the lines that are drawn in any panel.
fn draw_head(area: &Area<'_>, title: &str, drawn: &[usize]) -> anyhow::Result<()> {
    let text = |size, align| TextStyle::from((FONT, size)).pos(Pos::new(align, VPos::Center));
    area.draw_text(title, &text(18, HPos::Center), (WIDTH / 2, TITLE_MIDDLE))?;
    for (entries, middle) in drawn.chunks(ENTRIES).zip((LEGEND_MIDDLE..).step_by(LEGEND_STEP.unsigned_abs() as usize)) {
        let first = (WIDTH - ENTRY * i32::try_from(entries.len())?) / 2;
        for (line, left) in
            entries.iter().map(|line| &LINES[*line]).zip((first..).step_by(ENTRY.unsigned_abs() as usize))
        {
            let right = left + ENTRY_LINE;
            area.draw(&PathElement::new([(left, middle), (right, middle)], line.stroke()))?;
            if let Some(mark) = line.mark.at(((left + right) / 2, middle), line.color) {
                area.draw(&mark)?;
            }
            area.draw_text(line.label, &text(14, HPos::Left), (right + 8, middle))?;
        }
    }
    Ok(())
}

/// Draws a panel. Rates begin at 0, so that heights are proportional to them. Both panels have the same scale.
fn draw_panel(panel: &Area<'_>, title: &str, lines: &[Vec<(f64, f64)>], most: f64) -> anyhow::Result<()> {
    let (first, last) = (f64::from(*BITS.start()), f64::from(*BITS.end()));
    let mut chart = ChartBuilder::on(panel)
        .caption(title, (FONT, 15))
        .margin(10)
        .margin_right(20)
        .x_label_area_size(42)
        .y_label_area_size(56)
        .build_cartesian_2d(first - 0.25..last + 0.25, 0.0..most * 1.08)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .x_labels(8)
        .x_label_formatter(&|bits| format!("{}", bits.exp2()))
        .y_label_formatter(&|rate| format!("{rate:.*}", usize::from(most < 10.0)))
        .x_desc("buckets")
        .y_desc("G items/s")
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 14))
        .draw()?;
    for (line, points) in LINES.iter().zip(lines) {
        chart.draw_series(LineSeries::new(points.iter().copied(), line.stroke()))?;
        points
            .iter()
            .filter_map(|point| line.mark.at(*point, line.color))
            .try_for_each(|mark| chart.plotting_area().draw(&mark))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(lines: &str) -> Record {
        Record::parse(&format!("# Some GPU, driver\n{lines}")).unwrap()
    }

    #[test]
    fn a_line_has_the_points_that_the_record_has() {
        let record = record(
            "split_keys_m2 n=32 1.0 ms 4.5 Gitems/s 1.0 GB/s\nsplit_keys_m8 n=32 1.0 ms 3.5 Gitems/s 1.0 GB/s\n\
             split_keys_m16 n=64 1.0 ms 2.5 Gitems/s 1.0 GB/s\nsplit_by_sort_keys n=32 1.0 ms 1.5 Gitems/s 1.0 GB/s\n",
        );
        let points = |label: &str| LINES.iter().find(|line| line.label == label).unwrap().points(&record, "keys", 32);
        assert_eq!(points("split"), [(1.0, 4.5), (3.0, 3.5)]);
        assert_eq!(points("sort of the keys"), BITS.map(|bits| (bits.into(), 1.5)).collect::<Vec<_>>());
        assert!(points("binary splits").is_empty());
        assert_eq!(draw(&record, 32).unwrap(), draw(&record, 32).unwrap(), "the same bytes");
        let svg = draw(&record, 32).unwrap();
        assert!(svg.contains("Splitting 2^5 items on Some GPU") && svg.contains("sort of the keys"));
        assert!(!svg.contains("binary splits"), "what is not drawn is in no legend");
    }

    #[test]
    fn a_record_without_any_is_refused() {
        assert_eq!(draw(&record(""), 100).unwrap_err().to_string(), "no case of splits of 100 items");
    }
}
