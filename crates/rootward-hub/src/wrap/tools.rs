//! What is known of the server's tools: learned from the lists it sends.

use std::collections::HashMap;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::rules::Treatments;
use crate::scan::Tool;

/// The tools that were listed.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: HashMap<String, Rc<Tool>>,
    /// The first page of the last list that the client was given, as text: to notice when another child has other tools.
    told: Option<Box<str>>,
    /// Whether any list has come.
    listed: bool,
}

#[derive(Deserialize)]
struct Listing<'j> {
    #[serde(borrow, default)]
    tools: Vec<&'j RawValue>,
}

impl Tools {
    /// Learns from the result of a `tools/list`.
    pub(super) fn learn(&mut self, result: &RawValue, treatments: &Treatments) {
        self.listed = true;
        let Ok(listing) = serde_json::from_str::<Listing<'_>>(result.get()) else { return };
        for tool in listing.tools.into_iter().filter_map(Tool::from_listing) {
            self.known.insert(tool.name().to_owned(), Rc::new(treatments.apply(tool)));
        }
    }

    /// The tool of this name, as far as it is known.
    pub(super) fn get(&self, name: &str, treatments: &Treatments) -> Rc<Tool> {
        self.known.get(name).cloned().unwrap_or_else(|| Rc::new(treatments.apply(Tool::named(name))))
    }

    /// Whether a list has come at all.
    pub(super) fn are_listed(&self) -> bool {
        self.listed
    }

    /// Nobody will list them.
    pub(super) fn will_not_be_listed(&mut self) {
        self.listed = true;
    }

    /// The client was told this list.
    pub(super) fn tell(&mut self, result: &RawValue) {
        self.told = Some(result.get().into());
    }

    /// Whether the client was told a list.
    pub(super) fn are_told(&self) -> bool {
        self.told.is_some()
    }

    /// Whether this list is another than what the client was told.
    pub(super) fn differ(&self, result: &RawValue) -> bool {
        self.told.as_deref().is_some_and(|told| told != result.get())
    }
}
