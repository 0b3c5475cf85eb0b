//! What a server behind the service declares: that it follows pages, that it wants to know what the client's own
//! sandbox allows, and, if its author wants it, a resource and a sentence that tell a model the current roots.

use rmcp::model::{
    ErrorCode, Implementation, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities,
};
use rmcp::{ErrorData, model::ResourcesCapability};
use rootward_protocol::{keys, shown, tells_limits};

use crate::roots::Roots;
use crate::scope::Scope;
use crate::summary::{ROOTS_SENTENCE, ROOTS_URI, roots_resource};

/// How much of a URI to repeat to the client that asked for it, in characters.
const LONGEST_SHOWN: usize = 200;

/// Whether to offer the current roots as a resource.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RootsResource {
    Offered,
    NotOffered,
}

/// Whether to tell the client that it may send its list in pages: only if their cursors survive the transport.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Paging {
    Declared,
    NotDeclared,
}

/// Whether to ask the client what its own sandbox allows: only a client known to answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Limits {
    Asked,
    NotAsked,
}

impl Limits {
    pub(crate) fn of_client(client: Option<&Implementation>) -> Limits {
        if client.is_some_and(|client| tells_limits(&client.name)) { Limits::Asked } else { Limits::NotAsked }
    }

    /// Adds to the server's capabilities.
    pub(crate) fn declare(self, capabilities: &mut ServerCapabilities) {
        if self == Limits::Asked {
            capabilities.experimental.get_or_insert_default().entry(keys::SANDBOX_STATE.to_owned()).or_default();
        }
    }
}

impl RootsResource {
    /// Adds to the server's capabilities and instructions.
    pub(crate) fn declare(
        self,
        paging: Paging,
        capabilities: &mut ServerCapabilities,
        instructions: &mut Option<String>,
        roots: Option<&Roots>,
    ) {
        // SECURITY: a page mistaken for the whole list may lack the entries that close a part of it
        // (test: paging_is_declared_only_where_cursors_arrive)
        if paging == Paging::Declared {
            capabilities.extensions.get_or_insert_default().entry(keys::PAGING.to_owned()).or_default();
        }
        if self == RootsResource::Offered {
            capabilities.resources.get_or_insert_with(ResourcesCapability::default);
            // A client that can be asked lists its roots after this.
            let now = roots.map(|roots| format!(" {}", roots.sentence())).unwrap_or_default();
            *instructions = Some(match instructions.take() {
                Some(before) if !before.is_empty() => format!("{before}\n\n{ROOTS_SENTENCE}{now}"),
                _ => format!("{ROOTS_SENTENCE}{now}"),
            });
        }
    }

    /// Adds to the capabilities for modern clients: they are notified of changes to the resource.
    pub(crate) fn declare_updates(self, capabilities: &mut ServerCapabilities) {
        if self == RootsResource::Offered {
            capabilities.resources.get_or_insert_default().subscribe = Some(true);
        }
    }

    /// Adds the resource to the first page of a resource list.
    pub(crate) fn list(
        self,
        asked: Option<&PaginatedRequestParams>,
        resources: &mut ListResourcesResult,
        roots: Option<&Roots>,
    ) {
        let first = asked.is_none_or(|asked| asked.cursor.is_none());
        if self == RootsResource::Offered && first {
            resources.resources.push(roots_resource(roots));
        }
    }

    /// The error for a resource that the handler does not have. A handler without resources answers "no such method",
    /// but this server declares the method anyway.
    pub(crate) fn unknown(self, uri: &str, error: ErrorData) -> ErrorData {
        if self == RootsResource::Offered && error.code == ErrorCode::METHOD_NOT_FOUND {
            let uri = shown(uri, LONGEST_SHOWN);
            return ErrorData::resource_not_found(format!("no such resource: `{uri}`"), None);
        }
        error
    }

    /// Answers for the roots resource within a call; `None` for any other resource.
    pub(crate) fn read(self, asked: &ReadResourceRequestParams) -> Option<Result<ReadResourceResponse, ErrorData>> {
        if self == RootsResource::NotOffered || !asked.uri.starts_with(ROOTS_URI) {
            return None;
        }
        let scope = match Scope::current() {
            Ok(scope) => scope,
            Err(error) => return Some(Err(error.into())),
        };
        match scope.known(None) {
            Ok(roots) => Some(roots.read_resource(&asked.uri)?.map(Into::into).map_err(Into::into)),
            Err(error) => Some(Err(error.into())),
        }
    }
}
