//! The control: a server for the same protocol that checks a path and then opens it by name.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rootward_testkit::door::{Door, Outcome, Request};
use rootward_testkit::escape::Act;
use rootward_testkit::naive::Naive;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// Serves these roots until the client disconnects.
pub(crate) async fn serve(there: DuplexStream, ground: Arc<Request>) {
    let (read, mut write) = tokio::io::split(there);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str() {
            Some("tools/call") => answer(&ground, &message["params"]),
            _ => json!({}),
        };
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        if write.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

fn answer(ground: &Request, parameters: &Value) -> Value {
    let arguments = &parameters["arguments"];
    let text = |key: &str| arguments[key].as_str().map(|text| text.as_bytes().to_vec());
    let tool = parameters["name"].as_str().unwrap_or_default();
    let act = match tool {
        "path_in_roots" => Act::Check,
        "get_file_info" => Act::Stat,
        "list_directory" | "list_directory_with_sizes" | "directory_tree" | "search_files" => Act::List,
        "write_file" | "edit_file" => Act::Put,
        "append_file" => Act::Append,
        "create_directory" => Act::MakeDirectory,
        "delete_file" => Act::Remove,
        "move_file" => Act::Rename,
        "copy_file" => Act::Copy,
        "shell" => Act::Execute,
        _ => Act::Read,
    };
    let path = text("path").or_else(|| text("source")).or_else(|| text("cwd"));
    let path = path.or_else(|| arguments["paths"][0].as_str().map(|text| text.as_bytes().to_vec()));
    let data = text("content").unwrap_or_else(|| b"edited".to_vec());
    let request =
        Request { act, path: path.unwrap_or_default(), to: text("destination"), data, ..Request::clone(ground) };
    match Naive.act(&request) {
        Outcome::Done { content, entries, .. } => {
            let names = entries.map(|names| {
                names.iter().map(|name| format!("[FILE] {}", name.display())).collect::<Vec<_>>().join("\n")
            });
            let content = content.unwrap_or_default();
            let block = match tool {
                "read_media_file" => json!({"type": "image", "data": STANDARD.encode(content)}),
                _ => json!({"type": "text", "text": names.unwrap_or_else(|| String::from_utf8_lossy(&content).into())}),
            };
            json!({"content": [block], "isError": false, "structuredContent": {"inRoots": true}})
        }
        Outcome::Denied { code, message } => json!({
            "content": [{"type": "text", "text": message}],
            "isError": tool != "path_in_roots",
            "structuredContent": {"code": code, "inRoots": false, "reason": code},
        }),
        Outcome::Failed { message, .. } => {
            json!({"content": [{"type": "text", "text": message}], "isError": true})
        }
        Outcome::Unsupported => json!({"content": [{"type": "text", "text": "no such tool"}], "isError": true}),
    }
}
