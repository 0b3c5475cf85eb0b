//! The files below the roots as resources.
//!
//! - `uri.rs`: paths as URIs, and what a file's name says about its contents.
//! - `listing.rs`: which files are listed, page by page. `templates.rs`: URIs with a part to fill in.
//! - `reading.rs`: a resource's contents.
//! - `watches.rs`: which resources a client wants to hear of, and what has changed among them. `telling.rs`: a legacy session that is told.
//!   `listening.rs`: a modern client that listens.

pub(crate) mod listening;
pub(crate) mod listing;
pub(crate) mod reading;
pub(crate) mod telling;
pub(crate) mod templates;
mod uri;
pub(crate) mod watches;

use rmcp::ErrorData;
use rootward_core::Grant;
use rootward_server::{Access, PathError, Roots};
use serde_json::json;

pub(crate) use uri::{escaped_name, media_type, of_path};

use crate::failure::Failure;

/// What the scheme of every file's URI is.
pub(crate) const SCHEME: &str = "file:";

/// Decides whether a resource may be read.
pub(crate) fn decide(roots: &Roots, uri: &str) -> Result<Grant, ErrorData> {
    // A path is not a URI: a relative one would be read from the first root, where other clients mean something else.
    if !uri.starts_with(SCHEME) {
        let sentence =
            format!("`{}` is not the URI of a resource here: files are `file:` URIs", crate::project::shown(uri));
        return Err(ErrorData::invalid_params(sentence, Some(json!({"uri": uri}))));
    }
    // SECURITY: a resource is opened by the same decision as a tool's path (test: resources_pass_the_escape_corpus)
    roots.check(uri, Access::READ).map_err(|denial| PathError::from(denial).into())
}

/// A failure as resources, prompts and completions tell it.
pub(crate) fn told(failure: Failure, uri: &str) -> ErrorData {
    let data = Some(json!({ "uri": uri }));
    match failure {
        Failure::Path(PathError::Failed(error)) => {
            let sentence = Failure::Path(PathError::Failed(error)).sentence();
            if sentence.contains("does not exist") {
                return ErrorData::resource_not_found(sentence, data);
            }
            ErrorData::invalid_params(sentence, data)
        }
        Failure::Path(error) => error.into(),
        Failure::Page(error) => error.into(),
        other => ErrorData::invalid_params(other.to_string(), data),
    }
}
