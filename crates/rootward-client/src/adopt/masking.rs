//! A file's text that is safe to show: values of variables and headers, and anything else that looks like a secret,
//! are hidden.
//!
//! This only protects against onlookers: a secret that looks like ordinary text is shown.

use std::ops::Range;

use jsonc_parser::ast::Value as Json;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};
use rootward_core::secrets;
use toml_edit::{Document, Item, Value as Toml};

use crate::import::{Form, JSON};

/// Hides what looks like a secret. A text that cannot be parsed is hidden entirely.
pub fn masked(form: Form, text: &str) -> String {
    let mut masks = Masks { form, found: Vec::new() };
    let read = if form == Form::Codex { masks.toml(text) } else { masks.json(text) };
    if read.is_none() {
        return secrets::HIDDEN.to_owned();
    }
    masks.applied(text)
}

/// What is hidden, and what is shown instead.
struct Masks {
    form: Form,
    found: Vec<(Range<usize>, String)>,
}

/// What is known about a value.
#[derive(Clone, Copy)]
struct About<'k> {
    /// Its key.
    key: &'k str,
    /// Whether it is below a key whose values are secret.
    secret: bool,
}

impl<'k> About<'k> {
    const TOP: About<'static> = About { key: "", secret: false };

    fn below(self, key: &'k str, form: Form) -> About<'k> {
        About { key, secret: self.secret || form.secret_keys().contains(&key) }
    }

    fn shown(self, value: &str) -> String {
        let is_secret = self.secret && !value.is_empty();
        if is_secret { secrets::HIDDEN.to_owned() } else { secrets::named(self.key, value) }
    }
}

impl Masks {
    fn applied(mut self, text: &str) -> String {
        self.found.sort_by_key(|(range, _)| range.start);
        let mut shown = String::with_capacity(text.len());
        let mut position = 0;
        for (range, with) in self.found {
            if range.start >= position {
                shown.push_str(&text[position..range.start]);
                shown.push_str(&with);
                position = range.end;
            }
        }
        shown.push_str(&text[position..]);
        shown
    }

    /// Hides a string if its shown form differs.
    fn string(&mut self, range: Range<usize>, value: &str, shown: &str) {
        if shown != value {
            self.found.push((range, format!("\"{}\"", shown.replace(['"', '\\'], secrets::HIDDEN))));
        }
    }

    fn comment(&mut self, range: Range<usize>, text: &str) {
        let shown: Vec<String> = text[range.clone()].lines().map(secrets::text).collect();
        self.found.push((range, shown.join("\n")));
    }

