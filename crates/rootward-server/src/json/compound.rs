//! Values with others in them.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};
use serde_json::{Error, Result};

use super::Json;

/// An array or object that has begun.
pub(super) struct Compound<'l> {
    line: &'l mut Vec<u8>,
    is_first: bool,
    end: &'static [u8],
    /// What is in it is JSON already, in a text.
    is_json: bool,
}

impl<'l> Compound<'l> {
    pub(super) fn new(line: &'l mut Vec<u8>, end: &'static [u8]) -> Compound<'l> {
        Compound { line, is_first: true, end, is_json: false }
    }

    pub(super) fn of_json(line: &'l mut Vec<u8>) -> Compound<'l> {
        Compound { line, is_first: true, end: b"", is_json: true }
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.line.push(b',');
        }
        self.is_first = false;
    }

    fn write(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        value.serialize(Json { line: self.line })
    }

    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.separate();
        self.write(value)
    }

    /// Numbers and words become texts; nothing else can be a key.
    fn key(&mut self, key: &(impl Serialize + ?Sized)) -> Result<()> {
        self.separate();
        let start = self.line.len();
        self.write(key)?;
        match self.line.get(start) {
            Some(b'"') => {}
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.line.insert(start, b'"');
                self.line.push(b'"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        Ok(())
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.line.push(b':');
        self.write(value)
    }

    pub(super) fn member(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Result<()> {
        if self.is_json {
            return self.json(value);
        }
        self.key(key)?;
        self.value(value)
    }

    /// A text, as it stands.
    fn json(&mut self, value: &(impl Serialize + ?Sized)) -> Result<()> {
        let start = self.line.len();
        self.write(value)?;
        let text: String = serde_json::from_slice(&self.line[start..])?;
        self.line.truncate(start);
        self.line.extend_from_slice(text.as_bytes());
        Ok(())
    }

    pub(super) fn close(self) {
        self.line.extend_from_slice(self.end);
    }
}

/// What all of these traits have in common: what a value is made of, and its end.
macro_rules! compounds {
    ($($of:ident: $part:ident($($name:ident: $type:ty),*) by $method:ident;)*) => {$(
        impl $of for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $part<T: Serialize + ?Sized>(&mut self, $($name: $type,)* value: &T) -> Result<()> {
                self.$method($($name,)* value)
            }

            fn end(self) -> Result<()> {
                self.close();
                Ok(())
            }
        }
    )*};
}

compounds! {
    SerializeSeq: serialize_element() by element;
    SerializeTuple: serialize_element() by element;
    SerializeTupleStruct: serialize_field() by element;
    SerializeTupleVariant: serialize_field() by element;
    SerializeStruct: serialize_field(key: &'static str) by member;
    SerializeStructVariant: serialize_field(key: &'static str) by member;
}

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.value(value)
    }

    fn end(self) -> Result<()> {
        self.close();
        Ok(())
    }
}
