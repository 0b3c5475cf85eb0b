//! Assembles a list that comes in pages: completely, or not at all.
//!
//! Paging `roots/list` is not part of the protocol. If a client sends a `nextCursor` anyway, it is followed, within
//! limits: a list that loops or never ends is refused. So is half a list, because the missing part may close something
//! in the first part.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::keys;
use crate::list::{ListError, MOST_ENTRIES};

/// The maximum number of pages.
const MOST_PAGES: usize = 400;
/// The maximum total size of the pages in bytes, counted roughly.
const MOST_BYTES: usize = 16 << 20;
/// The maximum length of a cursor in bytes.
const LONGEST_CURSOR: usize = 4096;

/// The pages of one list so far.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Pages {
    entries: Vec<Value>,
    /// All cursors that were followed; the last is the one to ask with.
    cursors: Vec<String>,
    /// The memory that the entries take.
    bytes: usize,
}

/// The result of adding a page.
#[derive(Clone, PartialEq, Debug)]
pub enum Turned {
    /// The list is complete: a result as if it had come in one piece.
    Whole(Value),
    /// There are more pages.
    Next,
}

impl Pages {
    /// The cursor to ask with; `None` for the first page.
    pub fn cursor(&self) -> Option<&str> {
        self.cursors.last().map(String::as_str)
    }

    /// The approximate size of the pages so far, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes + self.cursors.iter().map(String::len).sum::<usize>()
    }

    /// Adds the next page.
    pub fn add(&mut self, mut page: Value) -> Result<Turned, ListError> {
        let next = next_cursor(&page)?;
        if next.is_none() && self.cursors.is_empty() {
            return Ok(Turned::Whole(page));
        }
        let Some(Value::Array(entries)) = page.get_mut("roots").map(Value::take) else {
            return Err(ListError::BrokenPages("a page has no list"));
        };
        if !entries.is_empty() && self.entries.ends_with(&entries) {
            return Err(ListError::BrokenPages("a page was sent twice"));
        }
        self.bytes += entries.iter().map(bytes_of).sum::<usize>();
        // SECURITY: the pages of one client must not exhaust the memory (test: pages_that_do_not_end)
        if self.bytes > MOST_BYTES {
            return Err(ListError::BrokenPages("they are too long"));
        }
        self.entries.extend(entries);
        if self.entries.len() > MOST_ENTRIES {
            return Err(ListError::TooMany(self.entries.len()));
        }
        let Some(next) = next else {
            return Ok(Turned::Whole(json!({"roots": std::mem::take(&mut self.entries)})));
        };
        // SECURITY: a client whose list never ends must not keep the server asking (test: pages_that_do_not_end)
        if self.cursors.contains(&next) {
            return Err(ListError::BrokenPages("a cursor was sent twice"));
        }
        if self.cursors.len() + 1 >= MOST_PAGES {
            return Err(ListError::BrokenPages("too many pages"));
        }
        self.cursors.push(next);
        Ok(Turned::Next)
    }
}

/// The approximate size of a value in memory.
fn bytes_of(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(bytes_of).sum(),
            Value::Object(object) => object.iter().map(|(key, value)| key.len() + bytes_of(value)).sum(),
        }
}

fn next_cursor(page: &Value) -> Result<Option<String>, ListError> {
    let kept = || page.get("_meta").and_then(|meta| meta.get(keys::NEXT_CURSOR));
    match page.get("nextCursor").filter(|cursor| !cursor.is_null()).or_else(kept) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(cursor)) if cursor.len() <= LONGEST_CURSOR => Ok(Some(cursor.clone())),
        Some(Value::String(_)) => Err(ListError::BrokenPages("a cursor is too long")),
        Some(_) => Err(ListError::BrokenPages("a cursor is not a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(entries: std::ops::Range<usize>, next: Option<&str>) -> Value {
        let roots: Vec<Value> = entries.map(|number| json!({"uri": format!("file:///{number}")})).collect();
        match next {
            Some(next) => json!({"roots": roots, "nextCursor": next}),
            None => json!({"roots": roots}),
        }
    }

    #[test]
    fn a_list_in_pages_is_the_list() {
        let mut pages = Pages::default();
        assert_eq!(pages.add(page(0..2, Some("a"))), Ok(Turned::Next));
        assert_eq!(pages.cursor(), Some("a"));
        assert_eq!(pages.add(page(2..2, Some("b"))), Ok(Turned::Next));
        assert_eq!(pages.cursor(), Some("b"));
        assert_eq!(pages.add(page(2..5, None)), Ok(Turned::Whole(page(0..5, None))));
        // A list in one piece is left unchanged.
        for whole in [page(0..3, None), json!({"roots": [7], "nextCursor": null}), json!({}), json!(null)] {
            assert_eq!(Pages::default().add(whole.clone()), Ok(Turned::Whole(whole)));
        }
        let mut kept = Pages::default();
        let first = json!({"roots": [], "_meta": {keys::NEXT_CURSOR: "c"}});
        assert_eq!((kept.add(first), kept.cursor()), (Ok(Turned::Next), Some("c")));
    }

    #[test]
    fn pages_that_do_not_end() {
        let check = |list: Vec<Value>, expect: ListError| {
            let mut pages = Pages::default();
            let end = list.into_iter().map(|page| pages.add(page)).find(Result::is_err);
            assert_eq!(end, Some(Err(expect)));
        };
        let broken = ListError::BrokenPages;
        check(vec![page(0..1, Some("a")), page(1..2, Some("a"))], broken("a cursor was sent twice"));
        check(
            vec![page(0..1, Some("a")), page(1..2, Some("b")), page(2..3, Some("a"))],
            broken("a cursor was sent twice"),
        );
        check(vec![page(0..2, Some("a")), page(0..2, Some("b"))], broken("a page was sent twice"));
        check((0..MOST_PAGES).map(|turn| page(0..0, Some(&turn.to_string()))).collect(), broken("too many pages"));
        check((0..9).map(|turn| page(turn * 2000..(turn + 1) * 2000, Some(&turn.to_string()))).collect(), {
            ListError::TooMany(12_000)
        });
        check(vec![page(0..1, Some(&"x".repeat(LONGEST_CURSOR + 1)))], broken("a cursor is too long"));
        let long = |turn: usize| {
            let name = turn.to_string().repeat(MOST_BYTES / 5);
            json!({"roots": [{"uri": "file:///a", "name": name}], "nextCursor": turn.to_string()})
        };
        check((0..9).map(long).collect(), broken("they are too long"));
        check(vec![json!({"roots": [], "nextCursor": 7})], broken("a cursor is not a string"));
        check(vec![json!({"nextCursor": "a"})], broken("a page has no list"));
        check(vec![page(0..1, Some("a")), json!({"roots": null})], broken("a page has no list"));
    }
}
