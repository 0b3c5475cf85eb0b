//! What the services say that some servers speak for, so that no call leaves this machine.

/// What the documentation says.
pub(super) const DOCUMENTATION: &str = "a hook remembers its state";

/// A page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) kind: &'static str,
    pub(super) body: &'static str,
}

/// The page at a path, if a service has it.
pub(super) fn answer(path: &str) -> Option<Page> {
    Some(match path {
        // Context7: what a library's documentation says about a question.
        "/v2/context" => Page { kind: "text/plain", body: DOCUMENTATION },
        // Grafana: the data sources.
        "/api/datasources" => {
            let body = r#"[{"id": 1, "uid": "u", "name": "the only source", "type": "loki", "isDefault": true}]"#;
            Page { kind: "application/json", body }
        }
        _ => return None,
    })
}
