//! The id of a request, with its original bytes.
//!
//! `1`, `1.0` and `1e0` are the same number but may be different ids to the peer that wrote them. So an id is returned
//! byte for byte.

use std::fmt;

use serde_json::Value;
use serde_json::value::RawValue;

/// The largest range in which every whole number has its own `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// An id: a number of any size, a string, or null, with its original bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id<'f>(&'f str);

/// The normalized form of an id, given as JSON. A text that is not an id is returned unchanged.
pub fn key(id: &str) -> Box<str> {
    Id::read(id).map_or_else(|| id.into(), Id::key)
}

impl<'f> Id<'f> {
    /// Parses an id from JSON; `None` if it cannot be one.
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

    /// The normalized form, independent of how it is written: a peer may write `"\u0061"` back as `"a"`, or `1.0` as
    /// `1`.
    pub fn key(self) -> Box<str> {
        match self.0.as_bytes() {
            [b'"', ..] if self.0.contains('\\') => match serde_json::from_str::<String>(self.0) {
                Ok(text) => Value::from(text).to_string().into(),
                // Half a surrogate pair: there is no other way to write it.
                Err(_) => self.0.into(),
            },
            [b'"' | b'n', ..] => self.0.into(),
            number if number.iter().all(u8::is_ascii_digit) => self.0.into(),
            _ => match self.0.parse::<f64>() {
                // In this range, every whole number has its own float.
                Ok(float) if float.fract() == 0.0 && float.abs() <= EXACT => format!("{:.0}", float + 0.0).into(),
                _ => self.0.into(),
            },
        }
    }

    /// Whether it is null, as in the answer to a request that could not be parsed.
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
    fn an_id_has_one_key_however_it_is_written() {
        let check = |id: &str, expect: &str| assert_eq!(&*Id::read(id).unwrap().key(), expect, "{id}");
        check("7", "7");
        check("-7", "-7");
        check("-0", "0");
        check("1.0", "1");
        check("1e2", "100");
        check("-1.50e1", "-15");
        check("0.5", "0.5");
        check("123456789012345678901234567890", "123456789012345678901234567890");
        check("12345678901234567890.0", "12345678901234567890.0");
        check(r#""a""#, r#""a""#);
        check(r#""\u0061\/\"b\u00e9""#, r#""a/\"bé""#);
        check(r#""\ud800""#, r#""\ud800""#);
        check(r#""7""#, r#""7""#);
        check("null", "null");
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
