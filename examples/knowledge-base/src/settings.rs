//! Settings from the environment, under this server's own variable names.

use std::ffi::OsString;

use anyhow::Result;
use rootward_server::{OwnVariables, Settings};

/// The directory to use if the client shares none.
pub(crate) const FALLBACK: &str = "~/.swipl-mcp-server";

/// The settings of all sessions.
pub(crate) fn settings(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Settings> {
    let mut settings = OwnVariables::new()
        .only_roots("SWI_MCP_ALLOWED_ROOTS")
        .strict("SWI_MCP_STRICT_ROOTS")
        .fallback_only("SWI_MCP_USE_LEGACY_DIR")
        .cache_milliseconds("SWI_MCP_ROOTS_CACHE_TTL")
        .usual_fallback(FALLBACK)
        .without_system_places()
        .settings(variables)?;
    settings.way = Some("set `SWI_MCP_ALLOWED_ROOTS`");
    Ok(settings)
}
