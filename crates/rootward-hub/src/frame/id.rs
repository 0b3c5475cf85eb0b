//! The id of a request, as it was written.
//!
//! `1`, `1.0` and `1e0` are the same number and not the same id: the peer that wrote it compares as it likes. It is given
//! back byte for byte.

use std::fmt;

use serde_json::value::RawValue;

/// An id: a number of any size, a string, or null, in the bytes it came in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id<'f>(&'f str);

impl<'f> Id<'f> {
    /// Reads an id from its JSON text; `None` for what no id can be.
    pub fn read(json: &'f str) -> Option<Id<'f>> {
        let raw: &'f RawValue = serde_json::from_str(json).ok()?;
        Id::from_raw(raw)
    }

    pub(super) fn from_raw(raw: &'f RawValue) -> Option<Id<'f>> {
        let json = raw.get();
        let is_id =
            json == "null" || json.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit());
        is_id.then_some(Id(json))
    }

    /// The JSON text.
    pub fn as_str(self) -> &'f str {
        self.0
    }

    /// What it is known by: a string that was written with escapes is the same string, and some peers escape more than others.
    pub fn key(self) -> Box<str> {
        if !self.0.contains('\\') {
            return self.0.into();
        }
        match serde_json::from_str::<String>(self.0) {
            Ok(text) => serde_json::Value::from(text).to_string().into(),
            Err(_) => self.0.into(),
        }
    }

    /// Whether it is null, which an answer has whose request could not be read.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }
}

impl fmt::Debug for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_has_one_key_however_it_is_escaped() {
        let key = |id| Id::read(id).unwrap().key();
        assert_eq!(key(r#""a\/\u0062\"c""#), key(r#""a/b\u0022c""#));
        assert_eq!(&*key(r#""a/b""#), r#""a/b""#);
        assert_eq!((&*key("1"), &*key("1.0")), ("1", "1.0"));
    }

    #[test]
    fn ids_of_every_legal_kind_are_kept_as_written() {
        for id in
            ["0", "-0", "1.0", "1e0", "123456789012345678901234567890", "0.1", "null", r#""""#, r#""a\u0041\/\"b""#]
        {
            assert_eq!(Id::read(id).map(Id::as_str), Some(id));
        }
        for id in ["", "true", "{}", "[]", "nul", "01", "+1", "\"a", "1 2", "'a'", "NaN", "\"\n\""] {
            assert_eq!(Id::read(id), None, "{id}");
        }
    }
}
