//! Results of the measurements: tables and JSON.

use crate::bvh::Shape;
use crate::times::{Times, Ways};
use serde_json::{Value, json};

/// Frames in which a number of boxes change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    pub(crate) changed: u32,
    /// Median times, if the queue has timestamps.
    pub(crate) ways: Option<Ways>,
    /// The tree of the last frame.
    pub(crate) shape: Shape,
}

impl Measurement {
    pub(crate) fn to_json(self) -> Value {
        let times = |times: Times| -> Value {
            times.columns().into_iter().map(|(name, ms)| (format!("{name}_ms"), Value::from(ms))).collect()
        };
        json!({
            "changed": self.changed,
            "update": self.ways.map(|ways| times(ways.update)),
            "full_sort": self.ways.map(|ways| times(ways.full_sort)),
            "depth": self.shape.depth,
            "sah_cost": self.shape.sah_cost,
        })
    }

    /// Prints the times of all steps, and the facts of the tree.
    pub(crate) fn print(&self) {
        let row = |name: &str, cells: [String; 6]| {
            println!("{name:<10}{}", cells.map(|cell| format!(" {cell:>9}")).concat());
        };
        row("", Times::COLUMNS.map(str::to_owned));
        let times = |times: Option<Times>| match times {
            Some(times) => times.columns().map(|(_, ms)| if ms > 0.0 { format!("{ms:.3}") } else { "-".to_owned() }),
            None => Times::COLUMNS.map(|_| "-".to_owned()),
        };
        row("update", times(self.ways.map(|ways| ways.update)));
        row("full sort", times(self.ways.map(|ways| ways.full_sort)));
        if let Some(ways) = self.ways {
            let [order, frame] = ways.speed_ups().map(|factor| format!("{factor:.2}"));
            row("speed-up", [String::new(), String::new(), String::new(), order, String::new(), frame]);
        }
        println!("tree: valid, depth {}, SAH cost {:.1}", self.shape.depth, self.shape.sah_cost);
    }
}

/// Prints the times of measurements with different numbers of changed boxes.
pub(crate) fn print_series(series: &[Measurement], box_count: u32) {
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "changed", "share", "update:", "", "full sort:", "", "speed-up:", ""
    );
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "boxes", "%", "order ms", "frame ms", "order ms", "frame ms", "order", "frame"
    );
    for Measurement { changed, ways, .. } in series {
        let share = 100.0 * f64::from(*changed) / f64::from(box_count);
        print!("{changed:>9} {share:>9.1}");
        match ways {
            Some(ways) => {
                for times in [ways.update, ways.full_sort] {
                    print!(" {:>9.3} {:>9.3}", times.order(), times.frame());
                }
                let [order, frame] = ways.speed_ups();
                println!(" {order:>9.2} {frame:>9.2}");
            }
            None => println!("{:>10}{0:>10}{0:>10}{0:>10}{0:>10}{0:>10}", "-"),
        }
    }
}
