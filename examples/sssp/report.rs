//! Results of the searches: a table and JSON.

use crate::compute::median;
use crate::method::Method;
use crate::record::{Outcome, Times};
use serde_json::{Value, json};

/// The results of a method over all its runs.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) method: Method,
    pub(crate) buckets: u32,
    /// The outcome of one run. Runs differ in which of two invocations lowers a distance first, and therefore in their
    /// counts.
    pub(crate) outcome: Outcome,
    pub(crate) times: Option<Times>,
    pub(crate) wall_ms: f64,
}

impl Row {
    /// Combines the outcomes of one or more runs; times are medians.
    pub(crate) fn new(method: Method, buckets: u32, outcomes: &[Outcome]) -> Option<Self> {
        let outcome = *outcomes.first()?;
        let times = outcome.times.map(|_| {
            let of = |part: fn(&Times) -> f64| median(outcomes.iter().filter_map(|o| o.times.as_ref()).map(part));
            Times { total: of(|t| t.total), grouping: of(|t| t.grouping) }
        });
        let wall_ms = median(outcomes.iter().map(|o| o.wall.as_secs_f64() * 1e3));
        Some(Self { method, buckets, outcome, times, wall_ms })
    }

    pub(crate) fn to_json(&self, rows: &[Self]) -> Value {
        let Outcome { steps, idle_steps, rounds, vertices_relaxed, edges_relaxed, items, longest_list, .. } =
            self.outcome;
        let speed_ups: serde_json::Map<_, _> =
            self.speed_ups(rows).into_iter().map(|(over, factor)| (over.name().to_owned(), factor.into())).collect();
        json!({
            "method": self.method.name(),
            "buckets": self.buckets,
            "steps": steps,
            "idle_steps": idle_steps,
            "rounds": rounds,
            "vertices_relaxed": vertices_relaxed,
            "edges_relaxed": edges_relaxed,
            "items": items,
            "longest_list": longest_list,
            "gpu_ms": self.times.map(|t| t.total),
            "grouping_ms": self.times.map(|t| t.grouping),
            "wall_ms": self.wall_ms,
            "speed_up_over": speed_ups,
        })
    }

    /// Prints a line of the table.
    pub(crate) fn print(&self) {
        let Outcome { steps, idle_steps, rounds, vertices_relaxed, edges_relaxed, items, .. } = self.outcome;
        let or_dash = |part: fn(&Times) -> f64| self.times.as_ref().map_or("-".into(), |t| format!("{:.3}", part(t)));
        println!(
            "{:<14} {:>7} {steps:>7} {idle_steps:>7} {rounds:>7} {vertices_relaxed:>12} {edges_relaxed:>13} \
             {items:>12} {:>10} {:>11} {:>10.3}",
            self.method.name(),
            self.buckets,
            or_dash(|t| t.total),
            or_dash(|t| t.grouping),
            self.wall_ms,
        );
    }

    /// Returns the speed-up over Bellman-Ford and over the same method with sorts, if these have run.
    fn speed_ups(&self, rows: &[Self]) -> Vec<(Method, f64)> {
        let others = [Some(Method::BellmanFord).filter(|_| self.method != Method::BellmanFord), self.method.sorted()];
        let factor = |other: Method| {
            let theirs = rows.iter().find(|row| row.method == other)?.times?.total;
            self.times.filter(|ours| ours.total > 0.0).map(|ours| (other, theirs / ours.total))
        };
        others.into_iter().flatten().filter_map(factor).collect()
    }
}

pub(crate) fn print_heading() {
    println!(
        "{:<14} {:>7} {:>7} {:>7} {:>7} {:>12} {:>13} {:>12} {:>10} {:>11} {:>10}",
        "method",
        "buckets",
        "steps",
        "idle",
        "rounds",
        "vertices",
        "edges",
        "items",
        "GPU ms",
        "grouping ms",
        "wall ms"
    );
}

pub(crate) fn print_speed_ups(rows: &[Row]) {
    for row in rows {
        let speed_ups: Vec<_> =
            row.speed_ups(rows).into_iter().map(|(over, factor)| format!("{factor:.2} over {}", over.name())).collect();
        if !speed_ups.is_empty() {
            println!("speed-up of {}: {}", row.method.name(), speed_ups.join(", "));
        }
    }
}
