//! Writes JSON as `serde_json` does, byte for byte, and looks through texts a word at a time: most of what a server says is the text
//! of files, and most of writing that is looking for what must be escaped.

mod compound;

use serde::ser::{Serialize, Serializer};
use serde_json::{Error, Result};

use compound::Compound;

/// Adds `value` to the end of `line`.
pub(crate) fn write(line: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    value.serialize(Json { line })
}

/// Where a value is written.
struct Json<'l> {
    line: &'l mut Vec<u8>,
}

/// The bytes that are looked through at once.
const WORD: usize = 8;
/// A word with a one in each byte.
const ONES: u64 = u64::MAX / 0xff;
/// Makes a space of `"`.
const QUOTE_TO_SPACE: u8 = b'"' ^ b' ';

/// How many bytes of a word, from its first, stand as they are, up to a control character, `"` or `\`; none where all do.
fn plain(word: [u8; WORD]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    // The highest bit of each byte that is less is set, and of some behind the first such, which nobody asks for.
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word;
    let flip = |byte: u8| word ^ (ONES * u64::from(byte));
    // With that bit flipped, control characters stay among themselves, and `"` alone comes right behind them.
    let escaped = (less(flip(QUOTE_TO_SPACE), b' ' + 1) | less(flip(b'\\'), 1)) & (ONES << 7);
    (escaped != 0).then(|| escaped.trailing_zeros() as usize / WORD)
}

fn write_text(line: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    line.reserve(text.len() + 2);
    line.push(b'"');
    // What lies between is plain.
    let (mut plain_from, mut at) = (0, 0);
    while let Some(word) = text[at..].first_chunk() {
        let Some(plain) = plain(*word) else {
            at += WORD;
            continue;
        };
        line.extend_from_slice(&text[plain_from..at + plain]);
        write_escaped(line, word[plain]);
        at += plain + 1;
        plain_from = at;
    }
    line.extend_from_slice(&text[plain_from..at]);
    for byte in &text[at..] {
        match byte {
            b'"' | b'\\' | ..b' ' => write_escaped(line, *byte),
            _ => line.push(*byte),
        }
    }
    line.push(b'"');
}

fn write_escaped(line: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        ..b' ' => {
            let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
            line.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
        _ => byte,
    };
    line.extend_from_slice(&[b'\\', letter]);
}

impl<'l> Json<'l> {
    /// What is short is left to `serde_json`.
    fn short(self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(self.line, value)
    }

