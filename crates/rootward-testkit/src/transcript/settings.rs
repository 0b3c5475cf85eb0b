//! The parser of `settings:` lines, which use the names of the product's own settings.

use std::ffi::OsStr;
use std::time::Duration;

use rootward_core::session::{Follow, NoRoots, Policy, Sources};
use rootward_core::{Origin, Root, RootSet, Validation};

use super::stage::Stage;

/// The settings of the server that a connection is made to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How the client's roots are followed, and for how long.
    pub policy: Policy,
    /// Ceiling, saved roots and fallback, resolved when the line was parsed.
    pub sources: Sources,
    /// How a refused tool call is answered.
    pub refusals: Refusals,
    /// The user that the requests come from.
    pub principal: String,
    /// The key that seals the states of modern clients.
    pub key: u8,
    /// How long a modern client may take to repeat a call.
    pub round_lifetime: Duration,
}

/// How a refused tool call is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusals {
    /// A result with `isError`.
    ToolError,
    /// JSON-RPC error -32602.
    ProtocolError,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            policy: Policy::default(),
            sources: Sources::default(),
            refusals: Refusals::ToolError,
            principal: String::new(),
            key: 0,
            round_lifetime: Duration::from_mins(10),
        }
    }
}

impl Settings {
    /// Applies one setting: `NAME=VALUE` or a word alone.
    pub(super) fn set(&mut self, word: &str, stage: &Stage) -> Result<(), String> {
        let not_known = || Err(format!("no such setting: `{word}`"));
        let policy = &mut self.policy;
        let Some((name, value)) = word.split_once('=') else {
            policy.follow = match word {
                "strict" => Follow::Strict,
                "ignore-client" => Follow::IgnoreClient,
                "fallback-only" => Follow::FallbackOnly,
                _ => return not_known(),
            };
            return Ok(());
        };
        match name {
            "mode" => policy.mode = value.parse().map_err(|_| format!("no such mode: `{value}`"))?,
            "no-roots" if value == "allow-all" => policy.no_roots = NoRoots::AllowAll,
            "timeout" => policy.timeout = duration(value)?,
            "debounce" => policy.debounce = duration(value)?,
            "debounce-limit" => policy.debounce_limit = duration(value)?,
            "retry-after" => policy.retry_after = duration(value)?,
            "lifetime" => policy.lifetime = lifetime(value)?,
            "lifetime-announced" => policy.lifetime_announced = lifetime(value)?,
            "ceiling" => self.sources.ceiling = roots(value, Origin::Flag, stage)?,
            "saved" => self.sources.saved = roots(value, Origin::Store, stage)?,
            "fallback" => self.sources.fallback = roots(value, Origin::Fallback, stage)?,
            "refusals" if value == "protocol-error" => self.refusals = Refusals::ProtocolError,
            "principal" => value.clone_into(&mut self.principal),
            "key" => self.key = value.parse().map_err(|_| format!("not a number: `{value}`"))?,
            "round-lifetime" => self.round_lifetime = duration(value)?,
            _ => return not_known(),
        }
        Ok(())
    }
}

/// `250ms`, `10s` or `5m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("not a time: `{text}` (`250ms`, `10s`, `5m`)");
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "m" => Ok(Duration::from_mins(number)),
        _ => Err(wrong()),
    }
}

fn lifetime(text: &str) -> Result<Option<Duration>, String> {
    if text == "none" { Ok(None) } else { duration(text).map(Some) }
}

/// Parses comma-separated paths, each with an optional access suffix.
fn roots(text: &str, origin: Origin, stage: &Stage) -> Result<RootSet, String> {
    let root = |text: &str| {
        let path = stage.path(text)?;
        Root::from_typed(OsStr::new(&path), stage.top(), None, origin).map_err(|error| error.to_string())
    };
    let roots = text.split(',').map(root).collect::<Result<Vec<Root>, String>>()?;
    Ok(RootSet::place_ambient(roots, &Validation::new(None)))
}

#[cfg(test)]
mod tests {
    use rootward_core::{Access, Mode};

    use super::*;

    #[test]
    fn words_of_the_settings() {
        let stage = Stage::new().unwrap();
        let mut settings = Settings::default();
        for word in "mode=union strict no-roots=allow-all timeout=50ms lifetime=none ceiling=$A:ro,$B key=3".split(' ')
        {
            assert_eq!(settings.set(word, &stage), Ok(()), "{word}");
        }
        let policy = &settings.policy;
        assert_eq!((policy.mode, policy.follow, policy.no_roots), (Mode::Union, Follow::Strict, NoRoots::AllowAll));
        assert_eq!((policy.timeout, policy.lifetime), (Duration::from_millis(50), None));
        let access: Vec<Access> = settings.sources.ceiling.roots().iter().map(|placed| placed.root.access).collect();
        assert_eq!(access, [Access::READ, Access::READ_WRITE]);
        for word in ["", "stric", "mode=wide", "timeout=5", "timeout=5h", "ceiling=$C", "colour=red", "key=x", "="] {
            assert!(settings.set(word, &stage).is_err(), "{word}");
        }
    }
}
