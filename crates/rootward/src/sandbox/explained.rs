//! `sandbox --explain`: each place that a command would get, and why.

use std::io::{self, Write};

use anyhow::Result;
use rootward_core::Shown;
use rootward_sandbox::{Enforcement, Explanation, GivenPlace};

/// Prints the places for people, or for programs.
pub(super) fn print(explanation: &Explanation, json: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, explanation)?;
        out.write_all(b"\n")?;
    } else {
        write(explanation, &mut out)?;
    }
    Ok(out.flush()?)
}

fn write(Explanation { places, enforcement }: &Explanation, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "the command would get")?;
    for GivenPlace { place, access, why } in places {
        writeln!(out, "  {}  {access}  ({why})", Shown::new(place))?;
    }
    let Enforcement { withheld, split, unheld, .. } = enforcement;
    write_list(out, "it would not get", withheld)?;
    write_list(out, "it could create nothing directly in", split)?;
    write_list(out, "the kernel cannot hold", unheld)
}

fn write_list<T: std::fmt::Display>(out: &mut impl Write, title: &str, list: &[T]) -> io::Result<()> {
    if !list.is_empty() {
        writeln!(out, "\n{title}")?;
    }
    list.iter().try_for_each(|one| writeln!(out, "  {one}"))
}
