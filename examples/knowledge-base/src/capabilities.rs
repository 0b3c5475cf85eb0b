//! What this server can do here and now: its tools, its limits, the files it may touch.

use std::fmt::Write;
use std::path::PathBuf;

use rootward_server::{Access, Roots};
use serde_json::{Value, json};

use crate::refusal::listed;
use crate::server::{ANSWERS, MOST_ANSWERS, MOST_TIME, TIME};

/// Where the same can be read as a resource.
pub(crate) const URI: &str = "knowledge-base://capabilities";

/// In words, and as data.
pub(crate) fn summary(roots: &Roots, loaded: &[PathBuf]) -> (String, Value) {
    let (usual, most) = (TIME.as_secs(), MOST_TIME.as_secs());
    let mut text = format!(
        "A knowledge base in SWI-Prolog.\n\n\
         knowledge_base_load reads a file, knowledge_base_dump writes one, knowledge_base_assert and knowledge_base_retract add and \
         remove clauses, query runs a goal, symbols_list names the predicates.\n\n\
         Files: only in the allowed roots ({}):\n{}\n\n\
         Prolog itself opens no file and no connection and runs no program. Files that are loaded may load others in the roots \
         (use_module/1, consult/1, include/1), and roots_text(+Path, -Text) reads one.\n\n\
         Limits: {usual} s a call unless `timeout_ms` says otherwise ({most} s at most), 256 MiB of stacks, 1 GiB in all, {ANSWERS} \
         answers unless `limit` says otherwise ({MOST_ANSWERS} at most). One session has one Prolog process; it stands still between \
         calls.\n",
        roots.why(),
        listed(roots),
    );
    let files: Vec<Value> = loaded
        .iter()
        .map(|file| {
            let shared = roots.guard().check(file, Access::READ).is_ok();
            let note = if shared {
                ""
            } else {
                " (no longer in an allowed root: what was loaded stays, the file cannot be read again)"
            };
            // Writing to a text cannot fail.
            let _ = write!(text, "\nLoaded: {}{note}", file.display());
            json!({"path": file.to_string_lossy(), "inRoots": shared})
        })
        .collect();
    let limits = json!({
        "milliseconds": TIME.as_secs() * 1000,
        "mostMilliseconds": MOST_TIME.as_secs() * 1000,
        "answers": ANSWERS,
        "mostAnswers": MOST_ANSWERS,
    });
    let roots = roots.summary(None).ok().and_then(|summary| serde_json::to_value(summary).ok());
    (text, json!({"roots": roots, "limits": limits, "loaded": files}))
}
