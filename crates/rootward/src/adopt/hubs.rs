//! Plans `rootward hub` in place of a file's servers: where its configuration goes, and whether the hub accepts it.

use std::path::PathBuf;

use anyhow::Result;
use rootward_client::adopt::{ConfigFile, HubTerms, Invocation, Plan, PlanError, plan_hub};
use rootward_client::import::{FileContents, Form, Holder};
use rootward_core::Shown;
use rootward_hub::config::HubConfig;

use super::Desk;
use crate::message::Hinted;

/// Refuses a settings directory in which a confined server could have written the hub's configuration.
pub(super) fn check_directory_ambient(desk: &Desk) -> Result<()> {
    let settings = desk.directories.settings.as_ref().ok_or_else(|| Hinted {
        says: "there is no place for the hub's configuration".to_owned(),
        hint: "set `HOME` or `XDG_CONFIG_HOME` to an absolute path".to_owned(),
    })?;
    // SECURITY: the configuration names commands to run
    // (test: a_settings_directory_that_a_server_could_write_is_refused)
    if desk.material.may_be_planted_ambient(settings) {
        return Err(Hinted {
            says: format!(
                "a confined server could have written `{}`, where the hub's configuration goes",
                Shown::new(settings)
            ),
            hint: "set `XDG_CONFIG_HOME` to a directory that was never shared for writing".to_owned(),
        }
        .into());
    }
    Ok(())
}

/// Plans a hub for each table of servers in a file. `taken` are configurations that other files of this run use.
pub(super) fn plan_ambient(
    (form, holder): (Form, Holder),
    config: &ConfigFile,
    found: FileContents,
    caller: &Invocation,
    taken: &[PathBuf],
    desk: &Desk,
) -> Result<Plan, PlanError> {
    // If the record cannot be used, replacing the file fails later.
    let saved = desk.shelf.record_ambient(&config.place).ok().flatten();
    let undone = saved.and_then(|saved| saved.record.undo(config.text(), saved.backup.as_deref()).ok());
    let bare = undone.map_or_else(|| config.text().to_owned(), |undone| undone.text);
    let terms = HubTerms {
        caller,
        bare: &bare,
        file: &|table| desk.shelf.hub_path_ambient((form, holder), &config.place, table, taken),
        refuses: &|text| HubConfig::read(text).err().map(|error| error.says),
    };
    plan_hub(form, config.text(), found, holder, &terms)
}
