//! A front's parameters as bytes, to send through a pipe to the process that reads from the network.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use rootward_http::{Config, Credential, Limits, Tls};
use serde::{Deserialize, Serialize};

use super::log::Log;
use super::running::Front;

/// The serialized form of [`Front`].
#[derive(Serialize, Deserialize)]
struct Handed {
    /// Names and tokens.
    principals: Vec<(String, String)>,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Certificates and key.
    tls: Option<(Vec<u8>, Vec<u8>)>,
    address: SocketAddr,
    log: Log,
    limits: Limits,
}

impl Front {
    /// As bytes.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let Config { principals, hosts, origins, tls, limits } = self.config.clone();
        let handed = Handed {
            principals: principals.into_iter().map(|principal| (principal.name, principal.token)).collect(),
            hosts,
            origins,
            tls: tls.map(|tls| (tls.certificates, tls.key)),
            address: self.address,
            log: self.log.clone(),
            limits,
        };
        Ok(serde_json::to_vec(&handed)?)
    }

    /// From bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Front> {
        let Handed { principals, hosts, origins, tls, address, log, limits } =
            serde_json::from_slice(bytes).context("not started by a hub")?;
        let principals = principals.into_iter().map(|(name, token)| Credential { name, token }).collect();
        let tls = tls.map(|(certificates, key)| Tls { certificates, key });
        Ok(Front { config: Config { principals, limits, hosts, origins, tls }, address, log })
    }
}
