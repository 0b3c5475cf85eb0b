//! Values of settings as `doctor` and `docs/settings.md` show them: for people and for programs.

use std::path::PathBuf;
use std::time::Duration;

use rootward_core::env::NamedRoot;
use rootward_core::session::NoRoots;
use rootward_core::{Closed, Mode, Shown};
use rootward_protocol::RefusalForm;
use rootward_sandbox::{Network, PassedVariable};
use serde_json::{Value, json};

use super::words::Words;
use super::{PrincipalSettings, Restrict, TokenFrom};
use crate::answer::text;
use crate::confinement_flags::SocketSwitch;
use crate::treat::Treat;

/// A value that can be shown.
pub(crate) trait Told {
    /// For programs.
    fn json(&self) -> Value;

    /// For people, in one line.
    fn shown(&self) -> String;

    /// For people, what does not fit in one line.
    fn more(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Values that look the same to people and programs.
macro_rules! told_as {
    ($($type:ty: |$value:ident| $as:expr;)*) => {
        $(impl Told for $type {
            fn json(&self) -> Value {
                let $value = self;
                json!($as)
            }

            fn shown(&self) -> String {
                let $value = self;
                $as.to_string()
            }
        })*
    };
}

told_as! {
    bool: |on| *on;
    u64: |number| *number;
    String: |text| text;
    Duration: |time| milliseconds(*time);
    Mode: |mode| mode.word();
    NoRoots: |what| what.word();
    RefusalForm: |form| form.word();
    Network: |network| network.word();
    SocketSwitch: |switch| Words::word(*switch);
    Closed: |closed| closed.word();
    TokenFrom: |token| shown_token(token);
}

/// Where the token comes from; never the token.
fn shown_token(token: &TokenFrom) -> String {
    match token {
        TokenFrom::File(path) => Shown::new(path).to_string(),
        TokenFrom::Variable(_) => "set".to_owned(),
        TokenFrom::Generated => "generated at the first start".to_owned(),
    }
}

/// A value that was set as a number of milliseconds.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Told for Option<Duration> {
    fn json(&self) -> Value {
        json!(self.map(milliseconds))
    }

    fn shown(&self) -> String {
        self.map_or_else(|| "no limit".to_owned(), |time| milliseconds(time).to_string())
    }
}

impl Told for Option<String> {
    fn json(&self) -> Value {
        json!(self)
    }

    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), |text| Shown::new(text).to_string())
    }
}

impl Told for Option<NamedRoot> {
    fn json(&self) -> Value {
        json!(self.as_ref().map(|named| named.text.as_str()))
    }

    fn shown(&self) -> String {
        self.as_ref().map_or("none", |named| named.text.as_str()).to_owned()
    }
}

/// One entry of a list.
trait Entry {
    fn text(&self) -> String;
}

impl Entry for NamedRoot {
    fn text(&self) -> String {
        self.text.clone()
    }
}

impl Entry for PathBuf {
    fn text(&self) -> String {
        text(self.as_os_str()).into_owned()
    }
}

impl Entry for String {
    fn text(&self) -> String {
        self.clone()
    }
}

impl Entry for PassedVariable {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Entry for Treat {
    fn text(&self) -> String {
        self.to_string()
    }
}

/// A principal and what it may access.
impl Entry for PrincipalSettings {
    fn text(&self) -> String {
        let roots: Vec<&str> = self.roots.iter().map(|named| named.text.as_str()).collect();
        let roots = if roots.is_empty() { "no roots".to_owned() } else { roots.join(", ") };
        let servers = self.servers.as_ref().map(|servers| format!("; servers: {}", servers.join(", ")));
        format!("{}: {roots}{}", self.name, servers.unwrap_or_default())
    }
}

/// A single entry goes in the line itself, several go below it.
impl<E: Entry> Told for Vec<E> {
    fn json(&self) -> Value {
        self.iter().map(Entry::text).collect()
    }

    fn shown(&self) -> String {
        match self.as_slice() {
            [] => "none".to_owned(),
            [one] => Shown::new(&one.text()).to_string(),
            more => format!("{} entries", more.len()),
        }
    }

    fn more(&self) -> Vec<String> {
        let more = if self.len() > 1 { self.as_slice() } else { &[] };
        more.iter().map(|entry| Shown::new(&entry.text()).to_string()).collect()
    }
}

/// For programs, a list of at most one entry, for compatibility.
impl Told for Option<PathBuf> {
    fn json(&self) -> Value {
        self.iter().map(Entry::text).collect()
    }

    fn shown(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), |path| Shown::new(path).to_string())
    }
}

/// For programs, with the keys of the settings file.
impl Told for Vec<Restrict> {
    fn json(&self) -> Value {
        let restrict = |Restrict { pattern, closed, below }: &Restrict| {
            let below = below.as_ref().map(Entry::text);
            json!({ "pattern": pattern, "closed": closed.word(), "below": below })
        };
        self.iter().map(restrict).collect()
    }

    fn shown(&self) -> String {
        match self.len() {
            0 => "standard places only".to_owned(),
            count => format!("standard places and {count} more"),
        }
    }

    fn more(&self) -> Vec<String> {
        let restrict = |Restrict { pattern, closed, below }: &Restrict| {
            let below = below.as_ref().map(|place| format!(", below {}", Shown::new(place))).unwrap_or_default();
            format!("{} (closed: {}{below})", Shown::new(pattern), closed.word())
        };
        self.iter().map(restrict).collect()
    }
}
