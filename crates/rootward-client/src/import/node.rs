//! A parsed file: JSON with comments and TOML as one kind of tree, each part with its position in the text.

use std::collections::HashMap;

use jsonc_parser::ast::{ObjectPropName, Value as JsonValue};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rootward_core::parser_message;
use toml::de::{DeTable, DeValue};

use crate::store::Mistake;

/// A value, and where it starts.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Table(Vec<Entry>),
    List(Vec<Node>),
    Text(String),
    Boolean(bool),
    /// As written.
    Number(String),
    Null,
    Date,
}

/// A key with its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) node: Node,
    /// Whether it is a duplicate key. The last one counts, as for the clients.
    pub(crate) again: bool,
}

impl Node {
    /// Its type, for a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Table(_) => "a table",
            Value::List(_) => "a list",
            Value::Text(_) => "a string",
            Value::Boolean(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Null => "`null`",
            Value::Date => "a date",
        }
    }

    /// The value of a key; `None` if it is `null`.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let Value::Table(entries) = &self.value else { return None };
        let found = entries.iter().find(|entry| entry.name == name)?;
        (!matches!(found.node.value, Value::Null)).then_some(&found.node)
    }
}

/// JSON as the clients parse it: some accept comments and trailing commas, none accepts other extensions.
pub(crate) const JSON: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses JSON. Nesting deeper than 512 is a mistake.
pub(crate) fn json(text: &str) -> Result<Node, Mistake> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &JSON).map_err(|error| {
        let says = parser_message::json(&error.kind().to_string());
        Mistake::at(text, Some(error.range().start..error.range().end), says)
    })?;
    // An empty file says nothing, as for the clients.
    Ok(parsed.value.map_or(Node { at: 0, value: Value::Null }, of_json))
}

fn of_json(value: JsonValue<'_>) -> Node {
    let at = value.range().start;
    let value = match value {
        JsonValue::StringLit(text) => Value::Text(text.value.into_owned()),
        JsonValue::BooleanLit(boolean) => Value::Boolean(boolean.value),
        JsonValue::NumberLit(number) => Value::Number(number.value.to_owned()),
        JsonValue::NullKeyword(_) => Value::Null,
        JsonValue::Array(list) => Value::List(list.elements.into_iter().map(of_json).collect()),
        JsonValue::Object(object) => {
            let mut entries: Vec<Entry> = Vec::with_capacity(object.properties.len());
            let mut known: HashMap<String, usize> = HashMap::new();
            for property in object.properties {
                let name = match property.name {
                    ObjectPropName::String(name) => name.value.into_owned(),
                    ObjectPropName::Word(word) => word.value.to_owned(),
                };
                let node = of_json(property.value);
                if let Some(position) = known.get(&name) {
                    entries[*position] = Entry { name, node, again: true };
                } else {
                    known.insert(name.clone(), entries.len());
                    entries.push(Entry { name, node, again: false });
                }
            }
            Value::Table(entries)
        }
    };
    Node { at, value }
}

/// Parses TOML, where a duplicate key is a mistake, and so is nesting deeper than 80.
pub(crate) fn toml(text: &str) -> Result<Node, Mistake> {
    let parsed = DeTable::parse(text).map_err(|error| {
        let says = error.message().lines().collect::<Vec<_>>().join(", ");
        Mistake::at(text, error.span(), says)
    })?;
    Ok(Node { at: parsed.span().start, value: of_table(parsed.into_inner()) })
}

fn of_table(table: DeTable<'_>) -> Value {
    let mut entries: Vec<(usize, Entry)> = Vec::new();
    for (name, value) in table {
        let (place, at) = (name.span().start, value.span().start);
        let node = Node { at, value: of_toml(value.into_inner()) };
        entries.push((place, Entry { name: name.into_inner().into_owned(), node, again: false }));
    }
    // The parser sorts by name; people read in file order.
    entries.sort_by_key(|(place, _)| *place);
    Value::Table(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn of_toml(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Boolean(boolean) => Value::Boolean(boolean),
        DeValue::Integer(number) => Value::Number(number.to_string()),
        DeValue::Float(number) => Value::Number(number.to_string()),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Table(table) => of_table(table),
        DeValue::Array(list) => {
            let one =
                |value: toml::Spanned<DeValue<'_>>| Node { at: value.span().start, value: of_toml(value.into_inner()) };
            Value::List(list.into_iter().map(one).collect())
        }
    }
}
