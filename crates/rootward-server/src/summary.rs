//! The current roots as text and data: for models, for users, for the tool `get-roots`.

use rmcp::model::{JsonObject, MetaObject, ReadResourceResult, Resource, ResourceContents};
use rootward_core::cursor::PAGE_SIZE;
use rootward_core::session::{State, Support};
use rootward_core::{Access, Mode, OtherRoot, PlacedRoot, Shown};
use rootward_protocol::keys;
use rootward_protocol::session::LeftOutKind;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::error::PageError;
use crate::roots::Roots;

/// The URI of the resource that shows the current roots.
pub const ROOTS_URI: &str = "rootward://roots";

/// A sentence for a server's instructions.
pub const ROOTS_SENTENCE: &str = "File paths must be in the roots, the directories that the user shares with this server: \
                                  a path outside them is refused. The resource `rootward://roots` lists them.";

/// The current roots. Serializes to the answer of `get-roots`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RootsSummary {
    /// Whether the client supports roots.
    pub supports_roots: bool,
    /// Whether the client reports when its roots change.
    pub roots_list_changed: bool,
    /// The total number of roots.
    pub roots_count: usize,
    /// The roots of this page. After the last of them come the client's roots with other schemes, which grant no
    /// access.
    pub roots: Vec<SummaryRoot>,
    /// The paths of the roots that have one.
    pub file_paths: Vec<String>,
    /// The client's roots that were excluded.
    pub left_out: Vec<SummaryLeftOut>,
    /// The client's state.
    pub state: State,
    /// Why these roots are current, as text.
    pub why: String,
    /// The generation of these roots.
    pub generation: u64,
    /// How the client's roots and the ceiling combine.
    pub mode: Mode,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One root of a summary.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryRoot {
    /// Its URI; `None` if the path is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its name.
    pub name: String,
    /// The access that it gives.
    pub access: Access,
    /// The operator's pattern that matched it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The `_meta` of its entry.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<RawValue>>,
}

/// A root from the client that was excluded.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryLeftOut {
    /// The URI as the client sent it.
    pub uri: String,
    /// `unusable`, `refused` or `unavailable`.
    pub reason: LeftOutKind,
}

impl SummaryRoot {
    fn new(PlacedRoot { root, .. }: &PlacedRoot) -> SummaryRoot {
        SummaryRoot {
            uri: root.uri().map(|uri| uri.as_str().to_owned()),
            name: root.title(),
            access: root.access,
            pattern: root.pattern().map(|pattern| Shown::new(pattern).to_string()),
            meta: raw(root.meta.as_deref()),
        }
    }

    fn other(other: &OtherRoot) -> SummaryRoot {
        SummaryRoot {
            uri: Some(other.uri.clone()),
            name: other.title().to_owned(),
            access: Access::NONE,
            pattern: None,
            meta: raw(other.meta.as_deref()),
        }
    }
}

fn raw(meta: Option<&str>) -> Option<Box<RawValue>> {
    RawValue::from_string(meta?.to_owned()).ok()
}

impl Roots {
    /// A summary of the current roots: the page that begins at `cursor`.
    pub fn summary(&self, cursor: Option<&str>) -> Result<RootsSummary, PageError> {
        let page = self.page(cursor)?;
        // They come last, so on the last page.
        let others = if page.next.is_none() { self.others() } else { &[] };
        let others = others.iter().map(SummaryRoot::other);
        Ok(RootsSummary {
            supports_roots: self.support() != Support::No,
            roots_list_changed: self.support() == Support::Announced,
            roots_count: self.list().len() + self.others().len(),
            roots: page.entries.iter().map(SummaryRoot::new).chain(others).collect(),
            file_paths: page.entries.iter().map(|placed| Shown::new(&placed.root.path).to_string()).collect(),
            left_out: self
                .left_out()
                .iter()
                .map(|root| SummaryLeftOut { uri: root.text.clone(), reason: root.kind })
                .collect(),
            state: self.state(),
            why: self.why().to_string(),
            generation: self.generation(),
            mode: self.mode(),
            next_cursor: page.next.map(rootward_core::cursor::Cursor::encode),
        })
    }

    /// All current roots, as data.
    pub fn entries(&self) -> Vec<SummaryRoot> {
        self.list().iter().map(SummaryRoot::new).collect()
    }

    /// The contents of [`ROOTS_URI`], or of its later pages, whose URIs end in `?cursor=` and a cursor; `None` for any
    /// other URI.
    pub fn read_resource(&self, uri: &str) -> Option<Result<ReadResourceResult, PageError>> {
        let cursor = match uri.strip_prefix(ROOTS_URI)? {
            "" => None,
            rest => Some(rest.strip_prefix("?cursor=")?),
        };
        Some(self.summary(cursor).map(|summary| {
            // Cannot fail: it has only numbers and strings.
            let text = serde_json::to_string_pretty(&summary).unwrap_or_default();
            let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
            ReadResourceResult::new(vec![contents])
        }))
    }
}

impl Roots {
    /// Names a few of the roots, for a server's instructions or a description.
    pub fn sentence(&self) -> String {
        self.published().sentence()
    }
}

/// The entry in a resource list, with the roots in its description and its `_meta` if they are known.
pub fn roots_resource(roots: Option<&Roots>) -> Resource {
    let about = "The directories that the user shares with this server, and what may be done in each.";
    let now = roots.map_or_else(|| "The client has not named them yet.".to_owned(), Roots::sentence);
    let mut resource = Resource::new(ROOTS_URI, "roots")
        .with_title("Current roots")
        .with_description(format!("{about} {now}"))
        .with_mime_type("application/json");
    if let Some(roots) = roots {
        let listed: Vec<SummaryRoot> = roots.list().iter().take(PAGE_SIZE.get()).map(SummaryRoot::new).collect();
        let mut meta = JsonObject::new();
        meta.insert(keys::ROOTS.to_owned(), json!(listed));
        meta.insert(keys::STATE.to_owned(), json!(roots.state()));
        resource.meta = Some(MetaObject(meta));
    }
    resource
}
