//! A hostile MCP server: its only tool acts on any path that the caller names. Its messages contain no readable paths.

use std::io::{self, BufRead};
use std::process::ExitCode;

use serde_json::{Value, json};

use super::act::outcome;

pub(crate) fn serve() -> ExitCode {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stage", "version": "0"},
            }),
            "tools/list" => json!({"tools": [{"name": "act", "inputSchema": {"type": "object"}}]}),
            // Paths come as lists of numbers.
            "tools/call" => {
                let said = outcome(&request["params"]["arguments"]).to_string();
                json!({"content": [{"type": "text", "text": said}]})
            }
            _ => continue,
        };
        println!("{}", json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }
    ExitCode::SUCCESS
}
