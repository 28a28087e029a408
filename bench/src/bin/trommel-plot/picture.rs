//! The picture of a figure: its panels side by side, below a title and a legend. The same record gives the same bytes.

use crate::figure::{Figure, Line, Mark};
use crate::record::Record;
use anyhow::ensure;
use plotters::element::DynElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

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

/// The picture as SVG. `n`: items of all cases, unless the number of items varies.
pub(crate) fn draw(figure: &Figure, record: &Record, n: u32) -> anyhow::Result<String> {
    let points = |items: &str| -> Vec<Vec<(f64, f64)>> {
        figure.lines.iter().map(|line| figure.points(line, record, items, n)).collect()
    };
    let panels: Vec<_> = figure.panels.iter().map(|(items, title)| (*title, points(items))).collect();
    let rates = panels.iter().flat_map(|(_, lines)| lines).flatten().map(|(_, rate)| *rate);
    let most = rates.fold(0.0, f64::max);
    ensure!(most > 0.0, (figure.missing)(n));
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH.unsigned_abs(), HEIGHT.unsigned_abs())).into_drawing_area();
        // Pages may be dark.
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(HEAD);
        let is_drawn = |line: &usize| panels.iter().any(|(_, lines)| !lines[*line].is_empty());
        let drawn: Vec<_> = (0..figure.lines.len()).filter(is_drawn).map(|line| &figure.lines[line]).collect();
        draw_head(&head, &format!("{} on {}", (figure.title)(n), record.device), &drawn)?;
        for (area, (title, lines)) in body.split_evenly((1, panels.len())).iter().zip(&panels) {
            draw_panel(area, figure, title, lines, most)?;
        }
        root.present()?;
    }
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws the title, and a legend of the lines that are drawn in any panel.
fn draw_head(area: &Area<'_>, title: &str, drawn: &[&Line]) -> anyhow::Result<()> {
    let text = |size, align| TextStyle::from((FONT, size)).pos(Pos::new(align, VPos::Center));
    area.draw_text(title, &text(18, HPos::Center), (WIDTH / 2, TITLE_MIDDLE))?;
    for (entries, middle) in drawn.chunks(ENTRIES).zip((LEGEND_MIDDLE..).step_by(LEGEND_STEP.unsigned_abs() as usize)) {
        let first = (WIDTH - ENTRY * i32::try_from(entries.len())?) / 2;
        for (line, left) in entries.iter().zip((first..).step_by(ENTRY.unsigned_abs() as usize)) {
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

/// Draws a panel. Rates begin at 0, so that heights are proportional to them. All panels have the same scale.
fn draw_panel(
    panel: &Area<'_>,
    figure: &Figure,
    title: &str,
    lines: &[Vec<(f64, f64)>],
    most: f64,
) -> anyhow::Result<()> {
    let axis = figure.axis;
    let [first, last] = [axis.values().first(), axis.values().last()].map(|value| f64::from(*value.unwrap_or(&0)));
    // As much on either side as half of the distance between labels of a short axis.
    let margin = (last - first) / 28.0;
    let mut chart = ChartBuilder::on(panel)
        .caption(title, (FONT, 15))
        .margin(10)
        .margin_right(20)
        .x_label_area_size(42)
        .y_label_area_size(56)
        .build_cartesian_2d(first - margin..last + margin, 0.0..most * 1.08)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .x_labels(axis.values().len())
        .x_label_formatter(&|value| axis.label(*value))
        .y_label_formatter(&|rate| format!("{rate:.*}", usize::from(most < 10.0)))
        .x_desc(axis.name())
        .y_desc("G items/s")
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 14))
        .draw()?;
    for (line, points) in figure.lines.iter().zip(lines) {
        chart.draw_series(LineSeries::new(points.iter().copied(), line.stroke()))?;
        points
            .iter()
            .filter_map(|point| line.mark.at(*point, line.color))
            .try_for_each(|mark| chart.plotting_area().draw(&mark))?;
    }
    Ok(())
}
