//! A host without a network: this program runs itself again in namespaces that have only loopback.
//!
//! Processes that a host leaves behind end with their namespace.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::host::{HOSTS, Host};
use super::session::{self, Report};
use super::stage::Programs;
use crate::wait::ended_within;

/// The argument that tells this program that it runs inside.
pub(crate) const INSIDE: &str = "--inside";

/// Time limit for all runs of a host.
const LIMIT: Duration = Duration::from_mins(15);

/// The file that carries the result out.
const REPORT: &str = "report.json";

/// Runs a host through everything in `directory`, without a network.
pub(super) fn exercise(host: &Host, programs: &Programs, directory: &Path) -> Result<Report> {
    let order = json!({"host": host.name, "programs": programs.to_json(), "directory": directory});
    // A copy: the demos, which are steps of the same check, build this program again in its place.
    let this = directory.join("xtask");
    fs::copy("/proc/self/exe", &this).context("cannot copy this program")?;
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    command.arg(this).args(["hosts", INSIDE]).arg(order.to_string());
    let mut child = command.spawn().context("cannot run `unshare`")?;
    let status = ended_within(&mut child, LIMIT)?.with_context(|| format!("took more than {LIMIT:?}"))?;
    ensure!(status.success(), "ended with {status}");
    let report = fs::read_to_string(directory.join(REPORT)).context("it wrote no report")?;
    Report::from_json(&serde_json::from_str(&report)?)
}

/// The part that runs inside.
pub(crate) fn run(order: &str) -> Result<()> {
    let order: Value = serde_json::from_str(order).context("cannot read the order")?;
    let Some(host) = HOSTS.iter().find(|host| order["host"] == host.name) else {
        bail!("there is no host `{}`", order["host"]);
    };
    let directory = Path::new(order["directory"].as_str().context("no directory")?);
    let status = Command::new("ip").args(["link", "set", "lo", "up"]).status().context("cannot run `ip`")?;
    ensure!(status.success(), "`ip link set lo up` ended with {status}");
    let report = session::exercise(host, &Programs::from_json(&order["programs"])?, directory)?;
    fs::write(directory.join(REPORT), report.to_json().to_string()).context("cannot write the report")
}
