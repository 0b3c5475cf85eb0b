//! Resource templates in `completion/complete`: the request names a template and the typed value, and the server
//! builds a URI from them.

use serde_json::{Map, Value};

use super::ScanError;

/// The URI that params of `completion/complete` lead to: the template filled in with the typed value and earlier
/// values (`context`). `None` if there is no template with variables.
pub(super) fn completed_uri(params: &str) -> Result<Option<String>, ScanError> {
    // SECURITY: params that cannot be parsed here (a lone surrogate, too much nesting) might be parsed by others
    // (test: what_names_no_template)
    let params: Value = serde_json::from_str(params).map_err(|_| ScanError::Malformed)?;
    Ok(filled_in(&params))
}

fn filled_in(params: &Value) -> Option<String> {
    let template = params.get("ref")?.get("uri")?.as_str().filter(|uri| uri.contains('{'))?;
    let argument = params.get("argument")?;
    let typed = (argument.get("name")?.as_str()?, argument.get("value")?.as_str()?);
    let nothing = Map::new();
    let before = params.get("context").and_then(|context| context.get("arguments")).and_then(Value::as_object);
    let before = before.unwrap_or(&nothing);
    Some(expand(template, &|name| {
        if name == typed.0 { typed.1 } else { before.get(name).and_then(Value::as_str).unwrap_or_default() }
    }))
}

/// Fills in a template as careless parsers do, without escaping values (RFC 6570).
fn expand<'v>(template: &str, value: &dyn Fn(&str) -> &'v str) -> String {
    let mut expanded = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        expanded.push_str(before);
        let Some((expression, behind)) = behind.split_once('}') else {
            // No closing brace: the rest is text.
            expanded.push('{');
            rest = behind;
            continue;
        };
        let (first, between, names) = match expression.chars().next() {
            Some('+') => ("", ",", &expression[1..]),
            Some('#') => ("#", ",", &expression[1..]),
            Some('/') => ("/", "/", &expression[1..]),
            Some('.') => (".", ".", &expression[1..]),
            Some(';') => (";", ";", &expression[1..]),
            Some('?') => ("?", "&", &expression[1..]),
            Some('&') => ("&", "&", &expression[1..]),
            _ => ("", ",", expression),
        };
        // `{path*}` and `{path:3}`: how much of a value the server uses is not known, so use all of it.
        let names = names.split(',').map(|name| name.trim_end_matches('*').split(':').next().unwrap_or_default());
        let values: Vec<&str> = names.map(|name| value(name.trim())).filter(|value| !value.is_empty()).collect();
        if !values.is_empty() {
            expanded.push_str(first);
            expanded.push_str(&values.join(between));
        }
        rest = behind;
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_are_filled_in() {
        let check = |template: &str, expect: &str| {
            let params = json!({
                "ref": {"type": "ref/resource", "uri": template},
                "argument": {"name": "path", "value": "etc/passwd"},
                "context": {"arguments": {"host": "h", "path": "other"}},
            });
            assert_eq!(completed_uri(&params.to_string()), Ok(Some(expect.to_owned())), "{template}");
        };
        check("file:///{path}", "file:///etc/passwd");
        check("file:///{+path}", "file:///etc/passwd");
        check("file:///{path*}", "file:///etc/passwd");
        check("file:///{path:40}", "file:///etc/passwd");
        check("file://{/path*}", "file:///etc/passwd");
        check("file://{/host,path}", "file:///h/etc/passwd");
        check("file:///{host}/{ path }", "file:///h/etc/passwd");
        check("file:///{none}{path}{?query}", "file:///etc/passwd");
        check("file:///{path", "file:///{path");
        check("{path}", "etc/passwd");
        check("x://{host}{?path,host}{&none}", "x://h?etc/passwd&h");
    }

    #[test]
    fn what_names_no_template() {
        for params in [
            json!({}),
            json!([]),
            json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "path", "value": "x"}}),
            json!({"ref": {"uri": "file:///etc/passwd"}, "argument": {"name": "path", "value": "x"}}),
            json!({"ref": {"uri": "file:///{path}"}}),
        ] {
            assert_eq!(completed_uri(&params.to_string()), Ok(None), "{params}");
        }
        let named = r#""ref":{"uri":"file:///{path}"},"argument":{"name":"path","value":"etc/passwd"}"#;
        let deep = format!(r#"{{{named},"x":{}{}}}"#, "[".repeat(127), "]".repeat(127));
        for params in [deep, format!(r#"{{{named},"x":"\ud800"}}"#)] {
            assert_eq!(completed_uri(&params), Err(ScanError::Malformed), "{params}");
        }
    }
}
