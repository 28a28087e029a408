//! What a picture shows: its panels, its lines, and the case of each point.

use crate::record::Record;
use plotters::prelude::*;

/// A picture of the rates in a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    /// Subject of the title, such as "Splitting 2^20 items".
    pub(crate) title: fn(n: u32) -> String,
    /// Message if a record has no case of the figure.
    pub(crate) missing: fn(n: u32) -> String,
    /// Items of each panel: the word in names of cases, and the title. The panels are side by side.
    pub(crate) panels: &'static [(&'static str, &'static str)],
    pub(crate) lines: &'static [Line],
    pub(crate) axis: Axis,
}

/// The horizontal axis, with what varies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// The binary logarithm of the number of buckets of a case. All cases have `n` items.
    Buckets(&'static [u32]),
    /// The binary logarithm of the number of items of a case.
    Items(&'static [u32]),
    /// The load of a table before the case, in percent. All cases have `items`.
    Loads { percents: &'static [u32], items: u32 },
}

/// The cases of a line, and its style.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Text in the legend.
    pub(crate) label: &'static str,
    /// Names of its cases: `ITEMS` stands for the word of the panel, `BUCKETS` for the number of buckets,
    /// `LOAD` for the load in two digits.
    pub(crate) cases: &'static str,
    pub(crate) color: RGBColor,
    pub(crate) mark: Mark,
}

/// The marker of a point: lines are distinguishable without their colors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Dot,
    Square,
    Triangle,
    Cross,
    None,
}

// The palette of Okabe and Ito, which color-blind readers can distinguish.
pub(crate) const BLUE: RGBColor = RGBColor(0, 114, 178);
pub(crate) const SKY_BLUE: RGBColor = RGBColor(86, 180, 233);
pub(crate) const ORANGE: RGBColor = RGBColor(230, 159, 0);
pub(crate) const VERMILLION: RGBColor = RGBColor(213, 94, 0);
pub(crate) const GREEN: RGBColor = RGBColor(0, 158, 115);
pub(crate) const PURPLE: RGBColor = RGBColor(204, 121, 167);
pub(crate) const GRAY: RGBColor = RGBColor(90, 90, 90);

impl Axis {
    /// Its values, in rising order.
    pub(crate) const fn values(self) -> &'static [u32] {
        match self {
            Self::Buckets(values) | Self::Items(values) | Self::Loads { percents: values, .. } => values,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Buckets(_) => "buckets",
            Self::Items(_) => "items",
            Self::Loads { .. } => "load before the insertion, in percent",
        }
    }

    /// Text at a value.
    pub(crate) fn label(self, value: f64) -> String {
        match self {
            Self::Buckets(_) => format!("{}", value.exp2()),
            Self::Items(_) => format!("2^{value}"),
            Self::Loads { .. } => format!("{value}"),
        }
    }
}

impl Figure {
    /// Returns pairs of a value on the axis and a rate, for the cases of a line that the record has.
    pub(crate) fn points(&self, line: &Line, record: &Record, items: &str, n: u32) -> Vec<(f64, f64)> {
        let name = line.cases.replace("ITEMS", items);
        let rate = |value: u32| match self.axis {
            Axis::Buckets(_) => record.rate(&name.replace("BUCKETS", &(1 << value).to_string()), n),
            Axis::Items(_) => record.rate(&name, 1 << value),
            Axis::Loads { items, .. } => record.rate(&name.replace("LOAD", &format!("{value:02}")), items),
        };
        self.axis.values().iter().filter_map(|value| Some((f64::from(*value), rate(*value)?))).collect()
    }
}

/// A number of items in titles.
pub(crate) fn count(n: u32) -> String {
    if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}
