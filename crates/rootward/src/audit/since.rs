//! `--since`: a moment, a day, or a period that ends now.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of the first entries to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Since(SystemTime);

impl Since {
    /// Parses the flag.
    pub(super) fn parse(text: &str) -> Result<Since, String> {
        Since::read(text, SystemTime::now())
            .ok_or_else(|| "expected a time such as `2026-01-02T03:04:05Z`, a date, or a span such as `2h`".to_owned())
    }

    fn read(text: &str, now: SystemTime) -> Option<Since> {
        let begins_with_year = text.get(..5).is_some_and(|year| year.ends_with('-'));
        if !begins_with_year {
            let span = humantime::parse_duration(text).ok()?;
            // Longer than the calendar: show everything.
            return Some(Since(now.checked_sub(span).unwrap_or(UNIX_EPOCH)));
        }
        let time = match text.len() {
            10 => humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).ok()?,
            _ => moment(text)?,
        };
        Some(Since(time))
    }

    /// In milliseconds since 1970, as in the entries.
    pub(super) fn milliseconds(self) -> u64 {
        let since = self.0.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// An RFC 3339 time with any offset: the parser knows only UTC.
fn moment(text: &str) -> Option<SystemTime> {
    let text = text.to_ascii_uppercase().replacen(' ', "T", 1);
    if text.ends_with('Z') {
        return humantime::parse_rfc3339(&text).ok();
    }
    let (local, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let digits = |part: &str, below: u64| {
        let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|number: &u64| is_number && *number < below)
    };
    let offset_seconds = Duration::from_secs((digits(hours, 24)? * 60 + digits(minutes, 60)?) * 60);
    let local = humantime::parse_rfc3339(&format!("{local}Z")).ok()?;
    match offset.as_bytes()[0] {
        b'+' => local.checked_sub(offset_seconds),
        b'-' => local.checked_add(offset_seconds),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_days_and_spans() {
        // 2026-01-02T03:04:05Z
        const THEN: u64 = 1_767_323_045;
        let now = UNIX_EPOCH + Duration::from_secs(THEN);
        let check = |text: &str, expect: Option<u64>| {
            let since = Since::read(text, now).map(Since::milliseconds);
            assert_eq!(since, expect.map(|seconds| seconds * 1000), "{text}");
        };
        check("2026-01-02T03:04:05Z", Some(THEN));
        check("2026-01-02t03:04:05z", Some(THEN));
        check("2026-01-02 03:04:05Z", Some(THEN));
        check("2026-01-02T05:04:05+02:00", Some(THEN));
        check("2026-01-01T21:34:05.000-05:30", Some(THEN));
        check("2026-01-02", Some(THEN - (3 * 60 + 4) * 60 - 5));
        check("15m", Some(THEN - 15 * 60));
        check("2h", Some(THEN - 2 * 3600));
        check("3d", Some(THEN - 3 * 86_400));
        check("1h 30m", Some(THEN - 5400));
        check("9999y", Some(0));
        for text in [
            "",
            "yesterday",
            "-2h",
            "2",
            "2026-13-01",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04",
            "2026-01-02T05:04:05+2:00",
            "2026-01-02T05:04:05+24:00",
            "2026-01-02T05:04:05*02:00",
            "2026-01-02x",
            "2026-ä",
            "ä",
            "2026-01-02T05:04:05+0ä",
        ] {
            check(text, None);
        }
    }
}
