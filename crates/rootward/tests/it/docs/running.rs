//! Runs the commands of a page in one shell, and compares what they print with what the page shows.

use std::fmt::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use super::exceptions::{Instead, exception};
use super::markdown::{Expected, Page};
use super::world;

/// Starts the line that names the current step.
const MARK: char = '\u{1}';

/// Ports in the pages. Each is replaced with a free one.
const PORTS: [&str; 2] = ["8080", "8443"];

/// Runs a page. The error names the step that failed.
pub(super) fn run(page: &Page) -> Result<(), String> {
    let (mut script, mut expected) = (String::from("exec 2>&1\nset -e\n"), Vec::new());
    for step in page.steps() {
        let lines: String = step.commands.lines().filter_map(|line| rewritten(page, line)).collect();
        if lines.is_empty() {
            continue;
        }
        let fails = if step.expected == Expected::Success { "-e" } else { "+e" };
        let _ = write!(script, "set {fails}\necho '{MARK}{}:{}'\n{lines}", page.path, step.line);
        expected.push(step);
    }
    if expected.is_empty() {
        return Ok(());
    }
    for port in PORTS {
        script = script.replace(port, &free_port());
    }
    let place = world::build(page);
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("{}\n{script}\nset -e\n", world::preparation(page))]);
    let program = Path::new(env!("CARGO_BIN_EXE_rootward")).parent().unwrap();
    let path = format!("{}:{}/bin:/usr/bin:/bin", program.display(), place.home.display());
    shell.env_clear().env("HOME", &place.home).env("PATH", path).env("LANG", "C.UTF-8");
    let run = shell.current_dir(&place.project).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout).replace(place.home.to_str().unwrap(), "/home/me");
    let mut outputs = said.split(MARK).skip(1);
    for step in &expected {
        let Some(output) = outputs.next() else {
            return Err(format!("{}: the step on line {} was not reached:\n{said}", page.path, step.line));
        };
        let (name, output) = output.split_once('\n').unwrap_or_default();
        if let Expected::Output(lines) = &step.expected
            && !is_alike(lines, output)
        {
            return Err(format!("{name}: the page shows\n{}\n\nbut the command prints\n{output}", lines.join("\n")));
        }
    }
    // If the last step is from a `console` block, it may fail; from a `sh` block, it may not.
    if !run.status.success() && expected.last().is_some_and(|step| step.expected == Expected::Success) {
        return Err(format!("{}: {}\n{said}", page.path, run.status));
    }
    world::judge(page, &said)
}

/// A line as it runs here; `None` if it runs elsewhere.
fn rewritten(page: &Page, line: &str) -> Option<String> {
    let Some(exception) = exception(&page.path, line) else { return Some(format!("{line}\n")) };
    match exception.instead {
        Instead::Elsewhere(_) | Instead::ByHand => None,
        Instead::As(how) => {
            let command = line.split(" #").next().unwrap_or(line).trim_end();
            Some(format!("{}\n", how.replace('%', command)))
        }
    }
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// Whether the output matches the page. White space and numbers may differ. `…` matches any text; alone on a line, it matches any lines.
fn is_alike(shown: &[String], output: &str) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| plain(line)).collect();
    let said: Vec<String> = output.lines().map(plain).collect();
    lines_are_alike(trimmed(&shown), trimmed(&said))
}

fn lines_are_alike(shown: &[String], said: &[String]) -> bool {
    match (shown, said) {
        ([], said) => said.is_empty(),
        ([any, rest @ ..], said) if any == "…" => (0..=said.len()).any(|from| lines_are_alike(rest, &said[from..])),
        ([line, rest @ ..], [first, others @ ..]) => is_line(line, first) && lines_are_alike(rest, others),
        (_, []) => false,
    }
}

fn is_line(shown: &str, said: &str) -> bool {
    match shown.split_once('…') {
        None => shown == said,
        Some((before, after)) => said.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(end, _)| end).chain([rest.len()]);
            ends.into_iter().any(|end| is_line(after, &rest[end..]))
        }),
    }
}

/// Without empty lines at both ends.
fn trimmed(lines: &[String]) -> &[String] {
    let Some(first) = lines.iter().position(|line| !line.is_empty()) else { return &[] };
    let last = lines.iter().rposition(|line| !line.is_empty()).unwrap_or(first);
    &lines[first..=last]
}

/// A line with one space for each run of white space, and one digit for each number.
fn plain(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut plain = String::new();
    for letter in line.chars() {
        if !letter.is_ascii_digit() {
            plain.push(letter);
        } else if !plain.ends_with('0') {
            plain.push('0');
        }
    }
    plain
}

#[test]
fn shown_output_may_omit_parts() {
    let check = |shown: &str, said: &str, expect: bool| {
        let lines: Vec<String> = shown.lines().map(str::to_owned).collect();
        assert_eq!(is_alike(&lines, said), expect, "{shown:?} {said:?}");
    };
    check("a  1\nb", "a 23\nb\n\n", true);
    check("a\nb", "a\n", false);
    check("a\n…\nz", "a\nb\nc\nz\n", true);
    check("a\n…", "b\nc\n", false);
    check("in /tmp/x-…/home (a)", "in /tmp/x-Ab3/home (a)", true);
    check("in …/home (a)", "in /tmp/home (b)", false);
}