    fn json(&mut self, text: &str) -> Option<()> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::Separate, ..CollectOptions::default() };
        let parsed = parse_to_ast(text, &collect, &JSON).ok()?;
        for comment in parsed.comments.iter().flat_map(|comments| comments.values()).flat_map(|list| list.iter()) {
            let range = comment.range();
            self.comment(range.start..range.end, text);
        }
        if let Some(value) = &parsed.value {
            self.json_value(value, About::TOP);
        }
        Some(())
    }

    fn json_value(&mut self, value: &Json<'_>, about: About<'_>) {
        let range = value.range().start..value.range().end;
        match value {
            Json::StringLit(word) => self.string(range, &word.value, &about.shown(&word.value)),
            Json::NumberLit(_) if about.secret => self.found.push((range, secrets::HIDDEN.to_owned())),
            Json::NumberLit(_) | Json::BooleanLit(_) | Json::NullKeyword(_) => {}
            Json::Object(object) => {
                for property in &object.properties {
                    self.json_value(&property.value, about.below(property.name.as_str(), self.form));
                }
            }
            Json::Array(list) => {
                let word = |value: &Json<'_>| match value {
                    Json::StringLit(word) => word.value.to_string(),
                    _ => String::new(),
                };
                let words: Vec<String> = list.elements.iter().map(word).collect();
                let shown = secrets::arguments(&words);
                for ((element, word), shown) in list.elements.iter().zip(&words).zip(&shown) {
                    match element {
                        Json::StringLit(literal) if !about.secret => {
                            self.string(literal.range.start..literal.range.end, word, shown);
                        }
                        _ => self.json_value(element, about),
                    }
                }
            }
        }
    }

    fn toml(&mut self, text: &str) -> Option<()> {
        let parsed = Document::parse(text).ok()?;
        let mut spans = Vec::new();
        self.toml_item(parsed.as_item(), About::TOP, &mut spans);
        // A `#` outside of keys and strings begins a comment.
        let mut position = 0;
        for line in text.split_inclusive('\n') {
            let end = position + line.trim_end_matches(['\r', '\n']).len();
            let hash = text[position..end].match_indices('#').map(|(at, _)| position + at);
            let start = hash.into_iter().find(|at| !spans.iter().any(|span| span.contains(at)));
            if let Some(start) = start {
                self.comment(start..end, text);
            }
            position += line.len();
        }
        Some(())
    }

    fn toml_item(&mut self, item: &Item, about: About<'_>, spans: &mut Vec<Range<usize>>) {
        if let Some(value) = item.as_value().filter(|value| !value.is_inline_table()) {
            return self.toml_value(value, about, spans);
        }
        if let Some(tables) = item.as_array_of_tables() {
            for table in tables {
                self.toml_item(&Item::Table(table.clone()), about, spans);
            }
            return;
        }
        let Some(table) = item.as_table_like() else { return };
        for (name, item) in table.iter() {
            spans.extend(table.key(name).and_then(toml_edit::Key::span));
            self.toml_item(item, about.below(name, self.form), spans);
        }
    }

    fn toml_value(&mut self, value: &Toml, about: About<'_>, spans: &mut Vec<Range<usize>>) {
        let Some(range) = value.span() else { return };
        match value {
            Toml::String(word) => {
                spans.push(range.clone());
                self.string(range, word.value(), &about.shown(word.value()));
            }
            Toml::Array(list) => {
                let words: Vec<String> = list.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect();
                let shown = secrets::arguments(&words);
                for ((element, word), shown) in list.iter().zip(&words).zip(&shown) {
                    match element {
                        Toml::String(literal) if !about.secret => {
                            let span = literal.span().unwrap_or_default();
                            spans.push(span.clone());
                            self.string(span, word, shown);
                        }
                        Toml::InlineTable(_) => self.toml_item(&Item::Value(element.clone()), about, spans),
                        _ => self.toml_value(element, about, spans),
                    }
                }
            }
            _ if about.secret => self.found.push((range, secrets::HIDDEN.to_owned())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_are() {
        let check = |form, text: &str, expect: &str| assert_eq!(masked(form, text), expect);
        check(
            Form::VsCode,
            r#"{ // key ghp_0123456789abcdefghij
              "apiKey": "abc", "note": "abc", "oauth": {"accessToken": "abc"},
              "servers": {"a": {"command": "x", "args": ["--token", "abc", "y"], "env": {"A": "abc", "B": "", "C": 7},
                "headers": {"X": "a\"bc"}, "url": "https://me:abc@host/"}},
              "servers": {"a": {"env": {"EARLIER": "abc"}}}
            }"#,
            r#"{ // key …
              "apiKey": "…", "note": "abc", "oauth": {"accessToken": "…"},
              "servers": {"a": {"command": "x", "args": ["--token", "…", "y"], "env": {"A": "…", "B": "", "C": …},
                "headers": {"X": "…"}, "url": "https://me:…@host/"}},
              "servers": {"a": {"env": {"EARLIER": "…"}}}
            }"#,
        );
        check(
            Form::Opencode,
            r#"{"mcp": {"a": {"environment": {"A": "abc"}}}}"#,
            r#"{"mcp": {"a": {"environment": {"A": "…"}}}}"#,
        );
        check(
            Form::Codex,
            "api_key = 'abc' # token=abc\n[mcp_servers.\"a#b\"]\ncommand = 'x#y'\nargs = [\n '--password', # --password abc\n 'abc',\n]\n\
             env = { A = 'abc', B = '' }\nhttp_headers.X = \"\"\"abc\n\"\"\"\n[mcp_servers.b.env]\nT = 'abc'\n[[x]]\ntoken = 'abc'\n",
            "api_key = \"…\" # token=…\n[mcp_servers.\"a#b\"]\ncommand = 'x#y'\nargs = [\n '--password', # --password …\n \"…\",\n]\n\
             env = { A = \"…\", B = '' }\nhttp_headers.X = \"…\"\n[mcp_servers.b.env]\nT = \"…\"\n[[x]]\ntoken = \"…\"\n",
        );
        check(Form::Cursor, "{", "…");
        check(Form::Cursor, "", "");
    }
}
