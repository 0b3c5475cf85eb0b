//! What the environment says, under the names that this server has had for it.

use std::ffi::OsString;

use anyhow::Result;
use rootward_server::{OwnVariables, Settings};

/// Where files are where no client shares a directory.
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
    settings.way = Some("name directories in `SWI_MCP_ALLOWED_ROOTS`");
    Ok(settings)
}
