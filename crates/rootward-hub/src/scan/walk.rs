//! Walks over the strings in a call's params.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::value::RawValue;
use thiserror::Error;

use super::access::Need;
use super::json::{Begins, Cursor, RawText};
use super::method::{KNOWN, KNOWN_IN_COMPLETION, Shape};
use super::nodes::{Listed, Nodes};
use super::schema::{Format, Node};
use super::template::completed_uri;
use super::tool::{Tool, Treatment};
use super::value::{has_several_lines, is_around, is_file_uri, is_trimmed, looks_like_a_path};
use super::words::{KeySays, key_says};
use rootward_protocol::{is_same_but_for_case, shown};

/// Maximum nesting depth, about the same as in most parsers.
const DEEPEST: usize = 128;

/// Maximum depth of JSON within strings within JSON.
const DEEPEST_TEXT: usize = 3;

/// How much of a key an error shows, in characters.
const LONGEST_NAME: usize = 200;

/// Maximum number of strings in one call that count as paths.
const MOST: usize = 4096;

/// The parts of a client's message that the scan needs.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// The method.
    pub method: &'c str,
    /// The params as received.
    pub params: Option<&'c RawValue>,
    /// The called tool, if known.
    pub tool: Option<&'c Tool>,
}

/// A string that counts as a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate<'c> {
    /// The key that the string was found under.
    pub key: Cow<'c, str>,
    /// The string.
    pub text: Cow<'c, str>,
    /// Why it counts as a path.
    pub why: Evidence,
    /// What the call does with it.
    pub need: Need,
    /// How certain it is that the string is a path.
    pub certainty: Certainty,
}

/// How certain it is that a string is a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Certainty {
    /// It is meant as a path.
    Sure,
    /// It only looks like one; nothing else indicates what it is.
    ByLooks,
    /// It may be another word: a `target` may be `es2020`, and a `source_timezone` is never a path.
    Likely,
}

/// Why a string counts as a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Evidence {
    /// The user says so.
    Treatment,
    /// The schema has the server's own marker.
    Marker,
    /// The schema says so, in its format or its description.
    Schema,
    /// The key says so.
    Key,
    /// It looks like a path.
    Value,
}

/// Why params are rejected before their paths are checked.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Error)]
pub enum ScanError {
    /// A duplicate key in one object.
    #[error("duplicate key `{0}`")]
    DuplicateKey(String),
    /// A key that some parsers treat as another.
    #[error("a key that some parsers read as `{0}`")]
    AmbiguousKey(String),
    /// Nested too deep.
    #[error("nested deeper than {DEEPEST} levels")]
    TooDeep,
    /// JSON in strings in JSON, nested too often.
    #[error("JSON nested in strings more than {DEEPEST_TEXT} times")]
    TooDeepText,
    /// More paths than any real call has.
    #[error("more than {MOST} paths")]
    TooMany,
    /// Not JSON.
    #[error("not JSON")]
    Malformed,
}

/// Passes every string that counts as a path to `found`, in document order.
pub fn scan<'c>(call: &Call<'c>, found: &mut dyn FnMut(Candidate<'_>)) -> Result<(), ScanError> {
    let shape = Shape::of(call.method);
    let (Some(params), false) = (call.params, shape == Shape::Protocol) else { return Ok(()) };
    let mut walk = Walk { tool: call.tool, need: shape.need(), found, count: 0, depth: 0, text_depth: 0 };
    let mut cursor = Cursor::new(params.get());
    if cursor.begins()? != Begins::Object {
        return walk.value(&mut cursor, Place::TOP);
    }
    walk.top(&mut cursor, shape)?;
    // SECURITY: neither the template nor the typed value names a file, but both together do
    // (test: every_method_is_scanned)
    let completed = if shape == Shape::Completion { completed_uri(params.get())? } else { None };
    match completed {
        Some(uri) => walk.hand_out(&uri, Evidence::Key, Certainty::Sure, walk.place(Place::TOP, "uri")?),
        None => Ok(()),
    }
}

/// The tool name in the params of `tools/call`, if it is unambiguous.
pub fn tool_name(params: &RawValue) -> Option<Cow<'_, str>> {
    let mut name = None;
    let mut cursor = Cursor::new(params.get());
    cursor.pass(b'{').ok()?;
    if cursor.passes(b'}').ok()? {
        return None;
    }
    loop {
        let key = cursor.text().ok()?.decode();
        cursor.pass(b':').ok()?;
        if key == "name" && cursor.begins().ok()? == Begins::Text {
            let text = cursor.text().ok()?.decode();
            if name.replace(text).is_some() {
                return None;
            }
        } else {
            skip(&mut cursor).ok()?;
        }
        if !cursor.goes_on(b'}').ok()? {
            return name;
        }
    }
}

