//! The limits of the front, from the settings, and the system's limit on open files.

use std::time::Duration;

use rootward_http::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::settings::{LimitSettings, Setting};

/// The settings, converted for the front.
pub(super) fn of(settings: &LimitSettings) -> Limits {
    let count = |setting: &Setting<u64>| usize::try_from(setting.value).unwrap_or(usize::MAX);
    let number = |setting: &Setting<u64>| u32::try_from(setting.value).unwrap_or(u32::MAX);
    let time = |setting: &Setting<u64>| Duration::from_millis(setting.value);
    Limits {
        connections: count(&settings.connections),
        body: count(&settings.body_bytes),
        head_time: time(&settings.head_ms),
        body_time: time(&settings.body_ms),
        connection_idle: time(&settings.connection_idle_ms),
        write_time: time(&settings.write_ms),
        sessions: count(&settings.sessions),
        sessions_per_principal: count(&settings.sessions_per_principal),
        session_idle: time(&settings.session_idle_ms),
        streams: count(&settings.streams),
        requests: count(&settings.requests),
        queue: count(&settings.queue),
        queue_bytes: count(&settings.queue_bytes),
        replay: count(&settings.replay),
        replay_bytes: count(&settings.replay_bytes),
        replay_time: time(&settings.replay_ms),
        backend_time: time(&settings.backend_ms),
        answer_wait: time(&settings.answer_ms),
        keep_alive: time(&settings.keep_alive_ms),
        rate: number(&settings.rate),
        burst: number(&settings.burst),
        grace: time(&settings.shutdown_ms),
    }
}

/// Raises the limit on open files as far as this process may: each connection takes one, and each session holds its
/// roots open. Child processes inherit it.
pub(super) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // If that fails, the server has fewer sessions, and says so when it runs out.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    /// The settings file and the front agree on the defaults.
    #[test]
    fn the_defaults_are_those_of_the_front() {
        let shown = format!("{:?}", of(&Settings::defaults().http.limits));
        assert_eq!(shown, format!("{:?}", Limits::default()));
    }
}
