//! One command of a check: runs from the top of the workspace, and prints as a shell line.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::scratch;
use crate::wait::ended_within;

/// The time limit of npm, which waits for a registry that may never answer.
const NPM_LIMIT: Duration = Duration::from_mins(3);

/// A program, its arguments and its variables, which are added to the environment.
#[derive(Clone, Debug)]
pub struct Call {
    program: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    /// After this time the program is killed. `None` means no limit.
    limit: Option<Duration>,
}

impl Call {
    /// A call of `program` without arguments.
    pub fn program(program: &str) -> Call {
        Call { program: program.to_owned(), arguments: Vec::new(), variables: Vec::new(), limit: None }
    }

    /// A call of cargo. `arguments` are separated by spaces.
    pub fn cargo(arguments: &str) -> Call {
        Call::program("cargo").arguments(arguments.split_whitespace())
    }

    /// A call of npm, which is killed if it takes too long. `arguments` are separated by spaces.
    pub fn npm(arguments: &str) -> Call {
        Call { limit: Some(NPM_LIMIT), ..Call::program("npm").arguments(arguments.split_whitespace()) }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Call {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Adds an argument that is a path.
    pub fn path(self, path: &Path) -> Result<Call> {
        let text = path.to_str().ok_or_else(|| anyhow!("path `{}` is not UTF-8", path.display()))?;
        Ok(self.arguments([text]))
    }

    /// Sets a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Call {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn command(&self, top: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value))).current_dir(top);
        if self.limit.is_some() {
            // If it could read a terminal, a prompt would wait until the time limit.
            command.stdin(Stdio::null());
        }
        command
    }

    /// Runs `command`, which this call made, to its end.
    fn carry_out(&self, command: &mut Command) -> Result<()> {
        let mut child = command.spawn().with_context(|| format!("cannot run `{}`", self.program))?;
        let status = match self.limit {
            None => child.wait()?,
            Some(limit) => ended_within(&mut child, limit)?
                .with_context(|| format!("`{}` took more than {limit:?}", self.program))?,
        };
        if !status.success() {
            bail!("`{}` ended with {status}", self.program);
        }
        Ok(())
    }

    /// Runs the program in this terminal. Anything but success is an error.
    pub fn run(&self, top: &Path) -> Result<()> {
        self.carry_out(&mut self.command(top))
    }

    /// Whether the program exists and succeeds. Prints nothing.
    pub fn succeeds(&self, top: &Path) -> bool {
        let mut command = self.command(top);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.carry_out(&mut command).is_ok()
    }

    /// Runs the program and returns its stdout. Its stderr goes to this terminal.
    pub fn stdout(&self, top: &Path) -> Result<String> {
        // A file instead of a pipe: nothing has to read while the program writes.
        let (mut file, mut written) = (scratch::file()?, Vec::new());
        self.carry_out(self.command(top).stdin(Stdio::null()).stdout(file.try_clone()?))?;
        file.rewind()?;
        file.read_to_end(&mut written)?;
        String::from_utf8(written).with_context(|| format!("`{}` wrote something that is not UTF-8", self.program))
    }

    /// Runs tests and shows their output. Returns how many passed.
    pub fn count_tests(&self, top: &Path) -> Result<u64> {
        self.count_tests_showing(top, std::io::stdout(), std::io::stderr())
    }

    fn count_tests_showing(
        &self,
        top: &Path,
        shown: impl Write,
        shown_stderr: impl Write + Send + 'static,
    ) -> Result<u64> {
        let mut child = self
            .command(top)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run `{}`", self.program))?;
        let (stdout, stderr) = (child.stdout.take().context("no stdout")?, child.stderr.take().context("no stderr")?);
        // Read both pipes in parallel: a child that fills one while only the other is read would hang.
        let stderr_reader = thread::spawn(move || count_while_showing(stderr, shown_stderr));
        let passed = count_while_showing(stdout, shown)?;
        let passed_stderr = stderr_reader.join().map_err(|_| anyhow!("the reader of stderr panicked"))??;
        let status = child.wait()?;
        if !status.success() {
            bail!("`{}` ended with {status}", self.program);
        }
        Ok(passed + passed_stderr)
    }
}

fn count_while_showing(source: impl Read, mut shown: impl Write) -> Result<u64> {
    let mut source = BufReader::new(source);
    let (mut line, mut passed) = (Vec::new(), 0);
    while source.read_until(b'\n', &mut line)? > 0 {
        shown.write_all(&line)?;
        shown.flush()?;
        passed += passed_in(&String::from_utf8_lossy(&line)).unwrap_or(0);
        line.clear();
    }
    Ok(passed)
}

/// The number of passed tests in a summary line of `cargo test` or nextest.
fn passed_in(line: &str) -> Option<u64> {
    let line = line.trim_start();
    if !line.starts_with("test result: ") && !line.starts_with("Summary [") {
        return None;
    }
    let (before, _) = line.split_once(" passed")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// A line for the shell.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&quoted(&self.program))?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_counted_and_nothing_else() {
        let check = |line: &str, passed: Option<u64>| assert_eq!(passed_in(line), passed, "{line}");
        check(
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n",
            Some(12),
        );
        check("     Summary [   0.005s] 2 tests run: 2 passed, 0 skipped\n", Some(2));
        check("     Summary [   1.005s] 3/5 tests run: 2 passed (1 slow), 1 failed, 0 skipped\n", Some(2));
        check("test uri::round_trip ... ok\n", None);
        check("nothing has passed\n", None);
    }

    #[test]
    fn a_call_is_shown_as_it_would_be_typed() {
        let call = Call::cargo("doc --no-deps").variable("RUSTDOCFLAGS", "-D warnings").arguments(["it's"]);
        assert_eq!(call.to_string(), r"RUSTDOCFLAGS='-D warnings' cargo doc --no-deps 'it'\''s'");
        assert_eq!(Call::program("").to_string(), "''");
    }

    #[test]
    fn failure_is_an_error_and_tests_are_counted_on_both_streams() {
        let shell = |script: &str| Call::program("sh").arguments(["-c", script]);
        let here = Path::new(".");
        assert!(shell("exit 0").succeeds(here));
        assert!(!shell("exit 3").succeeds(here));
        assert!(!Call::program("no-such-program-anywhere").succeeds(here));
        let summary = "test result: ok. 4 passed; 0 failed";
        let both = shell(&format!("echo '{summary}'; echo '{summary}' >&2"));
        // Not shown: a `count_tests` that runs these tests must not count this fake summary.
        let count = |call: Call| call.count_tests_showing(here, std::io::sink(), std::io::sink());
        assert_eq!(count(both).unwrap(), 8);
        let error = count(shell(&format!("echo '{summary}'; exit 101"))).unwrap_err();
        assert!(error.to_string().contains("101"), "{error}");
        assert_eq!(shell("echo out").stdout(here).unwrap(), "out\n");
        assert!(shell("exit 1").run(here).is_err());
    }

    #[test]
    fn a_call_over_its_limit_is_killed() {
        assert_eq!(Call::npm("ci").limit, Some(NPM_LIMIT));
        let here = Path::new(".");
        let hanging = Call { limit: Some(Duration::from_millis(1)), ..Call::program("sleep").arguments(["600"]) };
        assert!(!hanging.succeeds(here));
        for error in [hanging.run(here).unwrap_err(), hanging.stdout(here).unwrap_err()] {
            assert!(error.to_string().contains("`sleep` took more than 1ms"), "{error}");
        }
    }
}
