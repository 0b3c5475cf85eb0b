//! A server's answer to a call, and the comparison of two answers.

use std::fmt;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::case::{Expect, Says};

/// An answer to a call.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Answer {
    /// Whether the call failed, with `isError` or with a JSON-RPC error.
    failed: bool,
    /// The text parts of the content, or the JSON-RPC error.
    text: String,
    content: Value,
    data: Value,
}

impl Answer {
    /// Takes the answer out of its message.
    pub(super) fn of(message: &Value) -> Answer {
        if let Some(error) = message.get("error") {
            return Answer { failed: true, text: error.to_string(), content: Value::Null, data: Value::Null };
        }
        let result = &message["result"];
        let content = &result["content"];
        let texts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        Answer {
            failed: result["isError"] == true,
            text: texts.collect::<Vec<_>>().join("\n"),
            content: content.clone(),
            data: result["structuredContent"].clone(),
        }
    }

    /// Whether the content is the same as the reference's and all of the reference's data is present. Extra data is allowed.
    fn agrees_with(&self, reference: &Answer) -> bool {
        let data =
            reference.data.as_object().into_iter().flatten().all(|(name, value)| self.data.get(name) == Some(value));
        !self.failed && !reference.failed && self.content == reference.content && data
    }

    fn says(&self, expected: Says, fill: impl Fn(&str) -> String) -> bool {
        match expected {
            Says::Text(text) => !self.failed && self.text == fill(text),
            Says::Part(part) => !self.failed && self.text.contains(&fill(part)),
            Says::Data(part) => !self.failed && self.data.to_string().contains(&fill(part)),
            Says::Failure(part) => self.failed && self.text.contains(&fill(part)),
        }
    }

    /// Whether the structured `content` repeats the text.
    fn repeats_itself(&self) -> bool {
        self.data["content"] == self.text
    }

    /// Compares the reference's answer with Rootward's.
    pub(super) fn compare(
        reference: &Answer,
        rootward: &Answer,
        expect: Expect,
        fill: impl Fn(&str) -> String,
    ) -> Result<()> {
        let both = || format!("\nthe reference: {reference}\nRootward:      {rootward}");
        let comparable =
            !reference.failed && !rootward.failed && reference.repeats_itself() == rootward.repeats_itself();
        match expect {
            Expect::Same => ensure!(rootward.agrees_with(reference), "not the same: {}", both()),
            Expect::SameLines => {
                ensure!(
                    comparable && sorted(&reference.text) == sorted(&rootward.text),
                    "not the same lines: {}",
                    both()
                );
            }
            Expect::SameTree => {
                let same = sorted(&reference.text) == sorted(&rootward.text)
                    && tree(&reference.text)? == tree(&rootward.text)?;
                ensure!(comparable && same, "not the same tree: {}", both());
            }
            Expect::SameBut(_, prefixes) => {
                let prefixes: Vec<String> = prefixes.iter().map(|prefix| fill(prefix)).collect();
                let other = |line: &&str| !prefixes.iter().any(|prefix| line.starts_with(prefix));
                let same = reference.text.lines().filter(other).eq(rootward.text.lines().filter(other));
                ensure!(comparable && same, "not the same: {}", both());
                for prefix in prefixes {
                    let line = |answer: &Answer| {
                        answer.text.lines().find(|line| line.starts_with(prefix.as_str())).map(str::to_owned)
                    };
                    let (reference, rootward) = (line(reference), line(rootward));
                    let differ = reference.is_some() && rootward.is_some() && reference != rootward;
                    ensure!(differ, "`{prefix}` no longer differs: {}", both());
                }
            }
            Expect::Fail => ensure!(reference.failed && rootward.failed, "one of them did not fail: {}", both()),
            Expect::Differ(_, theirs, ours) => {
                ensure!(reference != rootward, "they no longer differ: {}", both());
                ensure!(reference.says(theirs, &fill), "the reference does not say {theirs:?}: {}", both());
                ensure!(rootward.says(ours, &fill), "Rootward does not say {ours:?}: {}", both());
            }
        }
        Ok(())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.failed { "failed, " } else { "" };
        match self.data.as_object() {
            Some(data) if data.len() == 1 && data.contains_key("content") => write!(f, "{outcome}{:?}", self.text),
            _ => write!(f, "{outcome}{:?}, data {}", self.text, self.data),
        }
    }
}

