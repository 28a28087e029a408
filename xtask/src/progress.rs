//! What the user sees of a running step.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::{cell::Cell, fs, io::IsTerminal, path::Path, time::Duration};

/// How often a step that takes long says so where there is no terminal.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// A spinner with the log's last line on a terminal; elsewhere a line at the start, one at the end and one a minute.
pub(crate) struct Progress<'a> {
    bars: &'a MultiProgress,
    bar: Option<ProgressBar>,
    title: &'a str,
    log: &'a Path,
    beats: Cell<u64>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(bars: &'a MultiProgress, title: &'a str, log: &'a Path) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = bars.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg:.dim}") {
                bar.set_style(style);
            }
            bar.set_prefix(title.to_owned());
            bar
        });
        if bar.is_none() {
            println!("{title}");
        }
        Self { bars, bar, title, log, beats: 0.into() }
    }

    pub(crate) fn tick(&self, elapsed: Duration) {
        let beat = |every: Duration| {
            let now = u64::try_from(elapsed.as_millis() / every.as_millis()).unwrap_or(u64::MAX);
            self.beats.replace(now) < now
        };
        match &self.bar {
            Some(bar) if beat(Duration::from_millis(200)) => {
                bar.set_message(last_line(self.log));
                bar.tick();
            }
            None if beat(HEARTBEAT) => println!("{}: {} s: {}", self.title, elapsed.as_secs(), last_line(self.log)),
            _ => {}
        }
    }

    /// Prints the text in place of the spinner.
    pub(crate) fn finish(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            self.bars.remove(bar);
        }
        // One call, because another step may print at the same time.
        self.bars.suspend(|| println!("{text}"));
    }
}

fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let tail = String::from_utf8_lossy(&text[text.len().saturating_sub(1024)..]).into_owned();
    tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}
