//! An entry of the package store, for people and for programs.

use std::time::SystemTime;

use rootward_core::Shown;
use rootward_sandbox::{Contents, Registry, Runner, Stored};
use serde::Serialize;

/// For programs.
#[derive(Debug, Serialize)]
pub(super) struct Told<'s> {
    kind: &'static str,
    package: Option<&'s str>,
    /// The requested version.
    asked: Option<&'s str>,
    options: &'s [(String, String)],
    registry: Option<Registry>,
    runner: Option<Runner>,
    /// The version that the package itself states.
    installed: Option<Shown<'s>>,
    size: u64,
    fetched: Option<String>,
    used: Option<String>,
    in_use: bool,
    directory: Shown<'s>,
}

impl<'s> Told<'s> {
    pub(super) fn of(stored: &'s Stored) -> Told<'s> {
        let moment = |time: &SystemTime| humantime::format_rfc3339_seconds(*time).to_string();
        let told = Told {
            kind: match stored.contents {
                Contents::Package { .. } => "package",
                Contents::RunnerCache { .. } => "runner cache",
                Contents::Leftover => "leftover",
            },
            package: None,
            asked: None,
            options: &[],
            registry: None,
            runner: None,
            installed: None,
            size: stored.size,
            fetched: stored.fetched.as_ref().map(moment),
            used: stored.used.as_ref().map(moment),
            in_use: stored.is_in_use,
            directory: Shown::new(&stored.directory),
        };
        match &stored.contents {
            Contents::Package { registry, runner, name, asked, options, installed, .. } => Told {
                package: Some(name),
                asked: asked.as_deref(),
                options,
                registry: Some(*registry),
                runner: Some(*runner),
                installed: installed.as_ref().map(Shown::new),
                ..told
            },
            Contents::RunnerCache { .. } | Contents::Leftover => told,
        }
    }
}

/// A size in human-readable form.
pub(crate) fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut whole, mut rest, mut unit) = (bytes / 1000, bytes % 1000, 0);
    while whole >= 1000 && unit + 1 < UNITS.len() {
        (rest, whole) = (whole % 1000, whole / 1000);
        unit += 1;
    }
    if whole < 10 { format!("{whole}.{} {}", rest / 100, UNITS[unit]) } else { format!("{whole} {}", UNITS[unit]) }
}

/// How long ago something happened, roughly.
pub(super) fn ago(now: SystemTime, then: SystemTime) -> String {
    let seconds = now.duration_since(then).map_or(0, |since| since.as_secs());
    let (count, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn sizes_and_ages_in_words() {
        for (bytes, expect) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (61_300_000, "61 MB"),
            (1_340_000_000, "1.3 GB"),
            (999_999, "999 kB"),
            (5_000_000_000_000_000, "5000 TB"),
        ] {
            assert_eq!(in_words(bytes), expect);
        }
        for (seconds, expect) in
            [(0, "just now"), (61, "1 minute ago"), (7200, "2 hours ago"), (86_400 * 3, "3 days ago")]
        {
            assert_eq!(ago(UNIX_EPOCH + Duration::from_secs(seconds), UNIX_EPOCH), expect);
        }
        assert_eq!(ago(UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(9)), "just now", "a clock that was set back");
    }
}
