//! The plot: times of both ways over the share of boxes that change.

use crate::report::Measurement;
use crate::times::Ways;
use anyhow::{Context as _, Result};
use plotters::prelude::*;
use plotters::series::LineSeries;

/// The shares that are measured for the plot.
pub(crate) const SHARES: [f64; 9] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// A line of the plot.
struct Line {
    label: &'static str,
    ms: fn(&Ways) -> f64,
    color: RGBColor,
    /// Radius of the points.
    point: u32,
}

// The palette of Okabe and Ito, which color-blind readers can distinguish. Light lines are parts of the dark ones.
const LINES: [Line; 4] = [
    Line { label: "full sort: frame", ms: |ways| ways.full_sort.frame(), color: RGBColor(213, 94, 0), point: 4 },
    Line {
        label: "full sort: without the tree",
        ms: |ways| ways.full_sort.order(),
        color: RGBColor(230, 159, 0),
        point: 2,
    },
    Line { label: "update: frame", ms: |ways| ways.update.frame(), color: RGBColor(0, 114, 178), point: 4 },
    Line { label: "update: without the tree", ms: |ways| ways.update.order(), color: RGBColor(86, 180, 233), point: 2 },
];

/// Width and height in pixels.
const SIZE: (u32, u32) = (720, 440);
const FONT: &str = "sans-serif";

/// Draws the measurements as SVG.
pub(crate) fn draw(title: &str, series: &[Measurement], box_count: u32) -> Result<String> {
    let percent = |m: &Measurement| 100.0 * f64::from(m.changed) / f64::from(box_count);
    let points: Option<Vec<_>> = series.iter().map(|m| Some((percent(m), m.ways?))).collect();
    let points = points.context("the queue has no timestamps: there is nothing to plot")?;
    // The legend is above all lines.
    let top = 1.4 * points.iter().flat_map(|(_, ways)| LINES.map(|line| (line.ms)(ways))).fold(1e-6, f64::max);
    let decimals = [10.0, 1.0].into_iter().filter(|limit| top < *limit).count();

    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        // Pages may be dark.
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, (FONT, 16))
            .margin(12)
            .margin_right(24)
            .x_label_area_size(42)
            .y_label_area_size(60)
            .build_cartesian_2d((0.08..64.0).log_scale(), 0.0..top)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.15))
            .x_label_formatter(&|percent| format!("{percent} %"))
            .y_label_formatter(&|ms| format!("{ms:.decimals$}"))
            .x_desc("boxes that change")
            .y_desc("ms")
            .label_style((FONT, 13))
            .axis_desc_style((FONT, 14))
            .draw()?;
        for Line { label, ms, color, point } in LINES {
            let line: Vec<_> = points.iter().map(|(percent, ways)| (*percent, ms(ways))).collect();
            chart
                .draw_series(LineSeries::new(line, color.stroke_width(2)).point_size(point))?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], color.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .legend_area_size(30)
            .background_style(WHITE.mix(0.8))
            .label_font((FONT, 13))
            .draw()?;
        root.present()?;
    }
    Ok(svg)
}
