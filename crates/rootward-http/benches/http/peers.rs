//! Other gateways, fetched by cargo and npm.

use std::path::PathBuf;

use crate::Outcome;
use rootward_testkit::bench::peers::{crate_program_with, npm_package};

const PROXY: &str = "mcp-proxy";
const PROXY_VERSION: &str = "0.6.0";

const GATEWAY: &str = "supergateway";
const GATEWAY_VERSION: &str = "4.0.0";

/// Another gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// The crate `mcp-proxy`: one server process for all sessions.
    Proxy,
    /// The npm package `supergateway`: one server process per session.
    Gateway,
}

impl Peer {
    pub(crate) const ALL: [Peer; 2] = [Peer::Proxy, Peer::Gateway];

    /// Its name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Peer::Proxy => format!("`{PROXY}` {PROXY_VERSION}"),
            Peer::Gateway => format!("`{GATEWAY}` {GATEWAY_VERSION}"),
        }
    }

    /// Its program.
    pub(crate) fn program(self) -> Outcome<PathBuf> {
        match self {
            Peer::Proxy => crate_program_with(PROXY, PROXY_VERSION, PROXY, "yaml,metrics"),
            Peer::Gateway => npm_package(GATEWAY, GATEWAY_VERSION, "supergateway/dist/index.js"),
        }
    }
}
