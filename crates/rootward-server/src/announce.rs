//! What a server behind the service says of itself: that it follows pages, that it wants to know what the client's own sandbox
//! allows, and, where its author wants it, a resource and a sentence that tell a model what is in force.

use rmcp::model::{
    ErrorCode, Implementation, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities,
};
use rmcp::{ErrorData, model::ResourcesCapability};
use rootward_protocol::{keys, shown, tells_limits};

use crate::roots::Roots;
use crate::scope::Scope;
use crate::summary::{ROOTS_SENTENCE, ROOTS_URI, roots_resource};

/// How much of an address is repeated to the client that asked for it, in characters.
const LONGEST_SHOWN: usize = 200;

/// Whether the roots in force are told to whoever reads resources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RootsResource {
    Offered,
    NotOffered,
}

/// Whether the client is told that it may send its list in pages: only where their cursors arrive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Paging {
    Declared,
    NotDeclared,
}

/// Whether the client is asked for what its own sandbox allows: only one that is known to tell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Limits {
    Asked,
    NotAsked,
}

impl Limits {
    pub(crate) fn of_client(client: Option<&Implementation>) -> Limits {
        if client.is_some_and(|client| tells_limits(&client.name)) { Limits::Asked } else { Limits::NotAsked }
    }

    /// Adds to what a server declares.
    pub(crate) fn declare(self, capabilities: &mut ServerCapabilities) {
        if self == Limits::Asked {
            capabilities.experimental.get_or_insert_default().entry(keys::SANDBOX_STATE.to_owned()).or_default();
        }
    }
}

impl RootsResource {
    /// Adds to what a server declares.
    pub(crate) fn declare(
        self,
        paging: Paging,
        capabilities: &mut ServerCapabilities,
        instructions: &mut Option<String>,
        roots: Option<&Roots>,
    ) {
        // SECURITY: a page that is taken for the whole list may lack what closes a part of it
        // (test: paging_is_declared_only_where_cursors_arrive)
        if paging == Paging::Declared {
            capabilities.extensions.get_or_insert_default().entry(keys::PAGING.to_owned()).or_default();
        }
        if self == RootsResource::Offered {
            capabilities.resources.get_or_insert_with(ResourcesCapability::default);
            // A client that can be asked names its roots after this.
            let now = roots.map(|roots| format!(" {}", roots.sentence())).unwrap_or_default();
            *instructions = Some(match instructions.take() {
                Some(before) if !before.is_empty() => format!("{before}\n\n{ROOTS_SENTENCE}{now}"),
                _ => format!("{ROOTS_SENTENCE}{now}"),
            });
        }
    }

    /// Adds to what a server declares to modern clients: they hear of changes to the resource.
    pub(crate) fn declare_updates(self, capabilities: &mut ServerCapabilities) {
        if self == RootsResource::Offered {
            capabilities.resources.get_or_insert_default().subscribe = Some(true);
        }
    }

    /// Adds to a list of resources; to its first page.
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

    /// The error for a resource that the handler does not have. A handler without resources answers "no such method", and this server
    /// declares the method all the same.
    pub(crate) fn unknown(self, uri: &str, error: ErrorData) -> ErrorData {
        if self == RootsResource::Offered && error.code == ErrorCode::METHOD_NOT_FOUND {
            let uri = shown(uri, LONGEST_SHOWN);
            return ErrorData::resource_not_found(format!("there is no resource `{uri}`"), None);
        }
        error
    }

    /// Answers for the resource, within a call; none where another one is meant.
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
