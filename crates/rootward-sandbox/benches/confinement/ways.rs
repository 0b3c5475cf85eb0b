//! The ways to start a server: unconfined, by `rootward sandbox`, and in other sandboxes with profiles that are as
//! similar as possible.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::Outcome;
use crate::server::{QUESTION, Server};

/// A command line that starts a server.
#[derive(Clone, Debug)]
pub(crate) struct Way(Vec<OsString>);

impl Way {
    /// Unconfined.
    pub(crate) fn unconfined(server: Server) -> Outcome<Way> {
        Ok(Way(server.command()?))
    }

    /// Confined to one directory by Rootward.
    pub(crate) fn rootward(binary: &Path, root: &Path, server: Server) -> Outcome<Way> {
        let mut line: Vec<OsString> = vec![binary.into(), "sandbox".into(), root.into(), "--".into()];
        line.extend(server.command()?);
        Ok(Way(line))
    }

    /// In its own namespaces, with the system read-only and one writable directory, as in `bwrap`'s manual.
    pub(crate) fn bubblewrap(root: &Path, server: Server) -> Outcome<Way> {
        let mut line: Vec<OsString> = vec!["bwrap".into()];
        for place in ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"] {
            // A link stays a link, which saves a mount.
            match std::fs::read_link(place) {
                Ok(target) => line.extend(["--symlink".into(), target.into(), place.into()]),
                Err(_) => line.extend(["--ro-bind-try".into(), place.into(), place.into()]),
            }
        }
        line.extend(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"].map(OsString::from));
        line.extend(["--unshare-all", "--share-net", "--die-with-parent"].map(OsString::from));
        line.extend(["--bind".into(), root.into(), root.into()]);
        let program = std::env::current_exe()?;
        line.extend(["--ro-bind".into(), program.clone().into(), program.into(), "--".into()]);
        line.extend(server.command()?);
        Ok(Way(line))
    }

    /// By npm's sandbox runtime, with the settings of a file.
    pub(crate) fn sandbox_runtime(program: PathBuf, settings: &Path, server: Server) -> Outcome<Way> {
        let mut line: Vec<OsString> = vec![program.into(), "--settings".into(), settings.into()];
        line.extend(server.command()?);
        Ok(Way(line))
    }

    /// Starts the server and waits for its first answer.
    pub(crate) fn begin(&self) -> Outcome<Running> {
        let mut command = Command::new(&self.0[0]);
        command.args(&self.0[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("no pipes".into()) };
        let mut running = Running { child, input, output: BufReader::new(output), answer: Vec::new() };
        if let Err(error) = running.ask() {
            running.end()?;
            return Err(error);
        }
        Ok(running)
    }

    /// Nanoseconds from the start to the first answer.
    pub(crate) fn first_answer(&self) -> Outcome<f64> {
        let start = Instant::now();
        let running = self.begin()?;
        let taken = start.elapsed();
        running.end()?;
        Ok(taken.as_secs_f64() * 1e9)
    }
}

/// A server that has answered.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    answer: Vec<u8>,
}

impl Running {
    /// One question and its answer.
    pub(crate) fn ask(&mut self) -> Outcome<()> {
        self.answer.clear();
        self.input.write_all(QUESTION)?;
        self.output.read_until(b'\n', &mut self.answer)?;
        if self.answer == QUESTION { Ok(()) } else { Err("the server did not answer".into()) }
    }

    /// Closes its input and waits for it to end.
    pub(crate) fn end(self) -> Outcome<()> {
        let Running { mut child, input, .. } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}
