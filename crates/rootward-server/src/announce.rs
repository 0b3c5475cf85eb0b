//! What a server behind the service says of itself: that it follows pages, that it wants to know what the client's own sandbox
//! allows, and, where its author wants it, a resource and a sentence that tell a model what is in force.

use rmcp::model::{
    Implementation, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities,
};
use rmcp::{ErrorData, model::ResourcesCapability};
use rootward_protocol::{keys, tells_limits};

use crate::scope::Scope;
use crate::summary::{ROOTS_SENTENCE, ROOTS_URI, roots_resource};

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
    ) {
        // SECURITY: a page that is taken for the whole list may lack what closes a part of it
        // (test: paging_is_declared_only_where_cursors_arrive)
        if paging == Paging::Declared {
            capabilities.extensions.get_or_insert_default().entry(keys::PAGING.to_owned()).or_default();
        }
        if self == RootsResource::Offered {
            capabilities.resources.get_or_insert_with(ResourcesCapability::default);
            *instructions = Some(match instructions.take() {
                Some(before) if !before.is_empty() => format!("{before}\n\n{ROOTS_SENTENCE}"),
                _ => ROOTS_SENTENCE.to_owned(),
            });
        }
    }

    /// Adds to a list of resources; to its first page.
    pub(crate) fn list(self, asked: Option<&PaginatedRequestParams>, resources: &mut ListResourcesResult) {
        let first = asked.is_none_or(|asked| asked.cursor.is_none());
        if self == RootsResource::Offered && first {
            resources.resources.push(roots_resource());
        }
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
