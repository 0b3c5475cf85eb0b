//! The steps of a check, each with a name, its time and the command that repeats it. The first failure stops the check.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use crate::call::Call;
use crate::table;

/// Code of this program. Gets the top of the workspace, and returns a note for the table.
type Code = Box<dyn FnOnce(&Path) -> Result<String>>;

/// What a step does.
enum Work {
    /// Runs a command that must succeed.
    Run(Call),
    /// Runs tests. With `AtLeast::One`, a filter that matches no test fails.
    Test(Call, AtLeast),
    /// Runs code of this program. The string is the command that repeats it.
    Here(String, Code),
}

/// How many tests must pass in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtLeast {
    /// None is fine: there may be no doc tests.
    None,
    /// A run without tests proves nothing.
    One,
}

impl AtLeast {
    fn judge(self, passed: u64) -> Result<String> {
        match (self, passed) {
            (AtLeast::One, 0) => bail!("no test was run"),
            (_, 1) => Ok("1 test passed".to_owned()),
            (_, count) => Ok(format!("{count} tests passed")),
        }
    }
}

/// A named part of a check.
pub struct Step {
    /// Its name in the output and in the table.
    name: &'static str,
    /// What it does.
    work: Work,
}

impl Step {
    /// A command that must succeed.
    pub fn run(name: &'static str, call: Call) -> Step {
        Step { name, work: Work::Run(call) }
    }

    /// Tests that must pass.
    pub fn test(name: &'static str, call: Call, at_least: AtLeast) -> Step {
        Step { name, work: Work::Test(call, at_least) }
    }

    /// Code of this program. `repeat` is the command that does the same.
    pub fn here(
        name: &'static str,
        repeat: impl Into<String>,
        work: impl FnOnce(&Path) -> Result<String> + 'static,
    ) -> Step {
        Step { name, work: Work::Here(repeat.into(), Box::new(work)) }
    }

    fn repeat(&self) -> String {
        match &self.work {
            Work::Run(call) | Work::Test(call, _) => call.to_string(),
            Work::Here(repeat, _) => repeat.clone(),
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.repeat())
    }
}

impl Work {
    fn carry_out(self, top: &Path) -> Result<String> {
        match self {
            Work::Run(call) => call.run(top).map(|()| String::new()),
            Work::Test(call, at_least) => at_least.judge(call.count_tests(top)?),
            Work::Here(_, code) => code(top),
        }
    }
}

/// Runs `steps` in order, up to the first failure, and prints a table of those that ran.
pub fn carry_out(top: &Path, steps: Vec<Step>) -> Result<()> {
    let (count, began) = (steps.len(), Instant::now());
    let mut rows = vec![["step", "time", "result"].map(str::to_owned).to_vec()];
    let mut failure = Ok(());
    for (position, step) in steps.into_iter().enumerate() {
        let (name, repeat) = (step.name, step.repeat());
        println!("\n==> {}/{count} {name}: {repeat}", position + 1);
        let step_began = Instant::now();
        let outcome = step.work.carry_out(top);
        let time = shown(step_began.elapsed());
        let result = match &outcome {
            Ok(note) if note.is_empty() => "passed".to_owned(),
            Ok(note) => note.clone(),
            Err(_) => "FAILED".to_owned(),
        };
        println!("<== {name}: {result}, {time}");
        rows.push(vec![name.to_owned(), time, result]);
        if let Err(error) = outcome {
            failure = Err(anyhow!("step `{name}` failed: {error:#}\n\nhint: repeat it alone with `{repeat}`"));
            break;
        }
    }
    rows.push(vec!["all".to_owned(), shown(began.elapsed()), format!("{} of {count} steps", rows.len() - 1)]);
    println!("\n{}", table::lay_out(&rows));
    failure
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn the_first_failure_stops_and_says_how_to_repeat_it() {
        let reached = Rc::new(Cell::new(0));
        let count = |name: &'static str, outcome: fn() -> Result<String>| {
            let reached = Rc::clone(&reached);
            Step::here(name, format!("repeat {name}"), move |_| {
                reached.set(reached.get() + 1);
                outcome()
            })
        };
        let steps = vec![
            count("good", || Ok(String::new())),
            count("bad", || bail!("the reason")),
            count("never", || Ok(String::new())),
        ];
        let message = format!("{:#}", carry_out(Path::new("."), steps).unwrap_err());
        assert_eq!(reached.get(), 2);
        assert!(message.contains("step `bad`") && message.contains("repeat bad") && message.contains("the reason"));
    }

    #[test]
    fn a_filter_that_matches_no_test_is_a_failure() {
        let check = |at_least: AtLeast, passed: u64, note: Option<&str>| {
            assert_eq!(at_least.judge(passed).ok().as_deref(), note);
        };
        check(AtLeast::One, 0, None);
        check(AtLeast::One, 1, Some("1 test passed"));
        check(AtLeast::None, 0, Some("0 tests passed"));
        check(AtLeast::None, 7, Some("7 tests passed"));
        let silent = Step::test("silent", Call::program("true"), AtLeast::One);
        assert!(silent.work.carry_out(Path::new(".")).is_err());
        let failing = Step::test("failing", Call::program("false"), AtLeast::None);
        assert!(failing.work.carry_out(Path::new(".")).is_err());
    }

    #[test]
    fn times_are_short() {
        let check = |time: Duration, text: &str| assert_eq!(shown(time), text);
        check(Duration::from_millis(1250), "1.2 s");
        check(Duration::from_secs(125), "2 min 05 s");
    }
}
