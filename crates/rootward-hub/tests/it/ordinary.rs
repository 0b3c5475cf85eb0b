//! Ordinary calls of ordinary tools must not be refused: a false alarm breaks a tool.

use serde_json::json;

use crate::yard::Yard;

#[test]
fn ordinary_values_pass() {
    let yard = Yard::new("rw");
    for arguments in [
        json!({"query": "a/b"}),
        json!({"query": "/etc/passwd appears in the log"}),
        json!({"q": "rust/async/await"}),
        json!({"regex": "/^foo$/i", "pattern": "^/usr/.*$", "searchPattern": "../"}),
        json!({"url": "https://example.org/a/b?c=/d&e=../f"}),
        json!({"uri": "https://example.org/~user/x"}),
        json!({"mimeType": "text/plain", "contentType": "application/json; charset=utf-8"}),
        json!({"date": "2024/01/02", "time": "12:30", "timezone": "Europe/Berlin", "fraction": "1/2"}),
        json!({"sql": "SELECT a / b FROM c WHERE d LIKE '/x/%'", "statement": "/* all */ DELETE FROM t"}),
        json!({"json": "{\"path\": \"/usr/bin\"}", "html": "<a href=\"/x\">", "file_json": "[\"../x\"]"}),
        json!({"version": "~1.2.3", "range": ">=1 <2", "requirement": "~=1.4"}),
        json!({"cron": "*/5 * * * *"}),
        json!({"message": "/shrug", "text": "~ roughly", "content": "/* code */", "body": "../ is the parent"}),
        json!({"old_str": "/a", "new_str": "../b", "file_text": "#!/bin/sh\necho ~\n", "insert_text": "//"}),
        json!({"edits": [{"oldText": "/a/b", "newText": "./c"}]}),
        json!({"source": "fn main() {\n    // a/b\n    let x = \"/etc\";\n}\n"}),
        json!({"sourceCode": "/* x */", "code": "/usr/bin/env"}),
        json!({"owner": "octocat", "repo": "octocat/hello-world", "branch": "feature/x", "ref": "refs/heads/main"}),
        json!({"image": format!("/9j/{}", "QUJD/".repeat(2000))}),
        json!({"data": "/9j/4AAQSkZJRg=="}),
        json!({"image_url": "data:image/jpeg;base64,/9j/4AAQSkZJRg=="}),
        json!({"xpath": "//div[@id='x']", "selector": "/html/body"}),
        json!({"separator": "/", "delimiter": "/"}),
        json!({"note": "several\n/lines\n../of text"}),
        json!({"a": "several\n/lines\n../of text"}),
        json!({"email": "a@b.c", "amount": "$5.00", "rate": "100%", "name": "A. B. / C"}),
        json!({"expression": "(a + b) / c", "math": "x / y .. z"}),
        json!({"thought": "~/maybe", "nextThoughtNeeded": true}),
        json!({"entities": [{"name": "x", "entityType": "y", "observations": ["likes a/b", "and ..."]}]}),
        json!({"profile": "default", "fileType": "text/markdown", "file_mode": "0644", "target": "es2020"}),
        json!({"latitude": "52.5", "location": "Berlin, Germany", "root_cause": "a bug; see #12"}),
        json!({"title": "and/or", "labels": ["kind/bug", "area/core"]}),
    ] {
        assert!(yard.allows(&arguments), "{arguments}");
    }
}
