//! The `[http.limits]` table of the settings file: how much of everything there may be over HTTP.

use serde::Deserialize;
use toml::Spanned;

use super::Setting;
use super::file::Mistake;

/// A day, in milliseconds: no limit on time is longer, but for idle sessions.
const DAY: u64 = 86_400_000;

/// The longest message that the servers behind the front take.
const LONGEST: u64 = 16 << 20;

macro_rules! limits {
    ($($key:ident: $default:expr, $least:expr, $most:expr;)*) => {
        /// What is set, key by key.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub(crate) struct LimitSettings {
            $(pub(crate) $key: Setting<u64>,)*
        }

        /// The table as its keys have it.
        #[derive(Deserialize, Default)]
        #[serde(deny_unknown_fields)]
        pub(super) struct LimitKeys {
            $($key: Option<Spanned<u64>>,)*
        }

        /// What the table says.
        #[derive(Default, Debug)]
        pub(super) struct WrittenLimits {
            $($key: Option<u64>,)*
        }

        impl LimitKeys {
            pub(super) fn read(self, text: &str) -> Result<WrittenLimits, Mistake> {
                Ok(WrittenLimits { $($key: bounded(text, self.$key, $least, $most)?,)* })
            }
        }

        impl WrittenLimits {
            pub(super) fn combine(self) -> LimitSettings {
                LimitSettings { $($key: Setting::first(None, self.$key, $default),)* }
            }
        }

        impl LimitSettings {
            /// All of them, by their keys.
            pub(crate) fn all(&self) -> Vec<(&'static str, &Setting<u64>)> {
                vec![$((concat!("http.limits.", stringify!($key)), &self.$key),)*]
            }
        }
    };
}

// The defaults are those of the front: see `http/limits.rs`.
limits! {
    connections: 16_384, 1, 1_000_000;
    sessions: 20_000, 1, 1_000_000;
    sessions_per_principal: 16_384, 1, 1_000_000;
    session_idle_ms: 1_800_000, 1_000, 7 * DAY;
    streams: 64, 1, 10_000;
    requests: 1_024, 1, 100_000;
    rate: 20_000, 1, 1_000_000;
    burst: 20_000, 1, 1_000_000;
    body_bytes: 4 << 20, 1_024, LONGEST;
    head_ms: 10_000, 100, DAY;
    body_ms: 30_000, 100, DAY;
    connection_idle_ms: 120_000, 100, DAY;
    write_ms: 30_000, 100, DAY;
    queue: 4_096, 1, 1_000_000;
    queue_bytes: LONGEST, 1_024, 1 << 30;
    replay: 256, 0, 100_000;
    replay_bytes: 1 << 20, 0, 1 << 30;
    replay_ms: 120_000, 0, DAY;
    backend_ms: 30_000, 100, DAY;
    answer_ms: 100, 0, 60_000;
    keep_alive_ms: 15_000, 1_000, 600_000;
    shutdown_ms: 10_000, 0, DAY;
}

/// A number of the table, within its bounds.
fn bounded(text: &str, spot: Option<Spanned<u64>>, least: u64, most: u64) -> Result<Option<u64>, Mistake> {
    let Some(spot) = spot else { return Ok(None) };
    let number = *spot.get_ref();
    // SECURITY: a limit of nothing would be no service, and one without end would be none at all
    // (test: limits_have_bounds)
    if number < least || number > most {
        let says = format!("`{number}` (expected a number from {least} to {most})");
        return Err(Mistake::at(text, spot.span().start, says));
    }
    Ok(Some(number))
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;

    #[test]
    fn limits_have_bounds() {
        let read = |line: &str| parse(&format!("[http.limits]\n{line}\n"), None).map(drop);
        for fine in ["sessions = 1", "replay = 0", "body_bytes = 16777216", "keep_alive_ms = 1000", "rate = 1000000"] {
            assert!(read(fine).is_ok(), "{fine}");
        }
        for (wrong, says) in [
            ("sessions = 0", "line: 2, column: 12, says: \"`0` (expected a number from 1 to 1000000)"),
            ("body_bytes = 16777217", "expected a number from 1024 to 16777216"),
            ("session_idle_ms = 999", "expected a number from 1000 to 604800000"),
            ("rate = -1", "a whole number is expected"),
            ("rate = 1.5", "a whole number is expected"),
            ("rate = \"many\"", "a whole number is expected"),
            ("rates = 1", "unknown key `rates`"),
        ] {
            let mistake = format!("{:?}", read(wrong).unwrap_err());
            assert!(mistake.contains(says), "{wrong}: {mistake}");
        }
    }
}
