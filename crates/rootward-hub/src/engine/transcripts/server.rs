//! An in-memory server for both eras that offers what the transcripts call. It trusts every path: `wrap` checks them.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use serde_json::{Value, json};

/// The key of a modern request's revision.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The state between two rounds of a tool.
const OWN_STATE: &str = "own state";
/// The key of the server's request for roots.
const ROOTS: &str = "roots";

/// A server. Relative paths start in its directory.
pub(super) struct FileServer {
    directory: PathBuf,
    /// Calls that wait for the client's roots, by the id of the request.
    counting: HashMap<String, Value>,
}

/// A result, or a JSON-RPC error.
type Answer = Result<Value, Value>;

impl FileServer {
    pub(super) fn new(directory: Option<PathBuf>) -> FileServer {
        FileServer { directory: directory.unwrap_or_default(), counting: HashMap::new() }
    }

    /// Handles a line. Returns the lines of the answer.
    pub(super) fn hear(&mut self, line: &str) -> Vec<String> {
        let message: Value = serde_json::from_str(line).expect("wrap passes on JSON");
        let (id, params) = (&message["id"], &message["params"]);
        let answer = match message["method"].as_str() {
            None => return self.hear_roots(&message).into_iter().collect(),
            Some(_) if id.is_null() => return Vec::new(),
            Some("tools/call") if params["name"] == "count" && !is_modern(params) => {
                return vec![self.ask_for_roots(id)];
            }
            Some("initialize") => Ok(greeting(params)),
            Some("ping") => Ok(json!({})),
            Some("tools/list") => Ok(json!({"tools": tools()})),
            Some("tools/call") => self.call(params),
            Some("resources/read") => self.resource(&params["uri"]),
            Some("completion/complete") => Ok(json!({"completion": {"values": []}})),
            Some("prompts/get") => self.prompt(&params["arguments"]["path"]),
            Some(method) => Err(json!({"code": -32601, "message": format!("no such method: {method}")})),
        };
        vec![
            match answer {
                Ok(mut result) => {
                    if is_modern(params) && result["resultType"].is_null() {
                        result["resultType"] = json!("complete");
                    }
                    json!({"jsonrpc": "2.0", "id": id, "result": result})
                }
                Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
            }
            .to_string(),
        ]
    }

    /// Asks the client for its roots, which this call counts.
    fn ask_for_roots(&mut self, call: &Value) -> String {
        let id = format!("count {call}");
        self.counting.insert(id.clone(), call.clone());
        json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}).to_string()
    }

    fn hear_roots(&mut self, answer: &Value) -> Option<String> {
        let call = self.counting.remove(answer["id"].as_str()?)?;
        Some(json!({"jsonrpc": "2.0", "id": call, "result": counted(&answer["result"])}).to_string())
    }

    fn call(&self, params: &Value) -> Answer {
        let path = &params["arguments"]["path"];
        Ok(match params["name"].as_str().unwrap_or_default() {
            "read" | "by_hand" => told(self.read(path)),
            "create" => told(self.create(path)),
            "echo" => told(Ok(path.as_str().unwrap_or_default().to_owned())),
            "roots_first" => self.greet(params),
            "roots_last" => self.greet_with_roots(params),
            "count" => match &params["inputResponses"][ROOTS] {
                Value::Null => question(ROOTS, &json!({"method": "roots/list"}), OWN_STATE),
                list => counted(list),
            },
            other => return Err(json!({"code": -32602, "message": format!("no such tool: {other}")})),
        })
    }

    /// Asks for a name, then reads.
    fn greet(&self, params: &Value) -> Value {
        match params["requestState"].as_str() {
            None => who(),
            Some(OWN_STATE) => self.greeting(&params["inputResponses"]["name"], params),
            Some(_) => told(Err(io::Error::other("not mine"))),
        }
    }

    /// Asks for a name, then for roots, then reads.
    fn greet_with_roots(&self, params: &Value) -> Value {
        let answers = &params["inputResponses"];
        match params["requestState"].as_str().map(|state| state.strip_prefix(OWN_STATE)) {
            None => who(),
            Some(Some("")) => {
                question(ROOTS, &json!({"method": "roots/list"}), &format!("{OWN_STATE}{}", answers["name"]))
            }
            Some(Some(name)) if answers[ROOTS]["roots"].is_array() => {
                self.greeting(&serde_json::from_str(name).unwrap_or_default(), params)
            }
            Some(_) => told(Err(io::Error::other("not mine"))),
        }
    }

    fn greeting(&self, name: &Value, params: &Value) -> Value {
        let name = name["content"]["name"].as_str().unwrap_or("nobody");
        told(self.read(&params["arguments"]["path"]).map(|text| format!("{name} read {text}")))
    }

    fn resource(&self, uri: &Value) -> Answer {
        let text = self.read(uri).map_err(|error| json!({"code": -32603, "message": error.to_string()}))?;
        Ok(json!({"contents": [{"uri": uri, "text": text}]}))
    }

    fn prompt(&self, path: &Value) -> Answer {
        let text = self.read(path).map_err(|error| json!({"code": -32603, "message": error.to_string()}))?;
        Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
    }

    fn place(&self, path: &Value) -> PathBuf {
        let path = path.as_str().unwrap_or_default();
        self.directory.join(path.strip_prefix("file://").unwrap_or(path))
    }

    #[expect(clippy::disallowed_methods, reason = "a server that checks nothing")]
    fn read(&self, path: &Value) -> io::Result<String> {
        std::fs::read_to_string(self.place(path))
    }

    #[expect(clippy::disallowed_methods, reason = "a server that checks nothing")]
    fn create(&self, path: &Value) -> io::Result<String> {
        std::fs::File::create_new(self.place(path)).map(|_| "created".to_owned())
    }
}

fn is_modern(params: &Value) -> bool {
    !params["_meta"][VERSION].is_null()
}

fn greeting(params: &Value) -> Value {
    json!({
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "files", "version": "1"},
    })
}

fn tools() -> Vec<Value> {
    let path = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = |name: &str| json!({"name": name, "inputSchema": path});
    let mut tools: Vec<Value> = ["read", "create", "by_hand", "echo", "roots_first", "roots_last"].map(tool).into();
    tools.push(json!({"name": "count", "inputSchema": {"type": "object"}}));
    tools
}

/// The result of a tool.
fn told(text: io::Result<String>) -> Value {
    let (text, is_error) = text.map_or_else(|error| (error.to_string(), true), |text| (text, false));
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn counted(list: &Value) -> Value {
    told(Ok(list["roots"].as_array().map_or(0, Vec::len).to_string()))
}

/// A question instead of a result.
fn question(name: &str, question: &Value, state: &str) -> Value {
    json!({"resultType": "input_required", "inputRequests": {name: question}, "requestState": state})
}

fn who() -> Value {
    let schema = json!({"type": "object", "properties": {}});
    let params = json!({"mode": "form", "message": "who?", "requestedSchema": schema});
    question("name", &json!({"method": "elicitation/create", "params": params}), OWN_STATE)
}
