//! The answer to `roots/list`: complete, or in pages for servers that follow pages.

use std::num::NonZeroUsize;

use rmcp::ErrorData;
use rmcp::model::{ClientResult, ErrorCode, ServerPeerInfo};
use rmcp::service::{RequestContext, RoleClient};
use rootward_core::cursor::{self, CursorError};
use rootward_protocol::{RootRefusal, keys};
use serde_json::{Value, json};

use super::view::{Entry, View};
use super::wire;

/// A modern client library follows ten rounds for a call, and the call may need some itself.
const MODERN_PAGES: usize = 4;

/// Whether the cursors of a legacy server arrive: rmcp's own transports lose them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Cursors {
    Arrive,
    AreLost,
}

/// How a list is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cut {
    Whole,
    Pages(NonZeroUsize),
}

/// The answer for a server that sees `view`.
pub(super) fn answer(
    view: &View,
    context: &RequestContext<RoleClient>,
    cursors: Cursors,
    page: NonZeroUsize,
) -> Result<ClientResult, ErrorData> {
    let entries = match view {
        View::Known(entries) => entries,
        View::Unknown(reason) => return Err(failed(reason)),
    };
    let server = context.peer.peer_info();
    let server = server.as_deref();
    let modern = wire::is_modern(server);
    let cursor = match context.meta.get(keys::CURSOR) {
        None | Some(Value::Null) => None,
        Some(Value::String(cursor)) => Some(cursor.as_str()),
        Some(_) => return Err(unusable(CursorError::Malformed, None)),
    };
    let (entries, next) = part(entries, cursor, cut(server, modern, cursors, page, entries.len()))?;
    Ok(if modern { wire::modern_answer(entries, next) } else { wire::legacy_answer(entries, next) })
}

fn cut(server: Option<&ServerPeerInfo>, modern: bool, cursors: Cursors, page: NonZeroUsize, length: usize) -> Cut {
    // A partial list that looks complete would be worse than a long one.
    if !server.is_some_and(wire::follows_pages) || (!modern && cursors == Cursors::AreLost) {
        return Cut::Whole;
    }
    let least = if modern { length.div_ceil(MODERN_PAGES) } else { 1 };
    Cut::Pages(page.max(NonZeroUsize::new(least).unwrap_or(NonZeroUsize::MIN)))
}

/// The part of a list that begins at `cursor`, and the cursor of the next part.
fn part<'e>(entries: &'e [Entry], cursor: Option<&str>, cut: Cut) -> Result<(&'e [Entry], Option<String>), ErrorData> {
    match cut {
        Cut::Whole if cursor.is_none() => Ok((entries, None)),
        // This provider did not create it.
        Cut::Whole => Err(unusable(CursorError::Malformed, cursor)),
        Cut::Pages(size) => {
            let page = cursor::page(entries, View::version(entries), cursor, size);
            let page = page.map_err(|error| unusable(error, cursor))?;
            Ok((page.entries, page.next.map(cursor::Cursor::encode)))
        }
    }
}

/// A cursor that cannot be used.
fn unusable(error: CursorError, cursor: Option<&str>) -> ErrorData {
    let data = match error {
        CursorError::Malformed => json!({"received": cursor.map(shortened)}),
        CursorError::Stale { expected, received } => json!({"expected": expected, "received": received}),
    };
    ErrorData::invalid_params(error.to_string(), Some(data))
}

/// A peer's text may have any length, so cut it.
fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

/// For a server that was not told about roots.
pub(super) fn not_declared() -> ErrorData {
    let data = json!({"reason": "the client does not declare roots to this server"});
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Roots not supported", Some(data))
}

/// The error that a peer gets for a root that cannot be added or shared.
pub fn refused_root(refusal: &RootRefusal) -> ErrorData {
    ErrorData::new(ErrorCode(refusal.code()), refusal.message(), Some(refusal.data()))
}

/// What is shared is not known.
pub(super) fn failed(reason: &str) -> ErrorData {
    ErrorData::internal_error("Roots not known", Some(json!({"reason": reason})))
}

#[cfg(test)]
mod tests {
    use rootward_core::Access;

    use super::*;

    fn entries(count: usize) -> Vec<Entry> {
        let entry = |number| Entry { uri: format!("file:///{number}"), name: None, access: Access::READ, meta: None };
        (0..count).map(entry).collect()
    }

