//! `sandbox --explain`: each place that a command would get, and why.

use std::io::{self, Write};

use anyhow::Result;
use rootward_core::Shown;
use rootward_sandbox::{Because, Enforcement, Explanation, GivenPlace, OwnProc};

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

fn write(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    let Explanation { to_fetch, places, enforcement } = explanation;
    if let Some(package) = to_fetch {
        let package = Shown::new(package);
        writeln!(
            out,
            "package `{package}` is not fetched yet: these are the places of its runner, not those of the package"
        )?;
    }
    writeln!(out, "the command would get")?;
    let (system, others): (Vec<&GivenPlace>, Vec<_>) =
        places.iter().partition(|given| given.because == Because::System);
    for GivenPlace { place, access, because } in others {
        writeln!(out, "  {}  {access}  ({because})", Shown::new(place))?;
    }
    if !system.is_empty() {
        writeln!(
            out,
            "  {} places of the system: programs, libraries, devices, settings; `--json` names all",
            system.len()
        )?;
    }
    let Enforcement { withheld, split, unenforced, open_for_writing, sockets, own_proc, .. } = enforcement;
    if *own_proc == OwnProc::EveryProcess {
        writeln!(out, "  /proc/self  read  (every process its own files, not others')")?;
    }
    for socket in sockets {
        writeln!(out, "  {}  connect  ({})", Shown::new(&socket.place), Because::Added)?;
    }
    write_list(out, "it would not get", withheld)?;
    write_list(out, "it could not create anything directly in", split)?;
    write_list(out, "the kernel cannot enforce these rules; `--unenforced allow` accepts that", unenforced)?;
    write_list(
        out,
        "the kernel leaves these open for writing; they never keep a command from starting",
        open_for_writing,
    )
}

fn write_list<T: std::fmt::Display>(out: &mut impl Write, title: &str, list: &[T]) -> io::Result<()> {
    if !list.is_empty() {
        writeln!(out, "\n{title}")?;
    }
    list.iter().try_for_each(|one| writeln!(out, "  {one}"))
}
