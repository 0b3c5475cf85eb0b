//! Lists of roots in pages.

use serde_json::{Value, json};

use super::super::Change;
use super::{Ceiling, Client, Play};

/// A client's answer to a request for a page.
#[derive(Clone, Copy, Debug)]
enum Says {
    Page(&'static [&'static str], Option<&'static str>),
    Error(i32),
}

impl Play {
    fn page(&self, names: &[&str], next: Option<&str>) -> Value {
        // A nested root is read-only.
        let access = |name: &str| if name.contains('/') { "ro" } else { "rw" };
        let root = |name: &&str| json!({"uri": self.uri(name), "_meta": {"rootward.dev/access": access(name)}});
        let roots: Vec<Value> = names.iter().map(root).collect();
        let mut page = json!({"roots": roots});
        if let Some(next) = next {
            page["nextCursor"] = json!(next);
        }
        page
    }

    /// Makes the client answer each request for its roots in turn. Returns the cursors of the requests, `-` for none.
    fn share_pages(&mut self, says: &[Says]) -> String {
        let mut cursors = String::new();
        for says in says {
            let asked = self.heard().into_iter().rfind(|message| message["method"] == "roots/list");
            let question = asked.expect("a question for a page");
            cursors.push_str(question["params"]["cursor"].as_str().unwrap_or("-"));
            let answer = match says {
                Says::Page(names, next) => json!({"id": question["id"], "result": self.page(names, *next)}),
                Says::Error(code) => json!({"id": question["id"], "error": {"code": code, "message": "no"}}),
            };
            self.client(&answer);
        }
        cursors
    }

    fn code_of(&mut self, id: u64) -> Value {
        let heard = self.heard();
        let answer = heard.iter().find(|message| message["id"] == id);
        answer.map(|answer| answer["result"]["structuredContent"]["code"].clone()).unwrap_or_default()
    }
}

#[test]
fn a_list_in_pages_is_read_whole_or_not_at_all() {
    use Says::{Error, Page};
    let first = Page(&["project"], Some("a"));
    let last = Page(&["project/inner"], None);
    // What the client answers, the cursors it is asked with, and the result of a call that writes to `project/inner`.
    for (says, cursors, expect) in [
        (vec![first, last], "-a", "access_denied"),
        (vec![first, Page(&[], Some("b")), last], "-ab", "access_denied"),
        // The list changed in the meantime.
        (vec![first, Error(-32602), first, last], "-a-a", "access_denied"),
        (vec![first, Error(-32603)], "-a", "roots_failed"),
        (vec![first, Page(&["other"], Some("a"))], "-a", "roots_failed"),
        (vec![first, first], "-a", "roots_failed"),
        ([first, Error(-32602)].repeat(4), "-a-a-a-a", "roots_failed"),
    ] {
        let mut play = Play::new(Change::NewChild, Ceiling::None);
        super::make(&play.directory.path().join("project/inner"));
        play.begin(Client::WithRoots);
        assert_eq!(play.share_pages(&says), cursors, "{says:?}");
        let serving = play.serving();
        let path = play.path("project/inner/file.txt");
        let params = json!({"name": "write_file", "arguments": {"path": path, "content": ""}});
        play.client(&json!({"id": 1, "method": "tools/call", "params": params}));
        play.list_tools(serving);
        play.pass(500);
        assert_eq!(play.code_of(1), expect, "{says:?}");
    }
}

#[test]
fn pages_have_one_timeout_together() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.begin(Client::WithRoots);
    for turn in 0..100 {
        play.pass(200);
        let Some(question) = play.heard().into_iter().rfind(|message| message["method"] == "roots/list") else {
            assert!(turn > 40, "{turn}");
            return;
        };
        let mut page = play.page(&[], Some(&turn.to_string()));
        page["roots"] = json!([{"uri": format!("file:///{turn}")}]);
        play.client(&json!({"id": question["id"], "result": page}));
    }
    unreachable!("the client is asked forever");
}

#[test]
fn a_modern_list_in_pages_is_read_whole_or_not_at_all() {
    let pages = json!({"roots": {}, "extensions": {"rootward.dev/roots-paging": {}}});
    for (capabilities, expect) in [(pages, "access_denied"), (json!({"roots": {}}), "roots_failed")] {
        let mut play = Play::new(Change::NewChild, Ceiling::None);
        super::make(&play.directory.path().join("project/inner"));
        let path = play.path("project/inner/file.txt");
        let call = |play: &mut Play, id: u64, carried: Value| {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
            let arguments = json!({"path": path, "content": ""});
            let mut params = json!({"name": "write_file", "arguments": arguments, "_meta": meta});
            for (key, value) in carried.as_object().unwrap() {
                params[key] = value.clone();
            }
            play.client(&json!({"id": id, "method": "tools/call", "params": params}));
            for number in play.started() {
                play.list_tools_if_asked(number);
            }
            let heard = play.heard();
            heard.into_iter().find(|message| message["id"] == id).expect("an answer")["result"].take()
        };
        let carried = |result: &Value, page: Value| json!({"requestState": result["requestState"], "inputResponses": {"rootward.dev/roots": page}});
        let mut result = call(&mut play, 1, json!({}));
        let page = play.page(&["project"], Some("more"));
        result = call(&mut play, 2, carried(&result, page));
        if expect == "access_denied" {
            let question = &result["inputRequests"]["rootward.dev/roots"];
            assert_eq!(question["params"]["_meta"]["rootward.dev/cursor"], "more", "{result}");
            let page = play.page(&["project/inner"], None);
            result = call(&mut play, 3, carried(&result, page));
        }
        assert_eq!(result["structuredContent"]["code"], expect, "{result}");
    }
}