    fn pages(size: usize) -> Cut {
        Cut::Pages(NonZeroUsize::new(size).unwrap())
    }

    #[test]
    fn a_cursor_is_of_one_version() {
        let (before, after) = (entries(5), entries(6));
        let (first, next) = part(&before, None, pages(2)).unwrap();
        assert_eq!(first, &before[..2]);
        let (second, _) = part(&before, next.as_deref(), pages(2)).unwrap();
        assert_eq!(second, &before[2..4]);
        let stale = part(&after, next.as_deref(), pages(2)).unwrap_err();
        assert_eq!(stale.code, ErrorCode::INVALID_PARAMS);
        assert_eq!(stale.message, "Stale cursor for roots/list; please restart pagination");
        let versions = json!({"expected": View::version(&after), "received": View::version(&before)});
        assert_eq!(stale.data, Some(versions));
        // The list is unchanged, and so is its version.
        assert!(part(&entries(5), next.as_deref(), pages(2)).is_ok());
    }

    #[test]
    fn a_root_that_cannot_be_shared_is_the_protocols_error() {
        let wish = |uri: &str| crate::consent::Wish::of_uri_ambient(uri, Access::READ, None, None);
        let check = |uri: &str, code, message: &str| {
            let error = refused_root(&wish(uri).unwrap_err());
            assert_eq!((error.code, &*error.message), (code, message), "{uri}");
            let data = error.data.unwrap();
            assert!(data["uri"] == uri && data["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{data}");
        };
        check("http://example.com/path", ErrorCode::INVALID_PARAMS, "Invalid root URI");
        check("file:///a%2Fb", ErrorCode::INVALID_PARAMS, "Invalid root URI");
        check("file:///etc", ErrorCode::INTERNAL_ERROR, "Root access denied");
        check("file:///nothing/of/that/name", ErrorCode::INTERNAL_ERROR, "Root access denied");
    }

    #[test]
    fn foreign_cursors_are_malformed() {
        let entries = entries(5);
        let (_, made) = part(&entries, None, pages(2)).unwrap();
        let long = "x".repeat(10_000);
        for (cursor, cut) in [("garbage", pages(2)), ("", pages(2)), (&long, pages(2)), (&made.unwrap(), Cut::Whole)] {
            let error = part(&entries, Some(cursor), cut).unwrap_err();
            assert_eq!((error.code, &*error.message), (ErrorCode::INVALID_PARAMS, "Malformed cursor for roots/list"));
            let received = error.data.unwrap()["received"].as_str().unwrap().to_owned();
            assert!(cursor.starts_with(&received) && received.len() <= 64);
        }
    }

    #[test]
    fn a_list_is_cut_only_for_those_who_follow() {
        use rmcp::model::{ProtocolVersion, ServerCapabilities};
        let fifty = NonZeroUsize::new(50).unwrap();
        let server = |version, capabilities: Value| {
            let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap();
            ServerPeerInfo::new(version, capabilities)
        };
        let follows = json!({"extensions": {"rootward.dev/roots-paging": {}}});
        let legacy = server(ProtocolVersion::V_2025_11_25, follows.clone());
        let modern = server(ProtocolVersion::V_2026_07_28, follows);
        let other = server(ProtocolVersion::V_2025_11_25, json!({}));
        let experimental = json!({"experimental": {"rootward.dev/roots-paging": {}}});
        let experimental = server(ProtocolVersion::V_2025_11_25, experimental);
        let check = |server: Option<&ServerPeerInfo>, cursors, length, expect| {
            assert_eq!(cut(server, wire::is_modern(server), cursors, fifty, length), expect, "{server:?}");
        };
        check(Some(&legacy), Cursors::Arrive, 1000, pages(50));
        check(Some(&experimental), Cursors::Arrive, 1000, pages(50));
        check(Some(&legacy), Cursors::AreLost, 1000, Cut::Whole);
        check(Some(&other), Cursors::Arrive, 1000, Cut::Whole);
        check(None, Cursors::Arrive, 1000, Cut::Whole);
        check(Some(&modern), Cursors::AreLost, 100, pages(50));
        check(Some(&modern), Cursors::AreLost, 1000, pages(250));
        check(Some(&modern), Cursors::AreLost, 0, pages(50));
    }
}
