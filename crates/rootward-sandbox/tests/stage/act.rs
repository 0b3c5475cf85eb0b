//! One act of the escape corpus, as a program without any checks does it: straight to the path.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};

/// The spec comes on standard input: paths of the corpus can be longer than an argument may be.
pub(crate) fn act() -> ExitCode {
    let spec: Value = serde_json::from_reader(io::stdin()).expect("a spec");
    println!("\n{}", outcome(&spec));
    ExitCode::SUCCESS
}

/// Does what the spec says; returns the outcome.
pub(crate) fn outcome(spec: &Value) -> Value {
    match perform(spec) {
        Ok(outcome) => outcome,
        Err(error) => json!({"error": error.raw_os_error(), "kind": format!("{:?}", error.kind())}),
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    let numbers = value.as_array().into_iter().flatten();
    numbers.map(|number| u8::try_from(number.as_u64().unwrap_or(0)).unwrap_or(0)).collect()
}

/// A path's bytes; a URI without its scheme.
fn path(value: &Value) -> PathBuf {
    let bytes = bytes(value);
    let plain = bytes.strip_prefix(b"file://").unwrap_or(&bytes);
    Path::new(OsStr::from_bytes(plain)).to_owned()
}

fn perform(spec: &Value) -> io::Result<Value> {
    let (one, other, data) = (path(&spec["path"]), path(&spec["to"]), bytes(&spec["data"]));
    match spec["act"].as_str().unwrap_or_default() {
        "Read" => return Ok(json!({"content": start(&one)?})),
        "List" => {
            let names = fs::read_dir(one)?.map(|entry| Ok(entry?.file_name().as_bytes().to_vec()));
            return Ok(json!({"entries": names.collect::<io::Result<Vec<_>>>()?}));
        }
        // SECURITY.md lists what may be seen of files outside; the corpus is about what is opened.
        "Check" | "Stat" => {}
        // Tries to run it: no program in the corpus does anything.
        "Execute" => {
            match Command::new(std::env::current_dir()?.join(one)).stdin(Stdio::null()).stdout(Stdio::null()).status() {
                Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {}
                result => drop(result?),
            }
        }
        "Put" => made(&one)?.write_all(&data)?,
        "Append" => at_once().append(true).open(one)?.write_all(&data)?,
        "CreateNew" => fs::File::create_new(one)?.write_all(&data)?,
        "MakeDirectory" => fs::create_dir(one)?,
        "Remove" if fs::symlink_metadata(&one)?.is_dir() => fs::remove_dir(one)?,
        "Remove" => fs::remove_file(one)?,
        "Rename" => fs::rename(one, other)?,
        "Copy" => made(&other)?.write_all(&start(&one)?)?,
        act => return Err(io::Error::other(act.to_owned())),
    }
    Ok(json!({}))
}

/// The start of a file: some, like `/dev/zero`, have no end.
fn start(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    at_once().read(true).open(path)?.take(1 << 16).read_to_end(&mut content)?;
    Ok(content)
}

fn made(path: &Path) -> io::Result<fs::File> {
    at_once().write(true).create(true).truncate(true).open(path)
}

/// Does not wait for the other end of a FIFO.
fn at_once() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.custom_flags(libc::O_NONBLOCK);
    options
}
