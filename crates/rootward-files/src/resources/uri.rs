//! Paths as URIs, and media types by file name.

use std::path::Path;

use rootward_core::{PathStyle, RootUri};

/// The URI of a file; `None` if its path is not UTF-8.
pub(crate) fn of_path(path: &Path) -> Option<String> {
    RootUri::from_path(path, PathStyle::Posix).ok().map(|uri| uri.as_str().to_owned())
}

/// A single name, escaped for a URI.
pub(crate) fn escaped_name(name: &str) -> Option<String> {
    let uri = of_path(&Path::new("/").join(name))?;
    uri.strip_prefix("file:///").map(str::to_owned)
}

/// The media type of a file, by its name.
pub(crate) fn media_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "md" | "markdown" | "mdx" => "text/markdown",
        "txt" | "log" | "rst" | "adoc" => "text/plain",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "js" | "mjs" | "cjs" | "jsx" => "text/javascript",
        "ts" | "mts" | "cts" | "tsx" => "text/x-typescript",
        "rs" => "text/x-rust",
        "py" | "pyi" => "text/x-python",
        "go" => "text/x-go",
        "java" => "text/x-java",
        "c" | "h" => "text/x-c",
        "cc" | "cpp" | "cxx" | "hpp" => "text/x-c++",
        "sh" | "bash" => "text/x-shellscript",
        "json" => "application/json",
        "toml" => "application/toml",
        "yaml" | "yml" => "application/yaml",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "wasm" => "application/wasm",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "ogg" => "audio/ogg",
        _ => return None,
    })
}
