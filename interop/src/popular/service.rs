//! Fake answers of the services that some servers call, so that no call leaves this machine; and a web page.

/// The text of Context7's documentation.
pub(super) const DOCUMENTATION: &str = "a hook remembers its state";

/// The text of the web page.
pub(super) const SENTENCE: &str = "a page on this machine";

/// An HTML page with enough text to be recognized as an article.
const PAGE: &str = "<!DOCTYPE html><html><head><title>local</title></head><body><article><h1>a page on this machine</h1>\
    <p>It says the same again and again, because programs that look for articles overlook short ones. It says the same again and again, \
    because programs that look for articles overlook short ones.</p></article></body></html>";

/// A response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) kind: &'static str,
    pub(super) body: &'static str,
}

const fn json(body: &'static str) -> Page {
    Page { kind: "application/json", body }
}

/// The response for a path, if there is one.
pub(super) fn answer(path: &str) -> Option<Page> {
    Some(match path {
        "/page" => Page { kind: "text/html", body: PAGE },
        // Browsers request it.
        "/favicon.ico" => Page { kind: "image/x-icon", body: "" },
        // Context7: a library's documentation on a question.
        "/v2/context" => Page { kind: "text/plain", body: DOCUMENTATION },
        // Grafana: the data sources.
        "/api/datasources" => {
            json(r#"[{"id": 1, "uid": "u", "name": "the only source", "type": "loki", "isDefault": true}]"#)
        }
        // Firecrawl: a page as Markdown.
        "/v2/scrape" => {
            json(r#"{"success": true, "data": {"markdown": "the text of a page", "metadata": {"statusCode": 200}}}"#)
        }
        // Notion: the current user.
        "/v1/users/me" => json(r#"{"object": "user", "id": "1", "type": "bot", "name": "the only robot"}"#),
        // Supabase: the answer to a query.
        "/v1/projects/abc/database/query" => json(r#"[{"answer": 42}]"#),
        // Jira: an issue, and the list of fields.
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
