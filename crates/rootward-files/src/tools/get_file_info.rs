//! `get_file_info`: the metadata of a file or directory.

use std::fmt::Write;
use std::time::SystemTime;

use rootward_core::FileKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::schemas::or_null;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct GetFileInfo;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath,
}

impl FileTool for GetFileInfo {
    const ABOUT: About = About {
        name: "get_file_info",
        title: "Get File Info",
        description: "Describe a file or directory: size in bytes, times (UTC), kind, octal permissions.",
        effect: Effect::Reads,
        output: Output::Data(properties),
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, _: &Call) -> Result<Answer, Failure> {
        let metadata = path.metadata()?;
        let mut data = json!({
            "size": metadata.size,
            "created": metadata.created.and_then(in_words),
            "modified": metadata.modified.and_then(in_words),
            "accessed": metadata.accessed.and_then(in_words),
            "isDirectory": metadata.kind == FileKind::Directory,
            "isFile": metadata.kind == FileKind::File,
            "permissions": format!("{:03o}", metadata.mode & 0o777),
        });
        let mut text = String::new();
        for name in ["size", "created", "modified", "accessed", "isDirectory", "isFile", "permissions"] {
            let newline = if text.is_empty() { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = match &data[name] {
                Value::String(value) => write!(text, "{newline}{name}: {value}"),
                Value::Null => write!(text, "{newline}{name}: unknown"),
                value => write!(text, "{newline}{name}: {value}"),
            };
        }
        data["kind"] = json!(metadata.kind);
        data["content"] = json!(text);
        Ok(Answer::with_data(text, data))
    }
}

/// ISO 8601, to the millisecond; `None` for years without four digits and times before 1970.
fn in_words(time: SystemTime) -> Option<String> {
    time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let mut text = String::new();
    write!(text, "{}", humantime::format_rfc3339_millis(time)).ok()?;
    Some(text)
}

fn properties() -> Value {
    let time = or_null("string");
    json!({
        "content": {"type": "string"},
        "size": {"type": "integer"},
        "created": time,
        "modified": time,
        "accessed": time,
        "isDirectory": {"type": "boolean"},
        "isFile": {"type": "boolean"},
        "permissions": {"type": "string"},
        "kind": {"type": "string"},
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_have_words_or_none() {
        let epoch = SystemTime::UNIX_EPOCH;
        assert_eq!(in_words(epoch + Duration::from_millis(1_500)).as_deref(), Some("1970-01-01T00:00:01.500Z"));
        assert_eq!(in_words(epoch - Duration::from_secs(1)), None);
        assert_eq!(in_words(epoch + Duration::from_secs(1 << 40)), None);
    }
}
