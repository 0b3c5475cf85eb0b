//! Runs path corpora: one JSON request per line on standard input, one JSON reply per line on standard output.
//!
//! The core's public API makes every decision. Only one thing happens here that the core never does: `..` in a Windows path is
//! resolved as text, because those cases have no files on disk.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rootward_core::{
    Access, FileKind, Grant, Guard, GuardOptions, PathStyle, PathText, Replace, Restrictions, Root, RootSet, RootUri,
    Validation, text_contains,
};
use serde::{Deserialize, Serialize};

/// The number of guards to keep. Each case has its own roots, but a race uses the same roots thousands of times.
const MOST_GUARDS: usize = 8;

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

#[derive(Clone, PartialEq, Eq, Deserialize)]
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

/// Why a request failed.
struct Failed(String);

impl<E: fmt::Display> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed(error.to_string())
    }
}

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    let mut guards = Guards::default();
    for line in io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?) {
            Ok(request) => {
                answer(&request, &mut guards).unwrap_or_else(|Failed(err)| Reply { err: Some(err), ..Reply::default() })
            }
            Err(error) => Reply { err: Some(error.to_string()), ..Reply::default() },
        };
        serde_json::to_writer(&mut output, &reply)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(request: &Request, guards: &mut Guards) -> Result<Reply, Failed> {
    let style = if request.flavor == "windows" { PathStyle::Windows } else { PathStyle::Posix };
    let done = Reply { ok: true, ..Reply::default() };
    let path = request.path.as_str();
    match request.op.as_str() {
        "parse_uri" => {
            let uri = RootUri::parse(path, style)?;
            return Ok(Reply { path: Some(uri.path().to_owned()), ..done });
        }
        "lex_windows" => {
            let resolved = resolved_windows(request)?;
            let mut roots = request.roots.iter().filter_map(|shared| windows_text(&shared.uri).ok());
            if !roots.any(|root| text_contains(&root, &resolved, PathStyle::Windows)) {
                return Err("outside every root".into());
            }
            return Ok(Reply { path: Some(resolved), ..done });
        }
        _ => {}
    }
    let guard = guards.of(request);
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

/// The guards so far, newest last.
#[derive(Default)]
struct Guards(Vec<(Named, Guard)>);

/// What a guard is made from.
#[derive(Clone, PartialEq, Eq)]
struct Named {
    roots: Vec<SharedRoot>,
    base: Option<PathBuf>,
    home: Option<PathBuf>,
}

impl Guards {
    /// The guard for a request's roots. The same roots get the same guard, so a root that an attacker swaps stays the original.
    fn of(&mut self, request: &Request) -> Guard {
        let named = Named { roots: request.roots.clone(), base: request.base.clone(), home: request.home.clone() };
        if let Some((_, guard)) = self.0.iter().find(|(known, _)| *known == named) {
            return guard.clone();
        }
        let made = guard(request);
        if self.0.len() == MOST_GUARDS {
            self.0.remove(0);
        }
        self.0.push((named, made.clone()));
        made
    }
}

/// Parses an absolute Windows path with the core.
fn windows_text(text: &str) -> Result<String, Failed> {
    match PathText::read(text.as_bytes(), PathStyle::Windows, None)? {
        PathText::Absolute(path) => Ok(String::from_utf8(path.into_owned())?),
        PathText::Relative(_) => Err("not an absolute path".into()),
    }
}

/// Resolves a request's Windows path as text: relative to the base or the first root, where each `..` removes the name before it.
fn resolved_windows(request: &Request) -> Result<String, Failed> {
    let whole: Cow<'_, str> = match PathText::read(request.path.as_bytes(), PathStyle::Windows, None)? {
        PathText::Absolute(path) => String::from_utf8(path.into_owned())?.into(),
        PathText::Relative(_) => {
            let base = request.base.as_deref().and_then(|base| base.to_str());
            let first = request.roots.first().map(|shared| shared.uri.as_str());
            format!(r"{}\{}", windows_text(base.or(first).ok_or("no base and no root")?)?, request.path).into()
        }
    };
    let share = whole.starts_with(r"\\");
    // `..` never climbs above the drive, or above host and share.
    let top = if share { 2 } else { 1 };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split(['\\', '/']).filter(|name| !matches!(*name, "" | ".")) {
        match name {
            ".." if names.len() > top => drop(names.pop()),
            ".." => {}
            name => names.push(name),
        }
    }
    let end = if names.len() == top { r"\" } else { "" };
    Ok(format!("{}{}{end}", if share { r"\\" } else { "" }, names.join(r"\")))
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
            base: request.base.clone().into(),
            // The corpus has roots with access, but no restrictions.
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

/// The corpus expects `unlink`, which refuses directories.
fn remove_file(guard: &Guard, path: &str) -> Result<(), Failed> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(guards: &mut Guards, request: serde_json::Value) -> Result<Reply, String> {
        let request: Request = serde_json::from_value(request).unwrap();
        answer(&request, guards).map_err(|Failed(error)| error)
    }

    #[test]
    fn windows_paths_are_checked_as_text() {
        let check = |roots: &[&str], base: Option<&str>, path: &str, expect: Option<&str>| {
            let roots: Vec<_> = roots.iter().map(|uri| json!({"uri": uri, "perms": "r"})).collect();
            let request = json!({"op": "lex_windows", "roots": roots, "base": base, "path": path, "flavor": "windows"});
            let found = ask(&mut Guards::default(), request).ok().and_then(|reply| reply.path);
            assert_eq!(found.as_deref(), expect, "{path}");
        };
        let dev = [r"C:\dev"];
        check(&dev, None, r"C:\dev\a", Some(r"C:\dev\a"));
        check(&dev, None, "c:/DEV/a", Some(r"c:\DEV\a"));
        check(&dev, None, "a", Some(r"C:\dev\a"));
        check(&dev, Some(r"C:\dev\sub"), r"..\a", Some(r"C:\dev\a"));
        check(&dev, Some(r"C:\dev\sub"), r"..\..\a", None);
        check(&dev, None, r"C:\dev\x\..\a", Some(r"C:\dev\a"));
        check(&dev, None, r"C:\dev\..\Windows", None);
        check(&dev, None, r"C:\..\..\dev", Some(r"C:\dev"));
        check(&dev, None, r"C:\dev-evil\a", None);
        check(&dev, None, r"D:\dev\a", None);
        check(&dev, None, r"\\?\C:\dev\a", None);
        check(&dev, None, r"C:dev", None);
        check(&dev, None, "nul", None);
        check(&["file:///C:/dev"], None, r"C:\dev\a", Some(r"C:\dev\a"));
        check(&[r"\\host\share\x"], None, r"\\HOST\share\x\..\x\y", Some(r"\\HOST\share\x\y"));
        check(&[r"\\host\share\x"], None, r"\\host\share\..\..\other\x", None);
        check(&[r"C:\"], None, r"C:\dev\..\..", Some(r"C:\"));
        check(&[], None, r"C:\dev", None);
        check(&[], None, "dev", None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "builds a tree and swaps its root")]
    fn a_swapped_root_stays_the_original() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["root", "other"] {
            std::fs::create_dir(at(name)).unwrap();
            std::fs::write(at(name).join("f"), name).unwrap();
        }
        let mut guards = Guards::default();
        let uri = format!("file://{}", at("root").display());
        let request = json!({"op": "read", "roots": [{"uri": uri, "perms": "r"}], "path": "f"});
        let mut read = || ask(&mut guards, request.clone()).unwrap().content.unwrap();
        assert_eq!(read(), "root");
        std::fs::rename(at("root"), at("away")).unwrap();
        std::fs::rename(at("other"), at("root")).unwrap();
        assert_eq!(read(), "root");
    }
}
