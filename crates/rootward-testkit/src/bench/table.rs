//! The result table: a row for each comparison, with its limit ("bar") and whether it was met.

#![expect(clippy::print_stderr, reason = "progress goes to stderr, so that stdout has only the table")]

use std::fmt;

use super::measure::{Comparison, Spread};

/// The limit of a ratio.
#[derive(Clone, Copy, Debug)]
pub enum Bar {
    /// No limit: the row is only for information.
    Information,
    /// At most this many times the baseline.
    AtMost(f64),
    /// Less than the baseline.
    Faster,
    /// The baseline is at least this many times as much.
    TimesFaster(f64),
    /// At most this many nanoseconds more than the baseline.
    AtMostMore(f64),
}

impl Bar {
    /// The ratio or difference, the limit, and whether it was met.
    fn judge(self, candidate: f64, baseline: f64) -> [String; 3] {
        let ratio = candidate / baseline;
        let (shown, bar, met) = match self {
            Bar::Information => (format!("{ratio:.2}"), String::new(), None),
            Bar::AtMost(most) => (format!("{ratio:.2}"), format!("≤ {most}"), Some(ratio <= most)),
            Bar::Faster => (format!("{ratio:.2}"), "< 1".to_owned(), Some(ratio < 1.0)),
            Bar::TimesFaster(least) => {
                (format!("1/{:.1}", ratio.recip()), format!("≤ 1/{least}"), Some(ratio.recip() >= least))
            }
            Bar::AtMostMore(most) => {
                let more = candidate - baseline;
                (
                    format!("{} {}", if more < 0.0 { '-' } else { '+' }, grouped(&format!("{:.0}", more.abs()))),
                    format!("≤ + {}", grouped(&most.to_string())),
                    Some(more <= most),
                )
            }
        };
        [shown, bar, verdict(met)]
    }
}

/// The limit of a count.
#[derive(Clone, Copy, Debug)]
pub enum Most {
    /// No limit: the row is only for information.
    Any,
    /// It must be zero.
    None,
    /// At most this many.
    AtMost(u64),
}

#[derive(Debug)]
struct Row {
    what: String,
    against: String,
    cells: [String; 5],
}

/// Rows, in the order of measurement.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Adds a comparison.
    pub fn add(&mut self, what: &str, against: &str, comparison: &Comparison, bar: Bar) {
        let (candidate, baseline) = (&comparison.candidate, &comparison.baseline);
        let [ratio, bar, verdict] = bar.judge(candidate.median, baseline.median);
        self.push(what, against, [time(candidate), time(baseline), ratio, bar, verdict]);
    }

    /// Adds a comparison of memory.
    pub fn add_bytes(&mut self, what: &str, against: &str, candidate: u64, baseline: u64, bar: Bar) {
        #[expect(clippy::cast_precision_loss, reason = "no process uses that much memory")]
        let [candidate, baseline] = [candidate as f64, baseline as f64];
        let [ratio, bar, verdict] = bar.judge(candidate, baseline);
        let [candidate, baseline] = [candidate, baseline].map(|bytes| format!("{:.1} MiB", bytes / f64::from(1 << 20)));
        self.push(what, against, [candidate, baseline, ratio, bar, verdict]);
    }

    /// Adds a comparison of rates, in operations per second. `least` is the minimum ratio of candidate to baseline.
    pub fn add_rates(&mut self, what: &str, against: &str, candidate: f64, baseline: f64, least: Option<f64>) {
        let ratio = candidate / baseline;
        let bar = least.map(|least| format!("≥ {least}")).unwrap_or_default();
        let [candidate, baseline] = [candidate, baseline].map(rate);
        self.push(
            what,
            against,
            [candidate, baseline, format!("{ratio:.2}"), bar, verdict(least.map(|least| ratio >= least))],
        );
    }

    /// Adds a rate without a baseline.
    pub fn add_rate(&mut self, what: &str, per_second: f64) {
        self.push(what, "", [rate(per_second), String::new(), String::new(), String::new(), String::new()]);
    }

    /// Adds a time without a baseline.
    pub fn add_time(&mut self, what: &str, taken: &Spread) {
        self.push(what, "", [time(taken), String::new(), String::new(), String::new(), String::new()]);
    }

    /// Adds a number without a baseline.
    pub fn add_count(&mut self, what: &str, count: u64, most: Most) {
        let (bar, met) = match most {
            Most::Any => (String::new(), None),
            Most::None => ("0".to_owned(), Some(count == 0)),
            Most::AtMost(most) => (format!("≤ {}", grouped(&most.to_string())), Some(count <= most)),
        };
        self.push(what, "", [grouped(&count.to_string()), String::new(), String::new(), bar, verdict(met)]);
    }

    /// Adds a row that could not be measured, with the reason.
    pub fn add_missing(&mut self, what: &str, against: &str, why: &str) {
        let cells = [String::new(), String::new(), String::new(), String::new(), format!("not measured: {why}")];
        self.push(what, against, cells);
    }

    fn push(&mut self, what: &str, against: &str, cells: [String; 5]) {
        eprintln!("{what} | {against} | {}", cells.join(" | "));
        self.rows.push(Row { what: what.to_owned(), against: against.to_owned(), cells });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| what | against | takes | against takes | ratio | bar | |")?;
        write!(f, "|---|---|---|---|---|---|---|")?;
        for Row { what, against, cells } in &self.rows {
            write!(f, "\n| {what} | {against} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

fn verdict(met: Option<bool>) -> String {
    match met {
        None => "",
        Some(true) => "met",
        Some(false) => "**missed**",
    }
    .to_owned()
}

/// The median, then in parentheses the 10th and 90th percentiles, and the 99th if known.
fn time(spread: &Spread) -> String {
    let (unit, name, digits) = match spread.median {
        median if median < 100_000.0 => (1.0, "ns", 0),
        median if median < 10_000_000.0 => (1e3, "µs", 0),
        _ => (1e6, "ms", 0),
    };
    let number = |time: f64| grouped(&format!("{:.digits$}", time / unit));
    let slowest = spread.slowest.map(|slowest| format!(", p99 {}", number(slowest))).unwrap_or_default();
    format!("{} {name} ({}–{}{slowest})", number(spread.median), number(spread.tenth), number(spread.ninetieth))
}

fn rate(per_second: f64) -> String {
    format!("{}/s", grouped(&format!("{per_second:.0}")))
}

/// Adds commas between thousands.
fn grouped(digits: &str) -> String {
    let mut shown = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
