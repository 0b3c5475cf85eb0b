//! Tests a host without a network.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::json;

use super::host::{HOSTS, Host};
use super::session::{self, Report};
use super::stage::Programs;
use crate::offline;

/// Runs all checks of a host in `directory`, without a network.
pub(super) fn exercise(host: &Host, programs: &Programs, directory: &Path) -> Result<Report> {
    let order = json!({"host": host.name, "programs": programs.to_json()});
    Report::from_json(&offline::run("hosts", order, directory, &[])?)
}

/// The part that runs without a network.
pub(crate) fn run(order: &str) -> Result<()> {
    offline::work(order, |order, directory| {
        let Some(host) = HOSTS.iter().find(|host| order["host"] == host.name) else {
            bail!("there is no host `{}`", order["host"]);
        };
        Ok(session::exercise(host, &Programs::from_json(&order["programs"])?, directory)?.to_json())
    })
}
