//! Compared with the reference file server, which validates a path by resolving its name in Node.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rootward_core::Access;

use crate::Outcome;
use crate::places::{guard, with_deep_file};
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::peers::npm_package;
use rootward_testkit::bench::table::{Bar, Table};

const PACKAGE: &str = "@modelcontextprotocol/server-filesystem";
const VERSION: &str = "2026.8.31";

const ROUNDS: usize = 60;
const CALLS: u32 = 300;

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome {
    let what = "`check`, depth 6, absolute";
    let against = format!("`validatePath` of `{PACKAGE}` {VERSION}");
    let root = top.join("reference");
    let file = with_deep_file(&root)?;
    let mut server = match installed().and_then(|library| Reference::start(&library, &root, &file)) {
        Ok(server) => server,
        Err(why) => {
            table.add_missing(what, &against, &why.to_string());
            return Ok(());
        }
    };
    let guard = guard([root]);
    let mut check = || guard.check(&file, Access::READ).expect("inside the root");
    // Warm up: Node compiles code that runs often.
    for _ in 0..ROUNDS / 4 {
        server.turn(CALLS)?;
        one_turn(CALLS, &mut check);
    }
    let row =
        in_turns(ROUNDS, || one_turn(CALLS, &mut check), || server.turn(CALLS).expect("the server answered before"));
    table.add(what, &against, &row, Bar::TimesFaster(12.0));
    Ok(())
}

/// The file of the package that contains the validation.
fn installed() -> Result<PathBuf, Box<dyn Error>> {
    if Command::new("node").arg("--version").stdout(Stdio::null()).status().is_err() {
        return Err("no node".into());
    }
    npm_package(PACKAGE, VERSION, &format!("{PACKAGE}/dist/lib.js"))
}

/// The server's validation, waiting for its turns.
struct Reference {
    node: Child,
    ask: Option<ChildStdin>,
    answer: BufReader<ChildStdout>,
}

impl Reference {
    fn start(library: &Path, root: &Path, file: &Path) -> Result<Reference, Box<dyn Error>> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/guard/reference.mjs");
        let mut node = Command::new("node")
            .arg(script)
            .args([library, root, file])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let ask = node.stdin.take();
        let answer = BufReader::new(node.stdout.take().ok_or("no stdout")?);
        Ok(Reference { node, ask, answer })
    }

    /// Nanoseconds per validation, for `calls` validations.
    fn turn(&mut self, calls: u32) -> Result<f64, Box<dyn Error>> {
        writeln!(self.ask.as_mut().ok_or("no stdin")?, "{calls}")?;
        let mut line = String::new();
        self.answer.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // It ends when its input ends.
        self.ask = None;
        let _ = self.node.wait();
    }
}
