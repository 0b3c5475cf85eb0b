//! `cargo xtask corpus DIR`: runs a folder of third-party path cases against the core's public API.
//!
//! The folder contains `driver.py`, which sends the cases to the test kit's `corpus-adapter` and checks the answers, and
//! `no_openat2.py`, which disables `openat2` with seccomp, so that both resolvers get the same cases.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use taskkit::built;
use taskkit::call::Call;
use taskkit::table;

/// One run of the driver.
#[derive(Clone, Copy, Debug)]
struct Run {
    name: &'static str,
    /// The value of the driver's `--tier`. `None` means all cases except the races.
    tier: Option<&'static str>,
    /// The error that `openat2` returns. `None` means that it works.
    instead: Option<&'static str>,
    bar: Bar,
    rows: Rows,
}

/// Which failures a run may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bar {
    /// None.
    NoFailure,
    /// A path that should work may be refused.
    RefusalsOnly,
}

/// Whether a run must have cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rows {
    /// A run without a good case is an error.
    Needed,
    /// Not every folder has such cases.
    Optional,
}

const PLAIN: Run = Run { name: "openat2", tier: None, instead: None, bar: Bar::NoFailure, rows: Rows::Needed };

const RUNS: [Run; 6] = [
    PLAIN,
    Run { name: "openat2, races", tier: Some("race"), rows: Rows::Optional, ..PLAIN },
    Run { name: "ENOSYS", instead: Some("ENOSYS"), ..PLAIN },
    Run { name: "ENOSYS, races", tier: Some("race"), instead: Some("ENOSYS"), rows: Rows::Optional, ..PLAIN },
    Run { name: "EPERM", instead: Some("EPERM"), ..PLAIN },
    // The kernel always answers "try again": a path may then be refused, but never opened in a weaker way.
    Run { name: "EAGAIN", instead: Some("EAGAIN"), bar: Bar::RefusalsOnly, ..PLAIN },
];

/// How many faults to print at the end. The driver has printed all of them.
const SHOWN: usize = 20;

/// The report that the driver writes with `--json`.
#[derive(Default, Debug)]
struct Report {
    total: BTreeMap<String, u64>,
    bad: Vec<Bad>,
}

/// A case that failed.
#[derive(Debug)]
struct Bad {
    id: String,
    result: String,
    why: String,
}

impl Bad {
    fn read(value: &Value) -> Option<Bad> {
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Bad { id: text("id")?, result: text("result")?, why: text("why")? })
    }
}

impl Report {
    fn read(text: &str) -> Result<Report> {
        let mut value: Value = serde_json::from_str(text)?;
        let total = serde_json::from_value(value["total"].take()).context("no `total`")?;
        let bad = value["bad"].as_array().context("no `bad`")?;
        let bad = bad.iter().map(|case| Bad::read(case).with_context(|| format!("not a case: {case}")));
        Ok(Report { total, bad: bad.collect::<Result<_>>()? })
    }

    fn count(&self, wanted: impl Fn(&str) -> bool) -> u64 {
        self.total.iter().filter(|(result, _)| wanted(result)).map(|(_, count)| count).sum()
    }

    fn good(&self) -> u64 {
        self.count(|result| result == "pass" || result.starts_with("policy"))
    }

    /// The failures that the run may not have.
    fn complaints(&self, run: &Run) -> Vec<String> {
        let bad = self.bad.iter().filter(|bad| match run.bar {
            Bar::NoFailure => true,
            // This is how the driver reports a refusal. A hang, a crash and a wrong object have other reasons.
            Bar::RefusalsOnly => !(bad.result == "FAIL-availability" && bad.why.starts_with("refused")),
        });
        let mut complaints: Vec<String> =
            bad.map(|bad| format!("{}: {} {} ({})", run.name, bad.result, bad.id, bad.why)).collect();
        if run.rows == Rows::Needed && self.good() == 0 {
            complaints.push(format!("{}: no case got the expected answer", run.name));
        }
        complaints
    }
}

/// Runs the folder in every way and prints a table. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, folder: &Path) -> Result<String> {
    let folder = std::path::absolute(folder).with_context(|| format!("cannot use folder `{}`", folder.display()))?;
    for name in ["driver.py", "no_openat2.py"] {
        if !folder.join(name).is_file() {
            bail!("no `{name}` in `{}`: not a corpus folder", folder.display());
        }
    }
    if !Call::program("python3").arguments(["--version"]).succeeds(top) {
        bail!("python3 is needed to run a corpus and cannot be run here\n\nhint: on Debian, `apt-get install python3`");
    }
    let user = Call::program("id").arguments(["-u"]).stdout(top)?;
    if user.trim() != "0" {
        println!("note: not root, so the driver skips the cases that need a mount");
    }
    let build = Call::cargo("build --release -p rootward-testkit --bin corpus-adapter");
    let [adapter] = built::programs(top, build, ["corpus-adapter"])?;
    let reports = top.join("target/corpus");
    fs::create_dir_all(&reports).context("cannot create `target/corpus`")?;

    let mut rows =
        vec![["run", "as expected", "skipped", "refused or failed", "ESCAPE", "verdict"].map(str::to_owned).to_vec()];
    let mut complaints = Vec::new();
    for run in &RUNS {
        let (report, outcome) = carry_out(top, run, &folder, &adapter, &reports)?;
        rows.push(vec![
            run.name.to_owned(),
            report.good().to_string(),
            report.count(|result| result == "skip").to_string(),
            report.count(|result| result.starts_with("FAIL")).to_string(),
            report.count(|result| result.starts_with("ESCAPE")).to_string(),
            verdict(&report, &outcome).to_owned(),
        ]);
        complaints.extend(outcome);
    }
    println!("\n{}", table::lay_out(&rows));
    if !complaints.is_empty() {
        let first = complaints.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n  ");
        bail!("faults: {}\n\n  {first}", complaints.len());
    }
    Ok(format!("{} runs without a fault", RUNS.len()))
}

