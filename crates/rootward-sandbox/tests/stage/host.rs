//! The host: confines a command according to a spec, and exits with its code.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use rootward_core::{Guard, GuardOptions, Origin, Restriction, Restrictions, Root, RootSet, Validation};
use rootward_sandbox::{
    CommandLine, Confinement, Filesystem, Home, KnownCommand, Network, Options, OwnProc, PassedVariable,
    PermittingFlag, Processes, Refused, StartError, Supply, Trace, UnenforcedPolicy, UnixSockets,
};
use serde_json::Value;

/// The exit code for a command that was not started.
const NOT_STARTED: u8 = 77;

pub(crate) fn host(spec: &str, command: &[OsString]) -> ExitCode {
    let spec: Value = serde_json::from_str(spec).expect("a spec");
    let (program, arguments) = command.split_first().expect("a command");
    let line = CommandLine {
        program: program.clone(),
        arguments: arguments.to_vec(),
        directory: spec["directory"].as_str().map(PathBuf::from),
        variables: Vec::new(),
        typed: None,
    };
    let signals = rootward_sandbox::PassedSignals::hold().expect("signals");
    if spec["threads"] == "two" {
        std::thread::spawn(|| std::thread::sleep(std::time::Duration::MAX));
    }
    let confined = confinement(&spec).and_then(|confinement| {
        let known = known(&spec, &confinement, &line)?;
        let mut prepared = confinement.prepare_known_ambient(&line, &known)?;
        if let Some(start) = spec["start"].as_str() {
            prepared.start_in(std::fs::File::open(start).expect("a directory").into());
        }
        prepared.spawn()
    });
    let mut confined = match confined {
        Ok(confined) => confined,
        Err(error) => {
            println!("not started: {error}");
            return ExitCode::from(NOT_STARTED);
        }
    };
    if spec["tell"] == true {
        println!("{}", serde_json::to_string(confined.line.enforcement()).expect("plain values"));
    }
    while spec["trace"] == true
        && let Some(refused) = confined.line.next_refused()
    {
        let mut line = format!("refused {} {}", refused.access, refused.path.display());
        if refused.socket.is_some() {
            line = format!("{line}\npermitted by {}", permit(&refused));
        } else if refused.path.starts_with("/proc") {
            line = format!("{line}: {}", permit(&refused));
        }
        // In one call: the command prints to the same pipe.
        println!("{line}");
    }
    let code = signals.wait(&mut confined.child).expect("a child to wait for");
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

fn permit(refused: &Refused) -> &'static str {
    match refused.permit() {
        Some(PermittingFlag::WithPath(flag) | PermittingFlag::Alone(flag)) => flag,
        None => "nothing",
    }
}

/// The command as typed or, if the spec says so, the package that it fetches.
fn known(spec: &Value, confinement: &Confinement, line: &CommandLine) -> Result<KnownCommand, StartError> {
    let package = if spec["packages"] == true { confinement.package_ambient(line)? } else { None };
    let Some(package) = package else { return Ok(KnownCommand::look_up_ambient(line)?) };
    let installed = Supply::new(package).wait_ambient(|note| println!("{note}"))?;
    Ok(KnownCommand::of_package_ambient(installed)?)
}

fn confinement(spec: &Value) -> Result<Confinement, StartError> {
    let texts = |key: &str| spec[key].as_array().into_iter().flatten().filter_map(Value::as_str);
    let paths = |key: &str| texts(key).map(PathBuf::from).collect();
    let roots = texts("roots")
        .map(|text| Root::from_typed(text.as_ref(), "/".as_ref(), None, Origin::Flag).expect("a usable root"));
    let set = RootSet::place_ambient(roots, &Validation::new(None));
    let options = Options {
        network: if spec["network"] == "off" { Network::Off } else { Network::On },
        home: Home::default(),
        fetch: if spec["fetch"] == "off" { Network::Off } else { Network::On },
        unix_sockets: match spec["unix"].as_str() {
            Some("open") => UnixSockets::Open,
            Some("none") => UnixSockets::None,
            _ => UnixSockets::Named(paths("sockets")),
        },
        unenforced: if spec["unenforced"] == "allow" { UnenforcedPolicy::Allow } else { UnenforcedPolicy::Refuse },
        trace: if spec["trace"] == true { Trace::On } else { Trace::Off },
        own_proc: if spec["own_proc"] == "every" { OwnProc::EveryProcess } else { OwnProc::FirstProcess },
        processes: if spec["processes"] == "one" { Processes::One } else { Processes::Many },
        filesystem: Filesystem {
            allow_read: paths("allow_read"),
            deny_read: paths("deny_read"),
            allow_write: paths("allow_write"),
            deny_write: paths("deny_write"),
        },
        variables: texts("variables").map(|text| PassedVariable::read(text).expect("a name")).collect(),
        launcher: None,
    };
    let mut rules = Restriction::standard();
    rules.extend(texts("own").map(|place| Restriction::own(place.as_ref())));
    let restrictions = Arc::new(Restrictions::new(rules));
    Ok(Confinement::new(Guard::new(set, GuardOptions { restrictions, ..GuardOptions::default() }), options)?)
}
