//! Resources: a text, an image, one for subscriptions, and a template.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::content::PICTURE;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

/// All resources.
pub(crate) fn list() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, kind: &str| {
        Resource::new(uri, name).with_description(format!("A fixture: {name}")).with_mime_type(kind)
    };
    vec![
        resource(TEXT, "static text", "text/plain"),
        resource(BINARY, "static binary", "image/png"),
        resource(WATCHED, "watched resource", "text/plain"),
    ]
}

/// The resource templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("test://template/{id}/data", "template")
            .with_description("A fixture: data by number")
            .with_mime_type("application/json"),
    ]
}

/// Reads a resource.
pub(crate) fn read(uri: &str) -> Result<ReadResourceResponse, ErrorData> {
    let contents = match uri {
        TEXT => ResourceContents::text("This is the content of the static text resource.", uri),
        BINARY => ResourceContents::blob(PICTURE, uri).with_mime_type("image/png"),
        WATCHED => ResourceContents::text("Nothing has changed.", uri),
        _ => {
            let id = by_template(uri).ok_or_else(|| not_found(uri))?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Ok(ReadResourceResult::new(vec![contents]).into())
}

/// Checks that a resource exists. Resources never change here, so subscribers need not be stored.
pub(crate) fn known(uri: &str) -> Result<(), ErrorData> {
    read(uri).map(drop)
}

fn by_template(uri: &str) -> Option<&str> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}

fn not_found(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("resource not found", Some(json!({"uri": uri})))
}
