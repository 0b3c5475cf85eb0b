//! Runs work without a network: this program runs itself again in namespaces that have only loopback.
//!
//! Processes that the work leaves behind end with the namespace.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use taskkit::wait::ended_within;

/// The argument that tells this program that it runs inside the namespaces.
pub(crate) const INSIDE: &str = "--inside";

/// Time limit for the work.
const LIMIT: Duration = Duration::from_mins(15);

/// The file in which the work leaves its result.
const REPORT: &str = "report.json";

/// Runs `VERB --inside ORDER` without a network; returns its report. The work inherits the environment of this process, plus `variables`.
/// It may use `directory`, whose path is added to the order.
pub(crate) fn run(verb: &str, mut order: Value, directory: &Path, variables: &[(&str, OsString)]) -> Result<Value> {
    order["directory"] = directory.to_str().context("the directory is not UTF-8")?.into();
    // A copy, because the demos, which are steps of the same check, rebuild this program at its original path.
    let this = directory.join("xtask");
    fs::copy("/proc/self/exe", &this).context("cannot copy this program")?;
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    command.arg(this).args([verb, INSIDE]).arg(order.to_string()).envs(variables.iter().cloned());
    let mut child = command.spawn().context("cannot run `unshare`")?;
    let status = ended_within(&mut child, LIMIT)?.with_context(|| format!("`{verb}` took more than {LIMIT:?}"))?;
    ensure!(status.success(), "`{verb}` ended with {status}");
    let report = fs::read_to_string(directory.join(REPORT)).with_context(|| format!("`{verb}` wrote no report"))?;
    Ok(serde_json::from_str(&report)?)
}

/// The part that runs inside the namespaces: does the work and writes the report.
pub(crate) fn work(order: &str, work: impl FnOnce(&Value, &Path) -> Result<Value>) -> Result<()> {
    let order: Value = serde_json::from_str(order).context("cannot parse the order")?;
    let directory = Path::new(order["directory"].as_str().context("no `directory` in the order")?);
    let status = Command::new("ip").args(["link", "set", "lo", "up"]).status().context("cannot run `ip`")?;
    ensure!(status.success(), "`ip link set lo up` ended with {status}");
    let report = work(&order, directory)?;
    fs::write(directory.join(REPORT), report.to_string()).context("cannot write the report")
}