/// The lines, sorted. A comma at the end of a line depends on the order of the entries, so it is removed.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches(',')).collect();
    lines.sort_unstable();
    lines
}

/// The tree, with the entries of each directory sorted by name.
fn tree(text: &str) -> Result<Value> {
    fn sort(tree: &mut Value) {
        if let Value::Array(entries) = tree {
            entries.sort_by_key(|entry| entry["name"].to_string());
            entries.iter_mut().filter_map(|entry| entry.get_mut("children")).for_each(sort);
        }
    }
    let mut tree = serde_json::from_str(text)?;
    sort(&mut tree);
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn success(text: &str) -> Answer {
        let content = json!([{"type": "text", "text": text}]);
        Answer::of(&json!({"result": {"content": content, "structuredContent": {"content": text}}}))
    }

    fn failure(text: &str) -> Answer {
        Answer::of(&json!({"result": {"content": [{"type": "text", "text": text}], "isError": true}}))
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let check = |reference: &Answer, rootward: &Answer, expect: Expect, passes: bool| {
            let outcome = Answer::compare(reference, rootward, expect, str::to_owned);
            assert_eq!(outcome.is_ok(), passes, "{expect:?}: {outcome:?}");
        };
        let (one, two, no) = (success("a\nb"), success("b\na"), failure("no"));
        let error = Answer::of(&json!({"error": {"message": "no"}}));
        check(&one, &one, Expect::Same, true);
        check(&one, &two, Expect::Same, false);
        check(&no, &no, Expect::Same, false);
        let mut more = one.clone();
        more.data["size"] = 1.into();
        check(&one, &more, Expect::Same, true);
        check(&more, &one, Expect::Same, false);
        check(&one, &two, Expect::SameLines, true);
        check(&one, &success("a\nb\nb"), Expect::SameLines, false);
        check(&no, &no, Expect::SameLines, false);
        let mut other = two.clone();
        other.data["content"] = "c".into();
        check(&one, &other, Expect::SameLines, false);
        check(&no, &error, Expect::Fail, true);
        check(&one, &no, Expect::Fail, false);
        check(&no, &one, Expect::Fail, false);
        let tree = |text| success(&serde_json::to_string_pretty::<Value>(&text).unwrap());
        let trees = [
            json!([{"name": "a", "children": [{"name": "b"}]}, {"name": "c"}]),
            json!([{"name": "c"}, {"name": "a", "children": [{"name": "b"}]}]),
        ]
        .map(tree);
        check(&trees[0], &trees[1], Expect::SameTree, true);
        check(
            &trees[0],
            &tree(json!([{"name": "a", "children": [{"name": "c"}]}, {"name": "b"}])),
            Expect::SameTree,
            false,
        );
        let but = Expect::SameBut("", &["b"]);
        check(&one, &success("a\nbb"), but, true);
        check(&one, &one, but, false);
        check(&one, &success("a\nc"), but, false);
        check(&one, &success("A\nbb"), but, false);
        let differ = Expect::Differ("", Says::Text("a\nb"), Says::Failure("n"));
        check(&one, &no, differ, true);
        check(&one, &error, differ, true);
        check(&two, &no, differ, false);
        check(&one, &two, differ, false);
        check(&one, &one, Expect::Differ("", Says::Part("a"), Says::Data("a")), false);
        check(&one, &two, Expect::Differ("", Says::Part("a"), Says::Data("b\\na")), true);
    }
}
