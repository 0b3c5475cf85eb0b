//! `read_media_file`: the bytes of an image, an audio file, or any other file.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{ContentBlock, ResourceContents};
use rootward_core::{OpenFile, PathStyle, RootUri, Shown};
use rootward_server::GrantError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::read_text_file::SMALL;
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

/// The largest file to return, in bytes.
const LARGEST: u64 = 8 << 20;

pub(crate) struct ReadMediaFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath,
}

impl FileTool for ReadMediaFile {
    const ABOUT: About = About {
        name: "read_media_file",
        title: "Read Media File",
        description: "Read an image, a sound or any other binary file, at most 8 MiB.",
        effect: Effect::Reads,
        output: Output::Data(|| json!({"content": {"type": "array", "items": {"type": "object"}}})),
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let file = path.open()?;
        let name = file.path().to_owned();
        let bytes =
            if file.size() <= SMALL { encoded(&file)? } else { call.apart("bytes", move |_| encoded(&file)).await? };
        let block = block(&name, bytes);
        let data = serde_json::to_value(&block).unwrap_or(Value::Null);
        Ok(Answer::Data { shown: vec![block], data: json!({ "content": [data] }) })
    }
}

fn encoded(file: &OpenFile) -> Result<String, Failure> {
    let path = file.path().to_owned();
    let bytes = file.read_whole(LARGEST).map_err(|error| match error {
        GrantError::TooLarge { size, .. } => Failure::said(format!(
            "`{}` has {size} bytes, but one answer holds at most 8 MiB of media; `read_text_file` reads some lines of a file that is text",
            Shown::new(&path)
        )),
        error => error.into(),
    })?;
    Ok(STANDARD.encode(bytes))
}

/// The content block for a file, chosen by its name.
fn block(path: &Path, bytes: String) -> ContentBlock {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref().unwrap_or_default() {
        "png" => ContentBlock::image(bytes, "image/png"),
        "jpg" | "jpeg" => ContentBlock::image(bytes, "image/jpeg"),
        "gif" => ContentBlock::image(bytes, "image/gif"),
        "webp" => ContentBlock::image(bytes, "image/webp"),
        "bmp" => ContentBlock::image(bytes, "image/bmp"),
        "svg" => ContentBlock::image(bytes, "image/svg+xml"),
        "mp3" => ContentBlock::audio(bytes, "audio/mpeg"),
        "wav" => ContentBlock::audio(bytes, "audio/wav"),
        "ogg" => ContentBlock::audio(bytes, "audio/ogg"),
        "flac" => ContentBlock::audio(bytes, "audio/flac"),
        _ => {
            let contents = ResourceContents::blob(bytes, uri(path)).with_mime_type("application/octet-stream");
            ContentBlock::resource(contents)
        }
    }
}

/// The file's URI. A root's URI must be UTF-8; this one only names what was read, so any byte may be escaped in it.
fn uri(path: &Path) -> String {
    if let Ok(uri) = RootUri::from_path(path, PathStyle::Posix) {
        return uri.as_str().to_owned();
    }
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}
