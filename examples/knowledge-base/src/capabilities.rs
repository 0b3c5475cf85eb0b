//! A description of the server: its tools, its limits, the files it may use.

use std::fmt::Write;
use std::path::PathBuf;

use rootward_server::{Access, Roots};
use serde_json::{Value, json};

use crate::refusal::listed;
use crate::server::{ANSWERS, MOST_ANSWERS, MOST_TIME, TIME};

/// The same as a resource.
pub(crate) const URI: &str = "knowledge-base://capabilities";

/// The description, as text and as data.
pub(crate) fn summary(roots: &Roots, loaded: &[PathBuf]) -> (String, Value) {
    let (usual, most) = (TIME.as_secs(), MOST_TIME.as_secs());
    let mut text = format!(
        "A knowledge base in SWI-Prolog.\n\n\
         knowledge_base_load reads a file, knowledge_base_dump writes one, knowledge_base_assert and knowledge_base_retract add and \
         remove clauses, query runs a goal, symbols_list names the predicates.\n\n\
         Files: only in the allowed roots ({}):\n{}\n\n\
         Prolog itself cannot open files or connections or run programs. A loaded file may load others in the roots \
         (use_module/1, consult/1, include/1), and roots_text(+Path, -Text) reads a file.\n\n\
         Limits: {usual} s per call, or `timeout_ms` (at most {most} s); 256 MiB for the stacks, 1 GiB in total; {ANSWERS} \
         answers, or `limit` (at most {MOST_ANSWERS}). Each session has one Prolog process, which is stopped between \
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
                " (no longer in an allowed root: its clauses stay, but the file cannot be read again)"
            };
            // Writing to a string cannot fail.
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
