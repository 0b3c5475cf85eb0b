//! A resource's contents: text if it is UTF-8, otherwise bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memchr;
use rmcp::model::ResourceContents;
use rootward_core::{Grant, Shown};
use rootward_server::GrantError;

use super::media_type;
use crate::failure::Failure;

/// The largest file to return, in bytes.
const LARGEST: u64 = 8 << 20;

/// Reads a resource. `uri` is the client's URI for it.
pub(crate) fn read(grant: &Grant, uri: &str) -> Result<ResourceContents, Failure> {
    let path = grant.named_path();
    let bytes = grant.read(LARGEST).map_err(|error| match error {
        GrantError::TooLarge { size, .. } => Failure::said(format!(
            "`{}` has {size} bytes, but a resource holds at most 8 MiB; the tool `read_text_file` reads some lines of a text file",
            Shown::new(&path)
        )),
        error => error.into(),
    })?;
    let kind = media_type(&path);
    let contents = match String::from_utf8(bytes) {
        Ok(text) if memchr(0, text.as_bytes()).is_none() => {
            ResourceContents::text(text, uri).with_mime_type(kind.unwrap_or("text/plain"))
        }
        Ok(text) => blob(text.as_bytes(), uri, kind),
        // Return bytes, because decoding would lose data.
        Err(error) => blob(error.as_bytes(), uri, kind),
    };
    Ok(contents)
}

fn blob(bytes: &[u8], uri: &str, kind: Option<&str>) -> ResourceContents {
    ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(kind.unwrap_or("application/octet-stream"))
}
