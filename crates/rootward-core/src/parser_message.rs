//! The messages of parsers, in terms of the file rather than of the program.

/// A message of the TOML parser. `#[serde(expecting = "a table with …")]` names the keys of a table.
pub fn toml(message: &str) -> String {
    let says = message.lines().collect::<Vec<_>>().join(", ");
    let of_type = says.strip_prefix("invalid type: ").or_else(|| says.strip_prefix("invalid value: "));
    if let Some((found, expected)) = of_type.and_then(|rest| rest.rsplit_once(", expected ")) {
        let expected = match expected {
            "a boolean" | "a string" => expected,
            "a sequence" => "a list",
            "a TOML datetime" => "a date and time",
            "u64" => "a non-negative integer",
            "i64" => "an integer",
            table if table.starts_with("a table") => table,
            _ => "a table",
        };
        let found = match found {
            "sequence" => "a list".to_owned(),
            "map" => "a table".to_owned(),
            // The parser quotes strings and puts everything else in backticks.
            other => other.replace('"', "`"),
        };
        return format!("expected {expected}, found {found}");
    }
    let known = [("unknown field", "unknown key"), ("missing field", "missing key")];
    let known = known.iter().find_map(|(theirs, ours)| Some(format!("{ours}{}", says.strip_prefix(theirs)?)));
    known.unwrap_or(says)
}

/// A message of the JSON parser, which begins with an upper-case letter.
pub fn json(message: &str) -> String {
    let mut letters = message.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_parsers() {
        let check = |message: &str, expect: &str| assert_eq!(toml(message), expect);
        check("invalid type: string \"x\", expected u64", "expected a non-negative integer, found string `x`");
        check("invalid type: integer `1`, expected a boolean", "expected a boolean, found integer `1`");
        check("invalid type: map, expected a sequence", "expected a list, found a table");
        check("invalid type: sequence, expected struct Root", "expected a table, found a list");
        check("invalid type: string \"x\", expected a table with `a`", "expected a table with `a`, found string `x`");
        check("unknown field `a`, expected `b`", "unknown key `a`, expected `b`");
        check("missing field `a`", "missing key `a`");
        check("invalid string\nexpected `'`", "invalid string, expected `'`");
        assert_eq!(json("Unexpected token"), "unexpected token");
        assert_eq!(json(""), "");
    }
}
