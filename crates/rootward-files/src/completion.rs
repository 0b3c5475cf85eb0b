//! Completes paths in prompt arguments and resource templates. It never leaves the roots: the guard decides whether to
//! list a directory, and hides its closed entries.

use std::cmp::Ordering;

use percent_encoding::percent_decode_str;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use rootward_core::{FileKind, Grant};
use rootward_server::{Access, PathError, Roots, roots};

use crate::prompts;
use crate::resources::templates::{PATH, PATH_NAME};
use crate::resources::{escaped_name, is_file_uri, of_path};

/// The longest text to complete, in bytes.
const LONGEST: usize = 16 << 10;

/// How to write names in the completed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Literally.
    Path,
    /// Percent-encoded.
    Uri,
}

/// Answers a completion request.
pub(crate) async fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let typed = &request.argument.value;
    let unknown = |what: &str| ErrorData::invalid_params(format!("no such {what}"), None);
    let (fixed, form) = match &request.r#ref {
        Reference::Prompt(prompt) => {
            let arguments = prompts::arguments(&prompt.name).ok_or_else(|| unknown("prompt"))?;
            if !arguments.contains(&request.argument.name.as_str()) {
                return Err(unknown("argument of this prompt"));
            }
            if request.argument.name != PATH_NAME {
                return Ok(CompleteResult::default());
            }
            ("", if is_file_uri(typed) { Form::Uri } else { Form::Path })
        }
        Reference::Resource(template) => {
            let fixed = template.uri.strip_suffix(PATH).filter(|fixed| fixed.starts_with("file:///"));
            if request.argument.name != PATH_NAME {
                return Err(unknown("part of this template"));
            }
            (fixed.ok_or_else(|| unknown("template"))?, Form::Uri)
        }
        _ => return Err(unknown("kind of reference")),
    };
    if fixed.len() + typed.len() > LONGEST {
        return Ok(CompleteResult::default());
    }
    let roots = match roots().await {
        Ok(roots) => roots,
        // A completion cannot ask a modern client, so there is nothing to offer.
        Err(PathError::NotKnown) => return Ok(CompleteResult::default()),
        Err(error) => return Err(error.into()),
    };
    let whole = format!("{fixed}{typed}");
    let values = values(&roots, &whole, form).await?;
    Ok(CompleteResult::new(offered(values, fixed)))
}

/// All possible completions of a text.
async fn values(roots: &Roots, whole: &str, form: Form) -> Result<Vec<String>, ErrorData> {
    let (directory, begun) = whole.rfind('/').map_or(("", whole), |slash| whole.split_at(slash + 1));
    let mut values = of_roots(roots, whole, form);
    let begun = match form {
        Form::Path => begun.to_owned(),
        Form::Uri => percent_decode_str(begun).decode_utf8_lossy().into_owned(),
    };
    let looked_in = if directory.is_empty() { "." } else { directory };
    // SECURITY: list only a directory that the guard grants (test: completion_passes_the_escape_corpus)
    match roots.check(looked_in, Access::READ) {
        Ok(grant) => {
            let found = tokio::task::spawn_blocking(move || entries(&grant, &begun, form));
            let names = found.await.unwrap_or_default();
            values.extend(names.into_iter().map(|name| format!("{directory}{name}")));
        }
        // Above the roots, offer only the roots.
        Err(_) if !values.is_empty() => {}
        Err(denial) => return Err(PathError::from(denial).into()),
    }
    values.sort_by(|one, other| in_order(one, other));
    values.dedup();
    Ok(values)
}

/// The roots that an absolute or empty text can be completed to.
fn of_roots(roots: &Roots, whole: &str, form: Form) -> Vec<String> {
    let written = roots.list().iter().filter_map(|placed| {
        let path = match form {
            Form::Path => placed.root.path.to_str()?.to_owned(),
            Form::Uri => of_path(&placed.root.path)?,
        };
        let slash = if placed.kind == rootward_core::RootKind::Directory { "/" } else { "" };
        Some(format!("{}{slash}", path.trim_end_matches('/')))
    });
    written.filter(|written| written.starts_with(whole) && *written != whole).collect()
}

/// The entries of a directory whose names begin with this text. Includes hidden ones only if a dot was typed.
fn entries(grant: &Grant, begun: &str, form: Form) -> Vec<String> {
    // A missing path, or one that is not a directory, has no completions.
    let Ok(list) = grant.list() else { return Vec::new() };
    let names = list.into_iter().filter_map(|entry| {
        // A name that is not UTF-8, or contains control characters, cannot be typed.
        let name = entry.name.to_str().filter(|name| !name.chars().any(char::is_control))?;
        if !name.starts_with(begun) || (name.starts_with('.') && !begun.starts_with('.')) {
            return None;
        }
        let name = match form {
            Form::Path => name.to_owned(),
            Form::Uri => escaped_name(name)?,
        };
        Some(if entry.kind == FileKind::Directory { format!("{name}/") } else { name })
    });
    names.collect()
}

/// Sorts by name, with completions in the first root before other roots.
fn in_order(one: &str, other: &str) -> Ordering {
    (one.starts_with('/'), one).cmp(&(other.starts_with('/'), other))
}

/// As many as fit in an answer, without the fixed part of the template.
fn offered(values: Vec<String>, fixed: &str) -> CompletionInfo {
    let total = values.len();
    let values = values.into_iter().take(CompletionInfo::MAX_VALUES);
    let values: Vec<String> = values.filter_map(|value| value.strip_prefix(fixed).map(str::to_owned)).collect();
    let more = total > values.len();
    // Cannot fail: the limit was applied above.
    CompletionInfo::with_pagination(values, u32::try_from(total).ok(), more).unwrap_or_default()
}