/// Skips a value of any depth, without recursion.
fn skip(cursor: &mut Cursor<'_>) -> Result<(), ScanError> {
    let mut depth = 0_usize;
    loop {
        match cursor.begins()? {
            Begins::Text => drop(cursor.text()?),
            Begins::Object | Begins::List => {
                depth += 1;
                if !cursor.passes(b'{')? {
                    cursor.pass(b'[')?;
                }
                continue;
            }
            Begins::Plain if depth > 0 && (cursor.passes(b'}')? || cursor.passes(b']')?) => depth -= 1,
            Begins::Plain if depth > 0 && (cursor.passes(b',')? || cursor.passes(b':')?) => continue,
            Begins::Plain => cursor.plain()?,
        }
        if depth == 0 {
            return Ok(());
        }
    }
}

struct Walk<'w> {
    tool: Option<&'w Tool>,
    need: Need,
    found: &'w mut dyn FnMut(Candidate<'_>),
    count: usize,
    depth: usize,
    text_depth: usize,
}

/// What is known about the position of a value.
#[derive(Clone, Copy)]
struct Place<'p> {
    key: &'p str,
    says: KeySays,
    schema: Nodes<'p>,
    format: Format,
    treatment: Option<Treatment>,
    /// Whether all keys on the way to it are listed as sent.
    listed: Listed,
    /// The treatment of its members: everything in a database filter is text, whatever its keys are.
    below: Option<Treatment>,
}

impl Place<'_> {
    const TOP: Place<'static> = Place {
        key: "",
        says: KeySays::Nothing,
        schema: Nodes::NONE,
        format: Format::Unsaid,
        treatment: None,
        listed: Listed::AsSent,
        below: None,
    };
}

/// How a string at this position is treated.
enum Role {
    /// As text, unless the whole string is a `file:` URI.
    Text,
    /// As text, because the user says so.
    TextForSure,
    /// As a path.
    Path(Evidence),
    /// As a path, if it is one line.
    PathOfOneLine(Evidence),
    /// As a path, if it looks like one.
    Look(Certainty),
    /// As a path, if the whole string looks like one. JSON inside it is not parsed.
    LookAtWhole,
}

/// What a string contains.
#[derive(PartialEq, Eq)]
enum Holds {
    Text,
    /// A list or object, which was scanned.
    Json,
}

impl Role {
    /// How certain a string that looks like a path is one; `None` if looks do not matter.
    fn by_looks(&self) -> Option<Certainty> {
        match self {
            Role::Look(certainty) => Some(*certainty),
            Role::LookAtWhole => Some(Certainty::ByLooks),
            Role::Text | Role::TextForSure | Role::Path(_) | Role::PathOfOneLine(_) => None,
        }
    }
}

impl<'p> Place<'p> {
    fn role(&self) -> Role {
        let described = |what: fn(&Node) -> bool| self.schema.any(what);
        match (self.treatment, self.format, self.says) {
            (Some(Treatment::Text), ..) => Role::TextForSure,
            (Some(Treatment::Path(_)), ..) => Role::Path(Evidence::Treatment),
            (_, Format::Marker(_), _) => Role::Path(Evidence::Marker),
            (_, Format::Path, _) => Role::Path(Evidence::Schema),
            (_, _, KeySays::Path) => Role::Path(Evidence::Key),
            (_, _, KeySays::Place) => Role::PathOfOneLine(Evidence::Key),
            (_, _, KeySays::Text) | (_, Format::Other, _) => Role::Text,
            (_, _, KeySays::Document) => Role::LookAtWhole,
            // A file name pattern is opened up to its first wildcard.
            (_, _, KeySays::Pattern) if described(|node| node.is_described_as_glob) => Role::Look(Certainty::Sure),
            (_, _, KeySays::Pattern) => Role::Text,
            (_, _, KeySays::Nothing) if described(|node| node.is_described_as_path) => {
                Role::PathOfOneLine(Evidence::Schema)
            }
            (_, _, KeySays::Nothing) => Role::Look(Certainty::ByLooks),
        }
    }

    /// The position of a list's members.
    fn of_items(&self) -> Place<'p> {
        let (schema, format) = self.schema.items(self.format);
        Place { schema, format, ..*self }
    }
}

