//! `cargo xtask hub`: runs `rootward hub` between real clients and real servers.
//!
//! One configuration has five third-party servers, each as its README configures it. Clients built on other SDKs list the tools, call each
//! server in the project that they share, are refused paths outside of it, and then switch to the other project. For server-everything and
//! others, the answers through the hub are compared with the direct answers.

mod fidelity;
mod five;
mod session;
mod stage;

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::cases::{chosen, count_all_at_once};
use crate::peers::Sdk;
use crate::peers::step::Era;
use crate::popular::install::{self as supplies, OF_HUB};
use crate::servers::install as servers;
use crate::wrap::script::{SCRIPTS, Script};
use taskkit::call::Call;
use taskkit::form::Form;
use taskkit::install as sdks;

use five::SERVERS;
use session::Known;
use stage::{Stage, Supply};

/// How many cases run in parallel.
const AT_ONCE: usize = 2;

/// The clients, the era of each, and the shortest form that runs it. The servers are legacy, except `fetch`.
const CLIENTS: [(Sdk, Era, Form); 6] = [
    (Sdk::Python, Era::Legacy, Form::Short),
    (Sdk::TypeScript, Era::Modern, Form::Short),
    (Sdk::Python, Era::Modern, Form::Long),
    (Sdk::TypeScript, Era::Legacy, Form::Long),
    (Sdk::PythonV1, Era::Legacy, Form::Long),
    (Sdk::TypeScriptV1, Era::Legacy, Form::Long),
];

#[derive(Clone, Copy, Debug)]
enum Case {
    /// A client that uses five servers.
    Five(Sdk, Era),
    /// A server must answer the same directly and through the hub.
    Same(&'static Script),
}

/// What the cases need.
#[derive(Debug)]
struct Installed {
    sdks: sdks::Installed,
    servers: servers::Installed,
    supply: Supply,
}

impl Case {
    fn name(self) -> String {
        match self {
            Case::Five(sdk, era) => format!("{}, {}: five servers", sdk.name(), era.name()),
            Case::Same(script) => format!("{} through the hub", script.name),
        }
    }

    /// Runs the case. Returns its counts as text.
    fn carry_out(self, top: &Path, installed: &Installed) -> Result<String> {
        match self {
            Case::Five(sdk, era) => five(sdk, era, top, installed),
            Case::Same(script) => Ok(format!("{} answers equal", fidelity::play(script, &installed.servers)?)),
        }
    }
}

fn five(sdk: Sdk, era: Era, top: &Path, installed: &Installed) -> Result<String> {
    let stage = Stage::new(&installed.supply)?;
    let checked = stage.check()?;
    let can_run = checked.as_array().context("`rootward hub --check` printed no list")?.iter();
    let can_run = can_run.filter(|server| server["error"].is_null() && server["confined"] == true).count();
    ensure!(can_run == SERVERS.len(), "`rootward hub --check` said {checked}");
    let mut answers = 0;
    for known in [Known::Not, Known::FromBefore] {
        let client = sdk.command(top, &installed.sdks, "client");
        answers += session::play(client, &stage, era, known).with_context(|| format!("servers known: {known:?}"))?;
    }
    Ok(format!("{answers} answers as expected"))
}

/// The cases of a form of the check, slowest first.
fn cases(form: Form) -> Vec<Case> {
    let clients = CLIENTS.into_iter().filter(|(.., shortest)| form == Form::Long || *shortest == Form::Short);
    let clients = clients.map(|(sdk, era, _)| Case::Five(sdk, era));
    clients.chain(SCRIPTS.iter().map(Case::Same)).collect()
}

/// The command that runs the cases of a form again.
pub(crate) fn repeat(form: Form) -> &'static str {
    match form {
        Form::Short => "cargo xtask hub --short",
        Form::Long => "cargo xtask hub",
    }
}

/// Runs the cases whose names contain all of `parts`. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, form: Form, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(form), parts, Case::name)?;
    let build = Call::cargo("build -p rootward --bin rootward");
    let installed = Installed {
        sdks: sdks::run(top)?,
        servers: servers::run(top)?,
        supply: Supply::new(supplies::fetch(top, &[OF_HUB], &[], build)?)?,
    };
    count_all_at_once(&cases, AT_ONCE, Case::name, |case| case.carry_out(top, &installed))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_short_form_has_a_client_of_each_language() {
        let names = |form: Form| cases(form).into_iter().map(Case::name).collect::<Vec<_>>();
        let short = names(Form::Short);
        assert_eq!(short[..2], ["Python, legacy: five servers", "TypeScript, modern: five servers"]);
        let long: BTreeSet<String> = names(Form::Long).into_iter().collect();
        assert_eq!(long.len(), names(Form::Long).len());
        assert!(short.iter().all(|name| long.contains(name)));
    }
}
