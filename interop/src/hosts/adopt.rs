//! `cargo xtask adopt`: runs `rootward adopt` on the config files that real clients write.
//!
//! In an empty home, a client's own command adds servers. `rootward adopt` wraps them, the client lists them as before, and
//! `rootward adopt --undo` restores the client's files byte for byte. One of the servers is broken, and the client must never list it as
//! connected.

mod answer;
mod client;
mod servers;
mod session;

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::host::Due;
use super::stage::Programs;
use crate::cases::{all_at_once, chosen, judge, lay_out};
use crate::offline;
use crate::popular::install::{self as supplies, Installed};
use crate::popular::registry::Sources;
use client::{CLIENTS, Client};
use servers::Few;
use session::Conversations;
use taskkit::call::Call;
use taskkit::form::Form;
use taskkit::install::{Runtime, runtimes};

/// How many clients run at once.
const AT_ONCE: usize = 2;

/// Which servers the client has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Servers {
    /// A few installed servers.
    Few,
    /// Ten popular servers, as their READMEs configure them, which `npx` and `uvx` fetch.
    Ten,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    client: &'static Client,
    servers: Servers,
}

impl Case {
    fn name(self) -> String {
        match self.servers {
            Servers::Few => self.client.host.name.to_owned(),
            Servers::Ten => format!("{}, ten servers", self.client.host.name),
        }
    }
}

/// The cases of a form of the check.
fn cases(form: Form) -> Vec<Case> {
    let due = CLIENTS.iter().filter(|client| form == Form::Long || client.due == Due::EveryCheck);
    let few = due.map(|client| Case { client, servers: Servers::Few });
    let ten = (form == Form::Long).then(|| Case { client: &CLIENTS[0], servers: Servers::Ten });
    few.chain(ten).collect()
}

/// The command that runs the cases of a form again.
pub(crate) fn repeat(form: Form) -> &'static str {
    match form {
        Form::Short => "cargo xtask adopt --short",
        Form::Long => "cargo xtask adopt",
    }
}

/// Runs the cases whose names contain each of `parts`; returns a note for the table of steps.
pub(crate) fn run(top: &Path, form: Form, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(form), parts, Case::name)?;
    runtimes(top, &[Runtime::Node, Runtime::Python, Runtime::Namespaces])?;
    let installed = super::install(top, &cases.iter().map(|case| case.client.host).collect::<Vec<_>>())?;
    let few = Few::install(top)?;
    let build = Call::cargo("build -p rootward --bin rootward");
    let ten = cases.iter().any(|case| case.servers == Servers::Ten);
    let ten = if ten { Some(supplies::run(top, Form::Long, &[], build)?) } else { None };
    let conversations = if form == Form::Long { Conversations::Run } else { Conversations::Skipped };
    let mut outcomes = all_at_once(&cases, AT_ONCE, |case| {
        let Some((_, programs)) = installed.iter().find(|(name, _)| *name == case.client.host.name) else {
            bail!("it was not installed");
        };
        carry_out(case, programs, &few, ten.as_ref(), conversations)
    });
    lay_out(&mut outcomes, Case::name);
    judge(cases.len(), &outcomes, Case::name)
}

fn carry_out(
    case: Case,
    programs: &Programs,
    few: &Few,
    ten: Option<&Installed>,
    conversations: Conversations,
) -> Result<()> {
    let directory = tempfile::Builder::new().prefix("adopt-").tempdir()?;
    let mut order = json!({"client": case.client.name, "conversations": conversations == Conversations::Run});
    let mut variables: Vec<(&str, OsString)> = Vec::new();
    match (case.servers, ten) {
        (Servers::Few, _) => {
            order["programs"] = programs.to_json();
            order["few"] = few.to_json();
        }
        (Servers::Ten, Some(ten)) => {
            // This `rootward` is on `PATH`, so adopted entries use its bare name.
            order["programs"] = Programs { rootward: ten.rootward(), ..programs.clone() }.to_json();
            order["ten"] = ten.sources.to_json();
            variables.push(("PATH", ten.path()?));
        }
        (Servers::Ten, None) => bail!("the packages were not installed"),
    }
    match offline::run("adopt", order, directory.path(), &variables)? {
        Value::String(failure) => bail!("{failure}"),
        _ => Ok(()),
    }
}

/// The part that runs without a network.
pub(crate) fn run_inside(order: &str) -> Result<()> {
    offline::work(order, |order, directory| {
        let client = CLIENTS.iter().find(|client| order["client"] == client.name);
        let client = client.with_context(|| format!("there is no client `{}`", order["client"]))?;
        let programs = Programs::from_json(&order["programs"])?;
        let conversations = if order["conversations"] == true { Conversations::Run } else { Conversations::Skipped };
        let outcome = if order["ten"].is_null() {
            let few = Few::from_json(&order["few"])?;
            session::with_few(client, &programs, directory, &few, conversations)
        } else {
            session::with_ten(client, &programs, directory, &Sources::from_json(&order["ten"])?)
        };
        Ok(outcome.err().map_or(Value::Null, |error| format!("{error:#}").into()))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_short_form_has_two_clients_and_few_servers() {
        let names = |form: Form| cases(form).into_iter().map(Case::name).collect::<Vec<_>>();
        assert_eq!(names(Form::Short), ["Claude Code", "Gemini CLI"]);
        let long = names(Form::Long);
        assert!(long.contains(&"Claude Code, ten servers".to_owned()), "{long:?}");
        assert_eq!(long.iter().collect::<BTreeSet<_>>().len(), long.len());
    }
}
