//! The answer for programs: one JSON object for each path, the same from `check --json`, `check --stdin` and, with the steps,
//! `explain --json`.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;

use rootward_core::{Code, Shown};
use serde::Serialize;

use crate::decision::Decision;

/// The answer for one path.
#[derive(Debug, Serialize)]
pub(crate) struct Answer<'a> {
    /// As asked; null if the question could not be parsed.
    pub(crate) path: Option<Cow<'a, str>>,
    pub(crate) decision: &'static str,
    /// Why it was denied; null if allowed.
    pub(crate) code: Option<&'static str>,
    /// The root that contains the place, as it was named.
    pub(crate) root: Option<Cow<'a, str>>,
    /// Where the path leads.
    pub(crate) resolved: Option<Cow<'a, str>>,
    /// What is wrong with the question itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The question's own roots that cannot be used, each with the reason.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) left_out: &'a [String],
}

impl<'a> Answer<'a> {
    pub(crate) fn new(path: &'a OsStr, decision: &'a Decision) -> Answer<'a> {
        match decision {
            Decision::Allow(grant) => Answer {
                path: Some(text(path)),
                decision: "allow",
                code: None,
                root: Some(text(grant.root().root.path.as_os_str())),
                resolved: Some(owned_text(grant.path())),
                error: None,
                left_out: &[],
            },
            Decision::Deny(refused) => Answer {
                path: Some(text(path)),
                decision: "deny",
                code: Some(refused.denial.code().as_str()),
                root: refused.root.as_ref().map(|root| text(root.as_os_str())),
                resolved: refused.resolved.as_ref().map(|place| text(place.as_os_str())),
                error: None,
                left_out: &[],
            },
        }
    }

    /// The answer to a question that cannot be decided: a denial.
    pub(crate) fn unreadable(path: Option<&'a str>, error: String) -> Answer<'a> {
        Answer {
            path: path.map(Cow::Borrowed),
            decision: "deny",
            code: Some(Code::InvalidPath.as_str()),
            root: None,
            resolved: None,
            error: Some(error),
            left_out: &[],
        }
    }
}

/// A path as it is if it is text, and escaped if it is not UTF-8: JSON holds only text.
pub(crate) fn text(path: &OsStr) -> Cow<'_, str> {
    path.to_str().map_or_else(|| Shown::new(path).to_string().into(), Cow::Borrowed)
}

fn owned_text(path: PathBuf) -> Cow<'static, str> {
    path.into_os_string().into_string().unwrap_or_else(|path| Shown::new(&path).to_string()).into()
}
