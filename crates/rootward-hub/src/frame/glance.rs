//! A glance at a large answer: whose it is, without a look at what it carries.
//!
//! What a server answers is the client's to read. For Rootward the id is enough, and that stands at the beginning or at the very end
//! of what every JSON library writes. Where it does not, or anything else is unusual, the message is read as others are.

use super::Id;

/// How much of either end is looked at.
const LOOKED_AT: usize = 256;

/// The id of an answer with a result, if it is plain to see. What is between the ends may be anything.
pub(crate) fn answer_id(frame: &[u8]) -> Option<Id<'_>> {
    let first = &frame[..frame.len().min(LOOKED_AT)];
    let last = &frame[frame.len().saturating_sub(LOOKED_AT)..];
    at_the_beginning(first).or_else(|| first.starts_with(b"{\"result\":").then(|| at_the_end(last))?)
}

/// `{"jsonrpc":"2.0","id":1,"result":`, in any order, with nothing else before the result.
fn at_the_beginning(text: &[u8]) -> Option<Id<'_>> {
    let mut rest = text.strip_prefix(b"{")?;
    let mut id = None;
    loop {
        if rest.starts_with(b"\"result\":") {
            return id;
        }
        rest = match rest.strip_prefix(b"\"jsonrpc\":\"2.0\",") {
            Some(rest) => rest,
            None => {
                let value = rest.strip_prefix(b"\"id\":")?;
                let end = value.iter().position(|byte| *byte == b',')?;
                id = Some(plain(&value[..end])?).filter(|_| id.is_none());
                id?;
                &value[end + 1..]
            }
        };
    }
}

/// `,"jsonrpc":"2.0","id":1}`, in any order. The brace at the end is that of the message, so its members are, too; and a quotation
/// mark after a comma is none within a text, where a backslash would stand before it.
fn at_the_end(text: &[u8]) -> Option<Id<'_>> {
    let text = text.strip_suffix(b"}")?;
    let text = text.strip_suffix(b",\"jsonrpc\":\"2.0\"").unwrap_or(text);
    let start = memchr::memmem::rfind(text, b",\"id\":")?;
    plain(&text[start + b",\"id\":".len()..])
}

/// An id without anything that could be read otherwise.
fn plain(text: &[u8]) -> Option<Id<'_>> {
    let inner = text.strip_prefix(b"\"").map_or(Some(text), |text| text.strip_suffix(b"\""))?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:".contains(byte);
    if inner.is_empty() || !inner.iter().all(is_plain) {
        return None;
    }
    Id::read(std::str::from_utf8(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &str, expect: Option<&str>) {
        assert_eq!(answer_id(frame.as_bytes()).map(Id::as_str), expect, "{frame}");
        // As with a large one: nothing in the middle is looked at.
        let large = frame.replacen("RESULT", &format!("[\"{}\"]", "x\\\",\\\"id\\\":9}".repeat(100)), 1);
        assert_eq!(answer_id(large.as_bytes()).map(Id::as_str), expect, "{large}");
    }

    #[test]
    fn the_id_is_seen_where_libraries_write_it() {
        check(r#"{"jsonrpc":"2.0","id":1,"result":RESULT}"#, Some("1"));
        check(r#"{"id":"a-b","jsonrpc":"2.0","result":RESULT}"#, Some(r#""a-b""#));
        check(r#"{"id":-1.5,"result":RESULT,"more":1}"#, Some("-1.5"));
        check(r#"{"result":RESULT,"jsonrpc":"2.0","id":7}"#, Some("7"));
        check(r#"{"result":RESULT,"id":"x","jsonrpc":"2.0"}"#, Some(r#""x""#));
    }

    #[test]
    fn what_is_unusual_is_left_to_others() {
        check(r#"{"jsonrpc":"2.0","result":RESULT}"#, None);
        check(r#"{"id":1,"id":2,"result":RESULT}"#, None);
        check(r#"{"id":1,"method":"x","result":RESULT}"#, None);
        check(r#"{ "id":1,"result":RESULT}"#, None);
        check(r#"{"id":"a\u0062","result":RESULT}"#, None);
        check(r#"{"id":[1,2],"result":RESULT}"#, None);
        check(r#"{"id":,"result":RESULT}"#, None);
        check(r#"{"result":RESULT,"jsonrpc":"2.0","id":{"id":7}}"#, None);
        check(r#"{"result":RESULT,"jsonrpc":"2.0","method":"x"}"#, None);
        check(r#"{"result":RESULT}"#, None);
        check(r#"[{"result":RESULT,"id":7}]"#, None);
        check(r#"{"error":RESULT,"id":7}"#, None);
        check("", None);
    }
}
