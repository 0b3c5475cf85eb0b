//! The members of a JSON object, which can be read and replaced in the text. Everything else keeps its bytes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in order.
#[derive(Debug)]
pub struct Members<'j> {
    text: &'j str,
    list: Vec<(Cow<'j, str>, &'j RawValue)>,
}

impl<'j> Members<'j> {
    /// Parses an object. `None` for anything else, and for a duplicate key, because parsers differ in which one they
    /// use.
    pub fn read(object: &'j RawValue) -> Option<Members<'j>> {
        let Listed(list) = serde_json::from_str(object.get()).ok()?;
        let mut keys = HashSet::with_capacity(list.len());
        let twice = !list.iter().all(|(key, _)| keys.insert(key.as_ref()));
        (!twice).then_some(Members { text: object.get(), list })
    }

    /// The value of a member.
    pub fn get(&self, key: &str) -> Option<&'j RawValue> {
        self.list.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// The value of a member, if it is a string.
    pub fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// The members of a nested object.
    pub fn object(&self, key: &str) -> Option<Members<'j>> {
        Members::read(self.get(key)?)
    }

    /// The members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'j RawValue)> {
        self.list.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// The object's text with `key` set to this value. A new member is placed first.
    pub fn with(&self, key: &str, value: &str) -> String {
        if let Some(old) = self.get(key) {
            let start = old.get().as_ptr() as usize - self.text.as_ptr() as usize;
            let (before, rest) = self.text.split_at(start);
            return [before, value, &rest[old.get().len()..]].concat();
        }
        let key = serde_json::Value::from(key);
        let comma = if self.list.is_empty() { "" } else { "," };
        let rest = self.text.trim_start().strip_prefix('{').unwrap_or("}");
        format!("{{{key}:{value}{comma}{rest}")
    }

    /// The object's text without this member; `None` if it has no such member.
    pub fn without(&self, key: &str) -> Option<String> {
        let position = self.list.iter().position(|(known, _)| known == key)?;
        let end_of = |(_, value): &(Cow<'j, str>, &'j RawValue)| {
            value.get().as_ptr() as usize - self.text.as_ptr() as usize + value.get().len()
        };
        let end = end_of(&self.list[position]);
        let (before, after) = match position.checked_sub(1) {
            // Including the comma before it.
            Some(previous) => (&self.text[..end_of(&self.list[previous])], &self.text[end..]),
            // Including the comma after it, if there is one.
            None => {
                let open = self.text.find('{')? + 1;
                let rest = &self.text[end..];
                (&self.text[..open], rest.trim_start().strip_prefix(',').unwrap_or(rest))
            }
        };
        Some([before, after].concat())
    }
}

/// An object with these members.
pub fn object<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(key, value)| format!("{}:{value}", serde_json::Value::from(key))).collect();
    format!("{{{}}}", members.join(","))
}

struct Listed<'j>(Vec<(Cow<'j, str>, &'j RawValue)>);

impl<'de> Deserialize<'de> for Listed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Listed<'de>, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Listed<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Listed<'de>, M::Error> {
                let mut list = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    list.push((key, value));
                }
                Ok(Listed(list))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[derive(serde::Deserialize)]
struct Key<'j>(#[serde(borrow)] Cow<'j, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, key: &str, expect: Option<&str>) {
        let object: &RawValue = serde_json::from_str(object).unwrap();
        assert_eq!(Members::read(object).map(|members| members.with(key, "7")).as_deref(), expect);
    }

    #[test]
    fn one_member_changes_and_the_rest_keeps_its_bytes() {
        check("{}", "a", Some(r#"{"a":7}"#));
        check("{ }", "a", Some(r#"{"a":7 }"#));
        check(r#"{ "b" : 1.0 }"#, "a", Some(r#"{"a":7, "b" : 1.0 }"#));
        check(r#"{"a" : {"x":"}"} ,"b":2}"#, "a", Some(r#"{"a" : 7 ,"b":2}"#));
        check(r#"{"\u0061":1}"#, "a", Some(r#"{"\u0061":7}"#));
        check(r#"{"a":1,"\u0061":2}"#, "a", None);
        check("[]", "a", None);
    }

    #[test]
    fn one_member_is_removed_and_the_rest_keeps_its_bytes() {
        let check = |object: &str, expect: Option<&str>| {
            let object: &RawValue = serde_json::from_str(object).unwrap();
            assert_eq!(Members::read(object).unwrap().without("a").as_deref(), expect, "{object}");
        };
        check("{}", None);
        check(r#"{"b":1}"#, None);
        check(r#"{"a":1}"#, Some("{}"));
        check(r#"{ "a" : 1 }"#, Some("{ }"));
        check(r#"{ "a" : {"a":[",}"]} , "b" : 1.0 }"#, Some(r#"{ "b" : 1.0 }"#));
        check(r#"{"b":"a","a":1,"c":{"a":2}}"#, Some(r#"{"b":"a","c":{"a":2}}"#));
        check(r#"{"b" : 1.0 , "\u0061": 2 }"#, Some(r#"{"b" : 1.0 }"#));
    }
}
