//! Answers path corpora: one JSON request a line on standard input, one JSON reply a line on standard output.
//!
//! Everything goes through the core's public API; there is nothing here that decides.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rootward_core::{
    Access, FileKind, Grant, Guard, GuardOptions, PathStyle, PathText, Replace, Restrictions, Root, RootSet, RootUri,
    Validation,
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Request {
    op: String,
    #[serde(default)]
    roots: Vec<SharedRoot>,
    base: Option<PathBuf>,
    path: String,
    path2: Option<String>,
    home: Option<PathBuf>,
    #[serde(default)]
    data: String,
    #[serde(default)]
    flavor: String,
}

#[derive(Deserialize)]
struct SharedRoot {
    uri: String,
    #[serde(default)]
    perms: String,
}

#[derive(Serialize, Default)]
struct Reply {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    err: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    skip: bool,
}

/// What a request could not be done for.
struct Refusal(String);

impl<E: fmt::Display> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal(error.to_string())
    }
}

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?) {
            Ok(request) => answer(&request).unwrap_or_else(|Refusal(err)| Reply { err: Some(err), ..Reply::default() }),
            Err(error) => Reply { err: Some(error.to_string()), ..Reply::default() },
        };
        serde_json::to_writer(&mut output, &reply)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(request: &Request) -> Result<Reply, Refusal> {
    let style = if request.flavor == "windows" { PathStyle::Windows } else { PathStyle::Posix };
    let done = Reply { ok: true, ..Reply::default() };
    let path = request.path.as_str();
    match request.op.as_str() {
        "parse_uri" => {
            let uri = RootUri::parse(path, style)?;
            return Ok(Reply { path: Some(uri.path().to_owned()), ..done });
        }
        "lex_windows" => {
            PathText::read(path.as_bytes(), PathStyle::Windows, None)?;
            return Ok(done);
        }
        _ => {}
    }
    let guard = guard(request);
    match request.op.as_str() {
        "within" => {
            let grant = guard.check(path, Access::NONE)?;
            Ok(Reply { path: Some(grant.path().display().to_string()), ..done })
        }
        "read" => Ok(Reply { content: Some(text(guard.open(path)?.read_range(0, 1 << 16)?)), ..done }),
        "exec" => {
            let grant = guard.check(path, Access::EXECUTE)?;
            grant.open_executable()?;
            Ok(Reply { content: Some(text(guard.open(path)?.read_range(0, 1 << 16)?)), ..done })
        }
        "list" => {
            let entries = guard.check(path, Access::READ)?.list()?;
            Ok(Reply { entries: Some(entries.iter().map(|entry| entry.name.display().to_string()).collect()), ..done })
        }
        "stat" => guard.check(path, Access::READ)?.metadata().map(|_| done).map_err(Into::into),
        "put" => guard.check(path, Access::WRITE)?.replace(request.data.as_bytes()).map(|()| done).map_err(Into::into),
        "create" => {
            let grant = guard.check_entry(path, Access::WRITE)?;
            grant.create_new(request.data.as_bytes()).map(|()| done).map_err(Into::into)
        }
        "mkdir" => guard.check_entry(path, Access::WRITE)?.create_directory().map(|()| done).map_err(Into::into),
        "delete" => remove_file(&guard, path).map(|()| done),
        "rename" => {
            let source = guard.check_entry(path, Access::DELETE)?;
            let target = guard.check_entry(request.path2.as_deref().unwrap_or_default(), Access::WRITE)?;
            source.rename_to(&target, Replace::Yes).map(|()| done).map_err(Into::into)
        }
        _ => Ok(Reply { skip: true, ..Reply::default() }),
    }
}

fn guard(request: &Request) -> Guard {
    let roots = request.roots.iter().filter_map(|shared| {
        let root = Root::from_client(&shared.uri, request.home.as_deref()).ok()?;
        Some(root.with_access(access(&shared.perms)))
    });
    let set = RootSet::place_ambient(roots, &Validation::new(request.home.clone()));
    Guard::new(
        set,
        GuardOptions {
            home: request.home.clone(),
            base: request.base.clone(),
            // The corpus knows roots and their access, and nothing of closed places.
            restrictions: Arc::new(Restrictions::none()),
            ..GuardOptions::default()
        },
    )
}

fn access(letters: &str) -> Access {
    letters.chars().fold(Access::NONE, |sum, letter| {
        sum | match letter {
            'r' => Access::READ,
            'w' => Access::WRITE,
            'x' => Access::EXECUTE,
            'd' => Access::DELETE,
            _ => Access::NONE,
        }
    })
}

/// The corpus removes with `unlink`, which takes no directories.
fn remove_file(guard: &Guard, path: &str) -> Result<(), Refusal> {
    let grant: Grant = guard.check_entry(path, Access::DELETE)?;
    if let Ok(seen) = guard.check_entry(path, Access::READ)
        && seen.metadata().is_ok_and(|metadata| metadata.kind == FileKind::Directory)
    {
        return Err("is a directory".into());
    }
    grant.remove()?;
    Ok(())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