/// The last cell of a row. A run without cases is not called good.
fn verdict(report: &Report, complaints: &[String]) -> &'static str {
    match (complaints.is_empty(), report.total.is_empty()) {
        (false, _) => "BAD",
        (true, true) => "no such cases",
        (true, false) => "good",
    }
}

fn driver_call(run: &Run, folder: &Path, adapter: &Path, report: &Path) -> Result<Call> {
    let mut call = Call::program("python3").path(&folder.join("driver.py"))?;
    if run.bar == Bar::NoFailure {
        call = call.arguments(["-v"]);
    }
    if let Some(tier) = run.tier {
        call = call.arguments(["--tier", tier]);
    }
    call = call.arguments(["--json"]).path(report)?.arguments(["--"]);
    if let Some(errno) = run.instead {
        call = call.arguments(["python3"]).path(&folder.join("no_openat2.py"))?.arguments([errno]);
    }
    call.path(adapter)
}

fn carry_out(top: &Path, run: &Run, folder: &Path, adapter: &Path, reports: &Path) -> Result<(Report, Vec<String>)> {
    let file = reports.join(format!("{}.json", run.name.replace(", ", "-").to_lowercase()));
    // If the driver ends before it writes a report, the report of an earlier run must not count.
    match fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).context("cannot remove a report");
        }
        _ => {}
    }
    let call = driver_call(run, folder, adapter, &file)?;
    println!("\n==> {}: {call}", run.name);
    let exit = call.run(top);
    let Ok(text) = fs::read_to_string(&file) else {
        return Ok((Report::default(), vec![format!("{}: the driver wrote no report", run.name)]));
    };
    let report =
        Report::read(&text).with_context(|| format!("cannot read the driver's report `{}`", file.display()))?;
    let mut complaints = report.complaints(run);
    if let Err(error) = exit
        && report.bad.is_empty()
    {
        complaints.push(format!("{}: {error}", run.name));
    }
    Ok((report, complaints))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> Report {
        Report::read(text).unwrap()
    }

    #[test]
    fn a_plain_run_forgives_nothing() {
        let check = |text: &str, faults: usize| assert_eq!(report(text).complaints(&PLAIN).len(), faults, "{text}");
        check(r#"{"total": {"pass": 3, "policy-strict": 1, "skip": 2}, "bad": []}"#, 0);
        check(
            r#"{"total": {"pass": 3, "FAIL-availability": 1}, "bad": [{"id": "a", "result": "FAIL-availability", "why": "refused: x"}]}"#,
            1,
        );
        check(r#"{"total": {"skip": 9}, "bad": []}"#, 1);
        check(r#"{"total": {}, "bad": []}"#, 1);
    }

    #[test]
    fn races_may_be_absent() {
        let races = Run { rows: Rows::Optional, ..PLAIN };
        let empty = report(r#"{"total": {}, "bad": []}"#);
        assert_eq!(empty.complaints(&races), Vec::<String>::new());
        assert_eq!(verdict(&empty, &[]), "no such cases");
        assert_eq!(verdict(&report(r#"{"total": {"pass": 1}, "bad": []}"#), &[]), "good");
        assert_eq!(verdict(&empty, &["a fault".to_owned()]), "BAD");
    }

    #[test]
    fn under_endless_eagain_only_refusals_are_forgiven() {
        let eagain = Run { bar: Bar::RefusalsOnly, ..PLAIN };
        let check = |result: &str, why: &str, faults: usize| {
            let text = format!(
                r#"{{"total": {{"pass": 1, "{result}": 1}}, "bad": [{{"id": "a", "result": "{result}", "why": "{why}"}}]}}"#
            );
            assert_eq!(report(&text).complaints(&eagain).len(), faults, "{result} {why}");
        };
        check("FAIL-availability", "refused: outside_roots", 0);
        check("FAIL-availability", "hang", 1);
        check("FAIL-availability", "crash", 1);
        check("FAIL-availability", "wrong object: 'a' != 'b'", 1);
        check("FAIL-fidelity", "allowed, reason=missing", 1);
        check("FAIL-security", "allowed, reason=outside", 1);
        check("ESCAPE", "SECRET read", 1);
    }

    #[test]
    fn the_driver_is_called_as_its_readme_says() {
        let check = |run: Run, line: &str| {
            let call = driver_call(&run, Path::new("/c"), Path::new("/a"), Path::new("/r.json")).unwrap();
            assert_eq!(call.to_string(), line);
        };
        check(RUNS[0], "python3 /c/driver.py -v --json /r.json -- /a");
        check(RUNS[1], "python3 /c/driver.py -v --tier race --json /r.json -- /a");
        check(RUNS[2], "python3 /c/driver.py -v --json /r.json -- python3 /c/no_openat2.py ENOSYS /a");
        check(RUNS[5], "python3 /c/driver.py --json /r.json -- python3 /c/no_openat2.py EAGAIN /a");
    }
}
