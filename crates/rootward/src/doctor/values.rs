//! Each setting with its value and its source, as `doctor` shows them.

use rootward_core::Closed;
use serde::Serialize;
use serde_json::Value;

use crate::settings::{GROUPS, Row, Settings, Source, Told};

/// One setting.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) name: &'static str,
    value: Value,
    #[serde(rename = "source")]
    source_word: &'static str,
    /// The variable, if that is the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'static str>,
    default: String,
    /// The minimum and maximum, for a number with bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<(u64, u64)>,
    means: &'static str,
    /// Value and source, for people.
    #[serde(skip)]
    pub(super) shown: String,
    #[serde(skip)]
    pub(super) source: Source,
    /// What does not fit in one line.
    #[serde(skip)]
    pub(super) more: Vec<String>,
}

/// Each setting as one line, in table order.
pub(super) fn values(all: &Settings) -> Vec<Line> {
    let groups = [all.told(), all.sandbox.told(), all.http.told(), all.http.limits.told(), all.serve.told()];
    groups.into_iter().flatten().map(|(row, source, value)| line(row, source, value)).collect()
}

fn line(row: &'static Row, source: Source, value: &dyn Told) -> Line {
    Line {
        name: row.name,
        value: value.json(),
        source_word: source.word(),
        variable: source.variable(),
        default: (row.default)(),
        bounds: row.bounds,
        means: row.means,
        shown: value.shown(),
        source,
        more: value.more(),
    }
}

/// The title that `doctor` puts above the settings of a table.
pub(super) fn title(table: &str) -> &'static str {
    GROUPS.iter().find(|group| group.table == table).map_or("settings", |group| group.title)
}

pub(super) fn closed_word(closed: Closed) -> &'static str {
    match closed {
        Closed::Entirely => "all",
        Closed::ForWriting => "writing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_line() {
        let rows: Vec<&str> = GROUPS.iter().flat_map(|group| group.rows).map(|row| row.name).collect();
        let lines: Vec<&str> = values(&Settings::defaults()).iter().map(|line| line.name).collect();
        assert_eq!(lines, rows);
    }
}
