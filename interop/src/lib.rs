//! Runs Rootward with programs of other projects: MCP clients in other languages, servers as their READMEs configure them, the hosts that
//! people use, and the MCP conformance suite.
//!
//! Each verb of `cargo xtask` has its own file. [`run`] finds a verb by its name, and [`steps`] returns the verbs that are part of the whole
//! check. The programs are pinned in `peers/`.

#![expect(clippy::disallowed_methods, reason = "works on the project's own files, never on paths from a peer")]
#![expect(clippy::print_stdout, reason = "`cargo xtask` reports on the terminal")]

mod cases;
mod conformance;
mod files;
mod host;
mod hosts;
mod hub;
mod inspector;
mod listening;
mod offline;
mod peers;
mod popular;
mod serve;
mod servers;
mod wrap;

use std::path::Path;

use anyhow::Result;
use taskkit::form::Form;
use taskkit::step::Step;

/// Runs a verb and returns the message for the user, or `None` if there is no such verb.
pub fn run(top: &Path, words: &[&str]) -> Option<Result<String>> {
    Some(match *words {
        ["peers", ref parts @ ..] => peers::run(top, parts),
        ["servers", ref parts @ ..] => servers::run(top, parts),
        ["popular", "--short", ref parts @ ..] => popular::run(top, Form::Short, parts),
        ["popular", ref parts @ ..] => popular::run(top, Form::Long, parts),
        ["host"] => host::run(top),
        ["hosts", offline::INSIDE, order] => hosts::offline::run(order).map(|()| String::new()),
        ["hosts", "--short"] => hosts::run_form(top, Form::Short),
        ["hosts", ref parts @ ..] => hosts::run(top, parts),
        ["pictures"] => hosts::pictures::run(top),
        ["pictures", offline::INSIDE, order] => hosts::pictures::run_inside(order).map(|()| String::new()),
        ["adopt", offline::INSIDE, order] => hosts::adopt::run_inside(order).map(|()| String::new()),
        ["adopt", "--short", ref parts @ ..] => hosts::adopt::run(top, Form::Short, parts),
        ["adopt", ref parts @ ..] => hosts::adopt::run(top, Form::Long, parts),
        ["serve", ref parts @ ..] => serve::run(top, parts),
        ["wrap", ref parts @ ..] => wrap::run(top, parts),
        ["hub", "--short", ref parts @ ..] => hub::run(top, Form::Short, parts),
        ["hub", ref parts @ ..] => hub::run(top, Form::Long, parts),
        ["files", ref parts @ ..] => files::run(top, parts),
        ["conformance"] => conformance::run(top),
        _ => return None,
    })
}

/// The verbs that are steps of the whole check.
pub fn steps(form: Form) -> Vec<Step> {
    vec![
        Step::here("peers", "cargo xtask peers", |top| peers::run(top, &[])),
        Step::here("serve", "cargo xtask serve", |top| serve::run(top, &[])),
        Step::here("servers", "cargo xtask servers", |top| servers::run(top, &[])),
        Step::here("popular", popular::repeat(form), move |top| popular::run(top, form, &[])),
        Step::here("host", "cargo xtask host", host::run),
        Step::here("hosts", hosts::repeat(form), move |top| hosts::run_form(top, form)),
        Step::here("adopt", hosts::adopt::repeat(form), move |top| hosts::adopt::run(top, form, &[])),
        Step::here("wrap", "cargo xtask wrap", |top| wrap::run(top, &[])),
        Step::here("hub", hub::repeat(form), move |top| hub::run(top, form, &[])),
        Step::here("files", "cargo xtask files", |top| files::run(top, &[])),
        Step::here("conformance", "cargo xtask conformance", conformance::run),
    ]
}

/// Measures how much later a server that `npx` starts answers with Rootward than without; returns a Markdown table.
pub fn measure(top: &Path) -> Result<String> {
    popular::measure::run(top)
}
