//! The files below the roots as resources.
//!
//! - `uri.rs`: paths as URIs, and media types by file name.
//! - `listing.rs`: which files are listed, in pages. `templates.rs`: URIs with a placeholder.
//! - `reading.rs`: a resource's contents.
//! - `watches.rs`: which resources a client watches, and which have changed. `telling.rs`: notifies a legacy session.
//!   `listening.rs`: notifies a modern client that listens.

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

/// Whether a text is the URI of a file. The case of a scheme does not matter (RFC 3986, section 3.1).
pub(crate) fn is_file_uri(text: &str) -> bool {
    text.get(.."file:".len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Decides whether a resource may be read.
pub(crate) fn decide(roots: &Roots, uri: &str) -> Result<Grant, ErrorData> {
    // A path is not a URI: a relative one would start at the first root, but other clients mean something else.
    if !is_file_uri(uri) {
        let sentence =
            format!("`{}` is not the URI of a resource here: files are `file:` URIs", crate::project::shown(uri));
        return Err(ErrorData::invalid_params(sentence, Some(json!({"uri": uri}))));
    }
    // SECURITY: a resource passes the same check as a tool's path (test: resources_pass_the_escape_corpus)
    roots.check(uri, Access::READ).map_err(|denial| PathError::from(denial).into())
}

/// A failure, in the form for resources, prompts and completions.
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
