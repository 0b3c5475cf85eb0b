//! Another hub, fetched by cargo.

use std::path::PathBuf;

use crate::Outcome;
use rootward_testkit::bench::peers::crate_program;

const CRATE: &str = "mcp-hub";
pub(crate) const VERSION: &str = "0.3.0";

/// The crate `mcp-hub`, the fastest other hub.
pub(crate) fn hub() -> Outcome<PathBuf> {
    crate_program(CRATE, VERSION, CRATE)
}
