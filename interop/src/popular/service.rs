//! What the services say that some servers speak for, so that no call leaves this machine; and a page.

/// What the documentation says.
pub(super) const DOCUMENTATION: &str = "a hook remembers its state";

/// What the page says.
pub(super) const SENTENCE: &str = "a page on this machine";

/// A page of HTML with enough text to be taken for an article.
const PAGE: &str = "<!DOCTYPE html><html><head><title>local</title></head><body><article><h1>a page on this machine</h1>\
    <p>It says the same again and again, because programs that look for articles overlook short ones. It says the same again and again, \
    because programs that look for articles overlook short ones.</p></article></body></html>";

/// A page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) kind: &'static str,
    pub(super) body: &'static str,
}

const fn json(body: &'static str) -> Page {
    Page { kind: "application/json", body }
}

/// The page at a path, if a service has it.
pub(super) fn answer(path: &str) -> Option<Page> {
    Some(match path {
        "/page" => Page { kind: "text/html", body: PAGE },
        // Browsers ask for it.
        "/favicon.ico" => Page { kind: "image/x-icon", body: "" },
        // Context7: what a library's documentation says about a question.
        "/v2/context" => Page { kind: "text/plain", body: DOCUMENTATION },
        // Grafana: the data sources.
        "/api/datasources" => {
            json(r#"[{"id": 1, "uid": "u", "name": "the only source", "type": "loki", "isDefault": true}]"#)
        }
        // Firecrawl: a page as it read it.
        "/v2/scrape" => {
            json(r#"{"success": true, "data": {"markdown": "the text of a page", "metadata": {"statusCode": 200}}}"#)
        }
        // Notion: who asks.
        "/v1/users/me" => json(r#"{"object": "user", "id": "1", "type": "bot", "name": "the only robot"}"#),
        // Supabase: the answer to a query.
        "/v1/projects/abc/database/query" => json(r#"[{"answer": 42}]"#),
        // Jira: an issue, and what fields there are.
        "/rest/api/2/issue/KEY-1" => json(
            r#"{"id": "1", "key": "KEY-1", "self": "x", "fields": {"summary": "the only issue", "status": {"name": "Open"}}}"#,
        ),
        "/rest/api/2/field" => json("[]"),
        // Obsidian: the notes, and one of them.
        "/vault/" => json(r#"{"files": ["plan.md"]}"#),
        "/vault/plans/plan.md" => Page { kind: "text/markdown", body: "the only plan" },
        _ => return None,
    })
}