impl Walk<'_> {
    /// Scans the params object.
    fn top(&mut self, cursor: &mut Cursor<'_>, shape: Shape) -> Result<(), ScanError> {
        self.members(cursor, |walk, key, cursor| {
            refuse_but_for_case(key, &KNOWN)?;
            if shape.is_name(key) && cursor.begins()? == Begins::Text {
                return cursor.text().map(drop);
            }
            match (shape, key) {
                (Shape::ToolCall, "arguments") => {
                    let (schema, treatment) = (
                        walk.tool.and_then(|tool| tool.schema.as_ref()),
                        walk.tool.and_then(|tool| tool.treatment(key)),
                    );
                    // A single argument may also be called `arguments`: its schema must not apply to all of them.
                    let place = Place { key, schema: Nodes::new(schema), treatment, ..Place::TOP };
                    walk.value(cursor, place)
                }
                (Shape::Completion, "argument") => walk.argument(cursor),
                (Shape::Completion, "ref") => walk.reference(cursor),
                (Shape::Completion, "context") => walk.context(cursor),
                (_, "_meta") => walk.meta(cursor),
                _ => {
                    let place = walk.place(Place::TOP, key)?;
                    walk.value(cursor, place)
                }
            }
        })
    }

    /// Scans `{"name": …, "value": …}`: the name is the key of the value.
    fn argument(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ScanError> {
        if cursor.begins()? != Begins::Object {
            return self.value(cursor, Place::TOP);
        }
        let mut ahead = *cursor;
        let mut name = None;
        self.members(&mut ahead, |_, key, cursor| {
            refuse_but_for_case(key, &KNOWN_IN_COMPLETION)?;
            if key == "name" && cursor.begins()? == Begins::Text {
                name = Some(cursor.text()?.decode());
                return Ok(());
            }
            skip(cursor)
        })?;
        self.members(cursor, |walk, key, cursor| match (key, name.as_deref()) {
            ("name", _) => skip(cursor),
            ("value", Some(name)) => walk.value(cursor, walk.place(Place::TOP, name)?),
            _ => walk.value(cursor, walk.place(Place::TOP, key)?),
        })
    }

    /// Scans the completed reference: a prompt name, or a resource template, which names no file until it is filled
    /// in ([`completed_uri`]).
    fn reference(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ScanError> {
        if cursor.begins()? != Begins::Object {
            return self.value(cursor, Place::TOP);
        }
        self.members(cursor, |walk, key, cursor| {
            refuse_but_for_case(key, &KNOWN_IN_COMPLETION)?;
            if matches!(key, "name" | "type") {
                return skip(cursor);
            }
            let mut ahead = *cursor;
            if key == "uri" && ahead.begins()? == Begins::Text && ahead.text()?.decode().contains('{') {
                *cursor = ahead;
                return Ok(());
            }
            walk.value(cursor, walk.place(Place::TOP, key)?)
        })
    }

    /// Scans `{"arguments": {…}}`, the values that were completed before.
    fn context(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ScanError> {
        if cursor.begins()? != Begins::Object {
            return self.value(cursor, Place::TOP);
        }
        self.members(cursor, |walk, key, cursor| {
            refuse_but_for_case(key, &KNOWN_IN_COMPLETION)?;
            walk.key(key, Place::TOP)?;
            walk.value(cursor, walk.place(Place::TOP, key)?)
        })
    }

    /// Scans `_meta`: the host's own data and tokens, not arguments. Codex puts its own path there (`"exe":
    /// "/usr/bin/codex"`).
    fn meta(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ScanError> {
        if cursor.begins()? != Begins::Object {
            return self.value(cursor, Place::TOP);
        }
        self.unjudged(cursor)
    }

    /// Moves past a value in which nothing counts as a path. Ambiguous JSON is still rejected.
    fn unjudged(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ScanError> {
        match cursor.begins()? {
            Begins::Plain => cursor.plain(),
            Begins::Text => cursor.text().map(drop),
            Begins::Object => self.members(cursor, |walk, _, cursor| walk.unjudged(cursor)),
            Begins::List => self.items(cursor, Walk::unjudged),
        }
    }

    /// The place of a member. A key that is not listed, but that a lenient parser takes for a listed one, is judged
    /// as both: the listed one may be a path by its schema alone.
    fn place<'p>(&self, parent: Place<'p>, key: &'p str) -> Result<Place<'p>, ScanError> {
        // SECURITY: Go's `encoding/json` ignores case in keys
        // (test: a_key_that_differs_only_in_case_is_judged_as_the_listed_one)
        let but_for_case = self.tool.and_then(|tool| tool.path_but_for_case(key));
        let found = parent.schema.property(key);
        let (schema, listed) = found.ok_or_else(|| ScanError::AmbiguousKey(shown(key, LONGEST_NAME)))?;
        let is_as_sent = but_for_case.is_none() && listed == Listed::AsSent;
        let treatment = self.tool.and_then(|tool| tool.treatment(key)).or(but_for_case.map(Treatment::Path));
        let treatment = treatment.or(parent.below);
        Ok(Place {
            key,
            says: schema.says(|| key_says(key)),
            schema,
            format: schema.format(),
            treatment,
            listed: if is_as_sent { parent.listed } else { Listed::ButForCase },
            below: treatment.filter(|treatment| *treatment == Treatment::Text),
        })
    }

    fn value(&mut self, cursor: &mut Cursor<'_>, place: Place<'_>) -> Result<(), ScanError> {
        match cursor.begins()? {
            Begins::Plain => cursor.plain(),
            Begins::Text => {
                let text = cursor.text()?;
                self.text(text, place)
            }
            Begins::Object => self.members(cursor, |walk, key, cursor| {
                walk.key(key, place)?;
                let place = walk.place(place, key)?;
                walk.value(cursor, place)
            }),
            Begins::List => {
                let place = place.of_items();
                self.items(cursor, |walk, cursor| walk.value(cursor, place))
            }
        }
    }

    /// Iterates over a list; `item` must move past each value.
    fn items<'j>(
        &mut self,
        cursor: &mut Cursor<'j>,
        mut item: impl FnMut(&mut Self, &mut Cursor<'j>) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        self.down()?;
        cursor.pass(b'[')?;
        if !cursor.passes(b']')? {
            loop {
                item(self, cursor)?;
                if !cursor.goes_on(b']')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Iterates over an object; `member` must move past each value.
    fn members<'j>(
        &mut self,
        cursor: &mut Cursor<'j>,
        mut member: impl FnMut(&mut Self, &str, &mut Cursor<'j>) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        self.down()?;
        cursor.pass(b'{')?;
        if !cursor.passes(b'}')? {
            let mut keys = Keys::default();
            loop {
                let key = cursor.text()?.decode();
                keys.add(&key)?;
                cursor.pass(b':')?;
                member(self, &key, cursor)?;
                if !cursor.goes_on(b'}')? {
                    break;
                }
            }
            keys.end()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn down(&mut self) -> Result<(), ScanError> {
        self.depth += 1;
        // SECURITY: parsers differ in their depth limit, and deep recursion would exhaust the stack
        // (test: ambiguous_params_are_refused)
        if self.depth > DEEPEST { Err(ScanError::TooDeep) } else { Ok(()) }
    }

    fn text(&mut self, raw: RawText<'_>, place: Place<'_>) -> Result<(), ScanError> {
        let role = place.role();
        if matches!(role, Role::TextForSure) {
            return Ok(());
        }
        if matches!(role, Role::Text) {
            // SECURITY: no prose consists of just a `file:` URI, but some servers open any `file:` URI they receive
            // (test: a_whole_file_uri_is_a_path_under_every_key)
            return match raw.may_begin("file:", is_around).then(|| raw.decode()) {
                Some(text) if is_file_uri(&text) => self.hand_out(&text, Evidence::Value, Certainty::Sure, place),
                _ => Ok(()),
            };
        }
        let text = raw.decode();
        // SECURITY: a JSON text is also a relative path, and as a path `{"text":"a/../../b"}` climbs, although its
        // JSON keys would allow it
        // (test: json_within_strings_is_a_name_as_well)
        if !matches!(role, Role::LookAtWhole) && self.within(&text, place)? == Holds::Json && !may_climb(&text) {
            return Ok(());
        }
        let why = match role {
            Role::Path(why) => Some((why, Certainty::Sure)),
            Role::PathOfOneLine(why) if !has_several_lines(&text) => {
                Some((why, if looks_like_a_path(&text) { Certainty::Sure } else { Certainty::Likely }))
            }
            role => {
                role.by_looks().filter(|_| looks_like_a_path_of_one_line(&text)).map(|sure| (Evidence::Value, sure))
            }
        };
        match why {
            Some((why, certainty)) => self.hand_out(&text, why, certainty, place),
            None => Ok(()),
        }
    }

    /// Checks whether a key is a path.
    fn key(&mut self, key: &str, place: Place<'_>) -> Result<(), ScanError> {
        let certainty = match place.role() {
            Role::Text | Role::TextForSure => return Ok(()),
            role => role.by_looks().unwrap_or(Certainty::Sure),
        };
        if looks_like_a_path_of_one_line(key) { self.hand_out(key, Evidence::Value, certainty, place) } else { Ok(()) }
    }

    /// Scans a string that contains a list or an object.
    fn within(&mut self, text: &str, place: Place<'_>) -> Result<Holds, ScanError> {
        let bare = text.trim_matches(is_trimmed);
        if !bare.starts_with(['{', '[']) {
            return Ok(Holds::Text);
        }
        let Ok(raw) = serde_json::from_str::<&RawValue>(bare) else { return Ok(Holds::Text) };
        if self.text_depth == DEEPEST_TEXT {
            return Err(ScanError::TooDeepText);
        }
        self.text_depth += 1;
        // SECURITY: servers that take lists also accept them as JSON in a string
        // (test: json_within_strings_is_searched)
        self.value(&mut Cursor::new(raw.get()), place)?;
        self.text_depth -= 1;
        // SECURITY: a JSON parser rejects the other trimmed characters, and the server may then use the text as a
        // path
        // (test: json_with_more_than_white_space_around_it_is_a_name_as_well)
        Ok(if bare == text.trim() { Holds::Json } else { Holds::Text })
    }

    fn hand_out(&mut self, text: &str, why: Evidence, certainty: Certainty, place: Place<'_>) -> Result<(), ScanError> {
        self.count += 1;
        if self.count > MOST {
            return Err(ScanError::TooMany);
        }
        let guessed = |key: &str| self.tool.map_or(self.need, |tool| tool.need(key));
        let need = match (place.treatment, place.format, place.listed) {
            (Some(Treatment::Path(need)), _, Listed::AsSent) | (_, Format::Marker(need), Listed::AsSent) => need,
            (_, _, Listed::AsSent) => guessed(place.key),
            // Which name the server sees is not known, so no name may reduce what it needs.
            (Some(Treatment::Path(need)), ..) | (_, Format::Marker(need), _) => need.and(guessed("")),
            (_, _, Listed::ButForCase) => guessed(""),
        };
        (self.found)(Candidate { key: place.key.into(), text: text.into(), why, need, certainty });
        Ok(())
    }
}

/// Refuses a key that a lenient parser takes for one of the protocol's.
// SECURITY: Go's `encoding/json` ignores case in keys and uses the last value (test: every_method_is_scanned)
fn refuse_but_for_case(key: &str, known: &[&str]) -> Result<(), ScanError> {
    match known.iter().find(|known| key != **known && is_same_but_for_case(key, known)) {
        Some(known) => Err(ScanError::AmbiguousKey((*known).to_owned())),
        None => Ok(()),
    }
}

fn looks_like_a_path_of_one_line(text: &str) -> bool {
    !has_several_lines(text) && looks_like_a_path(text)
}

/// Whether a relative path may climb in some reading: as written, decoded, or with its variables expanded.
fn may_climb(text: &str) -> bool {
    text.contains("..") || text.contains(['%', '$'])
}

/// Detects duplicate keys in one object. Small objects need no allocation.
#[derive(Default)]
struct Keys {
    few: [u64; 16],
    count: usize,
    many: Vec<u64>,
}

impl Keys {
    fn add(&mut self, key: &str) -> Result<(), ScanError> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let hash = hasher.finish();
        if self.count < self.few.len() {
            // SECURITY: parsers differ in which of two values they use (test: ambiguous_params_are_refused)
            if self.few[..self.count].contains(&hash) {
                return Err(ScanError::DuplicateKey(shown(key, LONGEST_NAME)));
            }
            self.few[self.count] = hash;
        } else {
            self.many.push(hash);
        }
        self.count += 1;
        Ok(())
    }

    fn end(mut self) -> Result<(), ScanError> {
        if self.many.is_empty() {
            return Ok(());
        }
        self.many.extend_from_slice(&self.few);
        self.many.sort_unstable();
        // The key itself is no longer known.
        let twice = self.many.windows(2).any(|pair| pair[0] == pair[1]);
        if twice { Err(ScanError::DuplicateKey("…".to_owned())) } else { Ok(()) }
    }
}
