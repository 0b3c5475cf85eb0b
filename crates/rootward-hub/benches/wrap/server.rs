//! The smallest MCP server: this very program with another argument, so that the server is not what is measured.

use std::io::{BufRead, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Outcome;

/// The argument that makes this program the server.
pub(crate) const SERVE: &str = "--serve";

/// How long the text is that the tool `big` answers with.
pub(crate) const BIG: usize = 1_000_000;

const TOOLS: &str = r#"{"tools":[
{"name":"echo","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},
{"name":"look","description":"Names a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},
{"name":"big","description":"Says much","inputSchema":{"type":"object","properties":{}}}]}"#;

#[derive(Deserialize)]
struct Question<'l> {
    #[serde(borrow)]
    id: Option<&'l RawValue>,
    method: &'l str,
    #[serde(borrow)]
    params: Option<Params<'l>>,
}

#[derive(Deserialize)]
struct Params<'l> {
    #[serde(borrow, rename = "protocolVersion")]
    version: Option<&'l RawValue>,
    name: Option<&'l str>,
    #[serde(borrow)]
    arguments: Option<Arguments<'l>>,
}

#[derive(Deserialize)]
struct Arguments<'l> {
    #[serde(borrow)]
    text: Option<&'l RawValue>,
    #[serde(borrow)]
    path: Option<&'l RawValue>,
}

/// Answers each line until there are no more.
pub(crate) fn serve() -> Outcome<()> {
    let (mut questions, mut answers) = (std::io::stdin().lock(), std::io::stdout().lock());
    let tools = TOOLS.replace('\n', "");
    // Lines of text, as a file has them.
    let line = "Each line of this text is as long as a line of a program may be, and no longer.\\n";
    let big = format!("\"{}\"", line.repeat(BIG / line.len()));
    let (mut question, mut answer) = (Vec::new(), Vec::new());
    while questions.read_until(b'\n', &mut question)? > 0 {
        let Question { id, method, params } = serde_json::from_slice(&question)?;
        if let Some(id) = id {
            answer.clear();
            write!(answer, r#"{{"jsonrpc":"2.0","id":{id},"result":"#)?;
            match (method, params) {
                ("initialize", Some(Params { version: Some(version), .. })) => write!(
                    answer,
                    r#"{{"protocolVersion":{version},"capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"echo","version":"1"}}}}"#
                )?,
                ("tools/list", _) => answer.extend_from_slice(tools.as_bytes()),
                (_, Some(Params { name: Some(name), arguments, .. })) => {
                    let said = arguments.and_then(|arguments| arguments.text.or(arguments.path)).map(RawValue::get);
                    let text = if name == "big" { &big } else { said.unwrap_or("null") };
                    write!(answer, r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)?;
                }
                _ => answer.extend_from_slice(b"{}"),
            }
            answer.extend_from_slice(b"}\n");
            answers.write_all(&answer)?;
        }
        question.clear();
    }
    Ok(())
}
