//! The smallest MCP server: the benchmark itself with another argument. It is small so that the benchmark does not measure it.

use std::error::Error;
use std::io::{BufRead, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

/// The argument that starts a benchmark as the server.
pub const SERVE: &str = "--serve";

/// The length of the text that `big` and `ready` return.
pub const BIG: usize = 1_000_000;

/// A server for `node -e` that answers every call with such a text.
pub const NODE: &str = "
const text = ('x'.repeat(79) + '\\n').repeat(12500);
const results = {
  'initialize': ({protocolVersion}) =>
    ({protocolVersion, capabilities: {tools: {}}, serverInfo: {name: 'node', version: '1'}}),
  'tools/list': () => ({tools: [{name: 'big', inputSchema: {type: 'object'}}]}),
  'tools/call': () => ({content: [{type: 'text', text}]}),
};
require('readline').createInterface({input: process.stdin}).on('line', line => {
  const {id, method, params} = JSON.parse(line);
  if (id !== undefined) {
    process.stdout.write(JSON.stringify({jsonrpc: '2.0', id, result: results[method](params)}) + '\\n');
  }
});";

const TOOLS: &str = r#"{"tools":[
{"name":"echo","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},
{"name":"look","description":"Names a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},
{"name":"big","description":"Says much","inputSchema":{"type":"object","properties":{}}},
{"name":"ready","description":"Says much","inputSchema":{"type":"object","properties":{}}}]}"#;

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

/// Answers each line until the end of stdin.
pub fn serve() -> Result<(), Box<dyn Error>> {
    let (mut questions, mut answers) = (std::io::stdin().lock(), std::io::stdout().lock());
    let tools = TOOLS.replace('\n', "");
    // Lines of text, like a file.
    let line = "Each line of this text is as long as a line of a program may be, and no longer.\n";
    let big = line.repeat(BIG.div_ceil(line.len()));
    let ready = serde_json::to_string(&big)?;
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
                    answer.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
                    match name {
                        "big" => serde_json::to_writer(&mut answer, &big)?,
                        "ready" => answer.extend_from_slice(ready.as_bytes()),
                        _ => answer.extend_from_slice(said.unwrap_or("null").as_bytes()),
                    }
                    answer.extend_from_slice(b"}]}");
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