    fn begin(self, begin: u8, end: &'static [u8]) -> Compound<'l> {
        self.line.push(begin);
        Compound::new(self.line, end)
    }

    /// A value in an object, under the name of its variant.
    fn begin_variant(self, variant: &str, begin: u8, end: &'static [u8]) -> Compound<'l> {
        self.line.push(b'{');
        write_text(self.line, variant);
        self.line.push(b':');
        self.begin(begin, end)
    }
}

impl<'l> Serializer for Json<'l> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'l>;
    type SerializeTuple = Compound<'l>;
    type SerializeTupleStruct = Compound<'l>;
    type SerializeTupleVariant = Compound<'l>;
    type SerializeMap = Compound<'l>;
    type SerializeStruct = Compound<'l>;
    type SerializeStructVariant = Compound<'l>;

    fn serialize_str(self, text: &str) -> Result<()> {
        write_text(self.line, text);
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.short(&value)
    }

    fn serialize_i8(self, value: i8) -> Result<()> {
        self.short(&value)
    }

    fn serialize_i16(self, value: i16) -> Result<()> {
        self.short(&value)
    }

    fn serialize_i32(self, value: i32) -> Result<()> {
        self.short(&value)
    }

    fn serialize_i64(self, value: i64) -> Result<()> {
        self.short(&value)
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        self.short(&value)
    }

    fn serialize_u8(self, value: u8) -> Result<()> {
        self.short(&value)
    }

    fn serialize_u16(self, value: u16) -> Result<()> {
        self.short(&value)
    }

    fn serialize_u32(self, value: u32) -> Result<()> {
        self.short(&value)
    }

    fn serialize_u64(self, value: u64) -> Result<()> {
        self.short(&value)
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        self.short(&value)
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        self.short(&value)
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        self.short(&value)
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.short(&value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.short(&value)
    }

    fn serialize_none(self) -> Result<()> {
        self.short(&())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.short(&())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.short(&())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut object = self.begin(b'{', b"}");
        object.member(variant, value)?;
        object.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'l>> {
        Ok(self.begin(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'l>> {
        Ok(self.begin(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'l>> {
        Ok(self.begin(b'[', b"]"))
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Compound<'l>> {
        Ok(self.begin_variant(variant, b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'l>> {
        Ok(self.begin(b'{', b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'l>> {
        // By such names `serde_json` says that the one field is JSON: a raw value, or a number as it was read.
        if name.starts_with("$serde_json::private::") {
            return Ok(Compound::of_json(self.line));
        }
        Ok(self.begin(b'{', b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'l>> {
        Ok(self.begin_variant(variant, b'{', b"}}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rmcp::model::{CallToolResult, ContentBlock, JsonRpcMessage, RequestId, ServerResult};
    use serde::Serialize;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::*;

    fn written_of(value: &impl Serialize) -> Result<String> {
        let mut line = Vec::new();
        write(&mut line, value).map(|()| String::from_utf8(line).unwrap())
    }

    #[track_caller]
    fn same(value: &impl Serialize) {
        assert_eq!(written_of(value).unwrap(), serde_json::to_string(value).unwrap());
    }

    #[derive(Serialize)]
    enum Every {
        Unit,
        Newtype(u8),
        Tuple(i64, f64),
        Struct { a: Option<char>, b: () },
    }

    #[derive(Serialize)]
    struct Unit;
    #[derive(Serialize)]
    struct Newtype(String);
    #[derive(Serialize)]
    struct Tuple(bool, f32);

    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
            serializer.serialize_bytes(b"\0\xff")
        }
    }

    #[test]
    fn every_kind_of_value() {
        same(&[Every::Unit, Every::Newtype(1), Every::Tuple(i64::MIN, 1e300), Every::Tuple(0, f64::NAN)]);
        same(&[Every::Struct { a: Some('"'), b: () }, Every::Struct { a: None, b: () }]);
        same(&(
            Unit,
            Newtype("\u{1}".into()),
            Tuple(true, 0.1),
            u128::MAX,
            i128::MIN,
            [0_u8; 0],
            BTreeMap::<u8, u8>::new(),
        ));
        same(&(i8::MIN, i16::MIN, i32::MIN, u16::MAX, u32::MAX, u64::MAX, "", 'x', f64::INFINITY));
        same(&BTreeMap::from([(1, "a"), (-2, "b")]));
        same(&BTreeMap::from([(true, 1)]));
        same(&BTreeMap::from([(Some('c'), 1)]));
        same(&(RawValue::from_string("{\"a\": [1, \"\\n\"]}".into()).unwrap(), 7));
        same(&Bytes);
    }

    #[test]
    fn what_cannot_be_a_key() {
        for wrong in [written_of(&BTreeMap::from([((), 1)])), written_of(&BTreeMap::from([([1, 2], 1)]))] {
            assert_eq!(wrong.unwrap_err().to_string(), "key must be a string");
        }
        assert!(serde_json::to_string(&BTreeMap::from([((), 1)])).is_err());
    }

    #[test]
    fn every_character_at_every_place_of_a_word() {
        for escaped in (0..0x80).map(char::from).chain(['\u{80}', 'é', '\u{2028}', '😀', '\u{fffd}']) {
            for before in 0..17 {
                let text = format!("{}{escaped}{escaped}abcdefgh", "~".repeat(before));
                same(&text);
                same(&json!({ &text: &text }));
            }
        }
    }

    #[test]
    fn a_message() {
        let mut result = CallToolResult::success(vec![ContentBlock::text("one\ntwo \"three\"")]);
        result.structured_content = Some(json!({"content": "one\ntwo", "size": 1.5, "none": null}));
        same(&JsonRpcMessage::<Value, _, Value>::response(ServerResult::CallToolResult(result), RequestId::Number(7)));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[ -~\n\t]{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn as_serde_json_writes_it(value in any_value()) {
            prop_assert_eq!(written_of(&value).unwrap(), serde_json::to_string(&value).unwrap());
        }

        #[test]
        fn a_word_is_looked_through_as_its_bytes_are(word in any::<[u8; WORD]>()) {
            let escaped = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
            prop_assert_eq!(plain(word), word.iter().position(escaped));
        }

        #[test]
        fn long_texts(text in "([ -~\n]{0,3}|[\\x00-\\x1f]{0,40}){0,400}") {
            prop_assert_eq!(written_of(&text).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}
