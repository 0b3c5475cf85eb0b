//! The client's roots that are left out: which, why, and how much of the reason a peer may see.

use std::fmt;

use rootward_core::session::{CurrentRoots, Sources};
use rootward_core::{Access, AuditEvent, Code, Occasion, PlacedRoot, Root, RootSet, Shown, WhyRefused};
use serde::Serialize;
use serde_json::{Value, json};

use super::published::Published;
/// The maximum number of roots to report.
const MOST_REPORTED: usize = 50;

/// A root that the client named and that is left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// As the client named it.
    pub text: String,
    /// The reason as a peer sees it.
    pub kind: LeftOutKind,
    /// The access it asked for.
    pub access: Access,
    /// The reason as the operator sees it.
    pub reason: String,
    /// A matching code, if there is one.
    pub code: Option<Code>,
}

/// Why a root is left out, as a peer sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeftOutKind {
    /// Its URI does not name a place.
    Unusable,
    /// It cannot be shared, or lies outside what the operator allows.
    Refused,
    /// It does not exist or cannot be reached. It counts as soon as it can be.
    Unavailable,
}

impl LeftOutKind {
    /// One word: `unusable`, `refused` or `unavailable`.
    pub const fn word(self) -> &'static str {
        match self {
            LeftOutKind::Unusable => "unusable",
            LeftOutKind::Refused => "refused",
            LeftOutKind::Unavailable => "unavailable",
        }
    }
}

/// For the operator.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the client's root `{}` is left out ({}): {}",
            Shown::new(&self.text),
            self.kind.word(),
            Shown::new(&self.reason)
        )
    }
}

/// What the operator was told last, so that each left-out root is reported once per change.
#[derive(Clone, Default, Debug)]
pub struct LeftOutNews(Vec<LeftOut>);

impl LeftOutNews {
    /// The roots that are left out now and were not before.
    pub fn take(&mut self, published: Option<&Published>) -> Vec<LeftOut> {
        let Some(now) = published.map(Published::left_out).filter(|now| *now != self.0) else { return Vec::new() };
        let before = std::mem::replace(&mut self.0, now.to_vec());
        now.iter().filter(|root| !before.contains(root)).cloned().collect()
    }
}

impl LeftOut {
    /// The audit event.
    pub fn event(&self, occasion: Occasion<'_>) -> AuditEvent {
        AuditEvent::of_root(occasion, &self.text, self.access, self.code, &self.reason)
    }

    /// The form used in `get-roots`.
    pub fn to_json(&self) -> Value {
        json!({"uri": self.text, "reason": self.kind})
    }
}

/// The client's roots that are not among the current roots.
pub(super) fn left_out(client: &RootSet, current: &CurrentRoots, sources: &Sources) -> Vec<LeftOut> {
    let refused = client.refused().iter().map(|refused| {
        let kind = match kind(&refused.reason) {
            // SECURITY: a client from the network must not learn what exists outside the directories it may reach
            // (test: a_bounded_client_does_not_learn_what_exists)
            LeftOutKind::Unavailable if sources.bound.is_some() => LeftOutKind::Refused,
            kind => kind,
        };
        LeftOut {
            text: refused.root.as_ref().map_or_else(|| refused.text.clone(), text),
            kind,
            access: refused.root.as_ref().map_or(Access::NONE, |root| root.access),
            reason: refused.reason.to_string(),
            code: code(&refused.reason),
        }
    });
    let outside = client.roots().iter().filter(|root| {
        let holds = |kept: &PlacedRoot| kept.place.starts_with(&root.place);
        current.roots.governing(&root.place).is_none() && !current.roots.roots().iter().any(holds)
    });
    let outside = outside.map(|placed| LeftOut {
        text: text(&placed.root),
        kind: LeftOutKind::Refused,
        access: placed.root.access,
        reason: "outside the operator's roots".to_owned(),
        code: Some(Code::OutsideRoots),
    });
    let mut all: Vec<LeftOut> = refused.chain(outside).collect();
    if sources.bound.is_some() {
        // SECURITY: missing roots must not come first (test: a_bounded_client_does_not_learn_what_exists)
        all.sort_by(|one, other| one.text.cmp(&other.text));
        all.dedup_by(|one, other| one.text == other.text);
    }
    all.truncate(MOST_REPORTED);
    all
}

/// A root's URI, or its path if it has none.
fn text(root: &Root) -> String {
    root.uri().map_or_else(|| Shown::new(&root.path).to_string(), |uri| uri.as_str().to_owned())
}

fn kind(reason: &WhyRefused) -> LeftOutKind {
    match reason {
        WhyRefused::Unusable(_) => LeftOutKind::Unusable,
        WhyRefused::Missing | WhyRefused::Unreachable(_) => LeftOutKind::Unavailable,
        _ => LeftOutKind::Refused,
    }
}

fn code(reason: &WhyRefused) -> Option<Code> {
    match reason {
        WhyRefused::Unusable(_) => Some(Code::InvalidPath),
        WhyRefused::NotShareable(_) => Some(Code::SystemPath),
        WhyRefused::Special => Some(Code::SpecialFile),
        WhyRefused::Linked | WhyRefused::PlantedLink(_) => Some(Code::SymlinkEscape),
        _ => None,
    }
}
