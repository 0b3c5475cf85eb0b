//! What is in force, in words and data: for models, for users, for the tool `get-roots`.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents};
use rootward_core::session::{State, Support};
use rootward_core::{Access, Mode, PlacedRoot, Shown};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::PageError;
use crate::roots::Roots;

/// The address of the resource that tells what is in force.
pub const ROOTS_URI: &str = "rootward://roots";

/// A sentence for a server's instructions.
pub const ROOTS_SENTENCE: &str = "File paths are held to the roots, the directories that the user shares with this server: \
                                  a path outside them is refused. The resource `rootward://roots` tells which are in force.";

/// What is in force. Serialises to the answer of `get-roots`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RootsSummary {
    /// Whether the client can be asked.
    pub supports_roots: bool,
    /// Whether it says when its roots change.
    pub roots_list_changed: bool,
    /// How many roots there are in all.
    pub roots_count: usize,
    /// The roots of this page.
    pub roots: Vec<SummaryRoot>,
    /// Their paths.
    pub file_paths: Vec<String>,
    /// The client's state.
    pub state: State,
    /// Why these, in words.
    pub why: String,
    /// The number of these roots.
    pub generation: u64,
    /// How the client's roots and the ceiling combine.
    pub mode: Mode,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One root of a summary.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryRoot {
    /// Its URI; none where the path has none, because it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What may be done below it.
    pub access: Access,
    /// What its entry carried besides.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<RawValue>>,
}

impl SummaryRoot {
    fn new(PlacedRoot { root, .. }: &PlacedRoot) -> SummaryRoot {
        SummaryRoot {
            uri: root.uri().map(|uri| uri.as_str().to_owned()),
            name: root.name.clone(),
            access: root.access,
            meta: root.meta.as_ref().and_then(|meta| RawValue::from_string(meta.to_string()).ok()),
        }
    }
}

impl Roots {
    /// What is in force, for whoever asks; the part that begins at `cursor`.
    pub fn summary(&self, cursor: Option<&str>) -> Result<RootsSummary, PageError> {
        let page = self.page(cursor)?;
        Ok(RootsSummary {
            supports_roots: self.support() != Support::No,
            roots_list_changed: self.support() == Support::Announced,
            roots_count: self.list().len(),
            roots: page.entries.iter().map(SummaryRoot::new).collect(),
            file_paths: page.entries.iter().map(|placed| Shown::new(&placed.root.path).to_string()).collect(),
            state: self.state(),
            why: self.why().to_string(),
            generation: self.generation(),
            mode: self.mode(),
            next_cursor: page.next.map(rootward_core::cursor::Cursor::encode),
        })
    }

    /// The contents of [`ROOTS_URI`], or of its later pages, which have `?cursor=` and a cursor behind it; none for any other
    /// address.
    pub fn read_resource(&self, uri: &str) -> Option<Result<ReadResourceResult, PageError>> {
        let cursor = match uri.strip_prefix(ROOTS_URI)? {
            "" => None,
            rest => Some(rest.strip_prefix("?cursor=")?),
        };
        Some(self.summary(cursor).map(|summary| {
            // Numbers and texts only: it cannot fail.
            let text = serde_json::to_string_pretty(&summary).unwrap_or_default();
            let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
            ReadResourceResult::new(vec![contents])
        }))
    }
}

/// The resource, as it stands in a list of resources.
pub fn roots_resource() -> Resource {
    Resource::new(ROOTS_URI, "roots")
        .with_title("Roots in force")
        .with_description("The directories that the user shares with this server, and what may be done in each")
        .with_mime_type("application/json")
}
