//! A package registry on this machine, for `npx` and `uvx`. It serves only the locked packages, and counts downloads.
//!
//! With it, the commands of a README run unchanged (`npx -y NAME`, `NAME@latest`), without a network, and always start the
//! locked versions.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::service;

/// How many seconds a client may cache an index, and a package. The public registries use similar values.
const INDEX_LASTS: u32 = 300;
const PACKAGE_LASTS: u32 = 31_536_000;

/// The files that a registry serves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sources {
    /// Lock files of npm.
    pub(super) locks: Vec<PathBuf>,
    /// The directories with the packages' files.
    pub(super) files: Vec<PathBuf>,
}

impl Sources {
    pub(crate) fn to_json(&self) -> Value {
        json!({"locks": self.locks, "files": self.files})
    }

    pub(crate) fn from_json(value: &Value) -> Result<Sources> {
        let path = |value: &Value| value.as_str().map(PathBuf::from).context("a path is missing");
        let paths = |value: &Value| -> Result<Vec<PathBuf>> {
            value.as_array().context("paths are missing")?.iter().map(path).collect()
        };
        Ok(Sources { locks: paths(&value["locks"])?, files: paths(&value["files"])? })
    }

    /// Serves the packages for as long as this process lives.
    pub(crate) fn serve(&self) -> Result<Served> {
        Arc::new(Registry::read(self)?).serve()
    }
}

/// The packages.
#[derive(Debug)]
pub(super) struct Registry {
    /// npm packages by name, each with its locked versions.
    packages: BTreeMap<String, Package>,
    /// The directories with the files: npm archives and Python wheels.
    files: Vec<PathBuf>,
}

#[derive(Debug)]
struct Package {
    latest: String,
    versions: BTreeMap<String, Value>,
}

/// The registry, served at an address.
#[derive(Debug)]
pub(crate) struct Served {
    /// Without a slash at its end.
    pub(crate) url: String,
    downloads: Arc<Mutex<Vec<String>>>,
}

/// The body of a response and its headers.
struct Answer {
    kind: &'static str,
    body: Vec<u8>,
    lasts: u32,
}

impl Registry {
    /// The packages of these lock files, and the files in these directories.
    pub(super) fn read(sources: &Sources) -> Result<Registry> {
        let mut all: BTreeMap<String, Package> = BTreeMap::new();
        for lock in &sources.locks {
            for (name, package) in packages(&read_lock(lock)?)? {
                match all.entry(name) {
                    Entry::Vacant(entry) => drop(entry.insert(package)),
                    Entry::Occupied(mut entry) => entry.get_mut().versions.extend(package.versions),
                }
            }
        }
        Ok(Registry { packages: all, files: sources.files.clone() })
    }

    /// Serves the packages for as long as this process lives.
    pub(super) fn serve(self: &Arc<Registry>) -> Result<Served> {
        let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on this machine")?;
        let served = Served { url: format!("http://{}", listener.local_addr()?), downloads: Arc::default() };
        let (registry, url, downloads) = (Arc::clone(self), served.url.clone(), Arc::clone(&served.downloads));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (registry, url, downloads) = (Arc::clone(&registry), url.clone(), Arc::clone(&downloads));
                // A client that hangs up does not want the answer.
                thread::spawn(move || registry.answer(stream, &url, &downloads));
            }
        });
        Ok(served)
    }

    fn answer(&self, mut stream: TcpStream, url: &str, downloads: &Mutex<Vec<String>>) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut lines = reader.by_ref().lines();
        let request = lines.next().transpose()?.unwrap_or_default();
        let (mut part, mut body) = (None, 0);
        while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
            part = part.or_else(|| range(&line));
            body = length(&line).unwrap_or(body);
        }
        // Closing a connection that has unread data would lose the response, too.
        std::io::copy(&mut reader.take(body), &mut std::io::sink())?;
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = target.split('?').next().unwrap_or_default();
        let Some(answer) = self.find(path, url) else {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        let Answer { kind, body, lasts } = answer;
        // uv reads a wheel's metadata with range requests, and downloads the wheel only if it needs it.
        let is_download = method == "GET" && part.is_none();
        let whole = body.len();
        let (status, part) = match part {
            Some((from, to)) if from <= to && to < whole => {
                (format!("206 Partial Content\r\nContent-Range: bytes {from}-{to}/{whole}"), from..to + 1)
            }
            _ => ("200 OK".to_owned(), 0..whole),
        };
        let length = part.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nAccept-Ranges: bytes\r\n\
             Cache-Control: public, max-age={lasts}\r\nConnection: close\r\n\r\n"
        )?;
        if method == "HEAD" {
            return Ok(());
        }
        if let Some(name) = path.strip_prefix("/files/").filter(|_| is_download) {
            downloads.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        }
        stream.write_all(&body[part])
    }

    fn find(&self, path: &str, url: &str) -> Option<Answer> {
        if let Some(text) = service::answer(path) {
            return Some(Answer { kind: text.kind, body: text.body.into(), lasts: 0 });
        }
        if let Some(name) = path.strip_prefix("/files/") {
            let body = self.files.iter().find_map(|directory| fs::read(directory.join(plain(name)?)).ok())?;
            return Some(Answer { kind: "application/octet-stream", body, lasts: PACKAGE_LASTS });
        }
        let (kind, body) = match path.strip_prefix("/simple/") {
            Some(name) => ("text/html", self.index_of_python(name.trim_end_matches('/'))?),
            None => ("application/json", self.index_of_npm(path.strip_prefix('/')?, url)?),
        };
        Some(Answer { kind, body: body.into(), lasts: INDEX_LASTS })
    }

    /// The index of an npm package, which npm calls a packument.
    fn index_of_npm(&self, path: &str, url: &str) -> Option<String> {
        let name = path.replace("%2f", "/").replace("%2F", "/");
        let package = self.packages.get(&name)?;
        let versions = package.versions.iter().map(|(version, entry)| {
            let mut entry = entry.clone();
            let archive = format!("{url}/files/{}", archive(&name, version));
            entry["dist"] = json!({"tarball": archive, "integrity": entry["integrity"]});
            (version.clone(), entry)
        });
        let versions: serde_json::Map<String, Value> = versions.collect();
        Some(json!({"name": name, "dist-tags": {"latest": package.latest}, "versions": versions}).to_string())
    }

    /// The page of a project in the simple repository API of Python's packaging standards.
    fn index_of_python(&self, name: &str) -> Option<String> {
        let directories = self.files.iter().filter_map(|directory| fs::read_dir(directory).ok());
        let files = directories.flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let links: Vec<String> = files
            .filter(|file| project(file).as_deref() == Some(name))
            .map(|file| format!("<a href=\"/files/{file}\">{file}</a><br>"))
            .collect();
        (!links.is_empty()).then(|| format!("<!DOCTYPE html><html><body>{}</body></html>", links.concat()))
    }
}

impl Served {
    /// The packages that were downloaded since the last call.
    pub(super) fn take_downloads(&self) -> Vec<String> {
        std::mem::take(&mut self.downloads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The first and the last byte of a request, if this header line is its `Range`.
fn range(line: &str) -> Option<(usize, usize)> {
    let (name, value) = line.split_once(':')?;
    let (from, to) =
        value.trim().strip_prefix("bytes=").filter(|_| name.eq_ignore_ascii_case("range"))?.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// The length of the request's body, if this header line is its `Content-Length`.
fn length(line: &str) -> Option<u64> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
}

/// Reads an npm lock file.
pub(super) fn read_lock(lock: &Path) -> Result<Value> {
    let text = fs::read_to_string(lock).with_context(|| format!("cannot read `{}`", lock.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is not JSON", lock.display()))
}

/// The packages of an npm lock file, as npm's index describes them.
fn packages(lock: &Value) -> Result<BTreeMap<String, Package>> {
    let mut packages = BTreeMap::new();
    for (place, entry) in locked(lock)? {
        let version = entry["version"].as_str().context("a package in the lock file has no version")?;
        let name = name_of(place, entry);
        let mut entry = entry.clone();
        entry["name"] = name.into();
        let package = packages
            .entry(name.to_owned())
            .or_insert_with(|| Package { latest: version.to_owned(), versions: BTreeMap::new() });
        // Nested entries are older versions that other packages need.
        if place == format!("node_modules/{name}") {
            version.clone_into(&mut package.latest);
        }
        package.versions.insert(version.to_owned(), entry);
    }
    Ok(packages)
}

/// The packages of a lock file, each with the path that npm would install it to.
fn locked(lock: &Value) -> Result<impl Iterator<Item = (&str, &Value)>> {
    let packages = lock["packages"].as_object().context("the lock file names no packages")?;
    Ok(packages.iter().map(|(place, entry)| (place.as_str(), entry)).filter(|(place, _)| !place.is_empty()))
}

/// The npm arguments, as `NAME@VERSION`, for the packages of a lock file that fit this machine.
pub(super) fn specifiers(lock: &Value) -> Result<Vec<String>> {
    let version = |entry: &Value| entry["version"].as_str().unwrap_or_default().to_owned();
    let all = locked(lock)?.filter(|(_, entry)| is_for_this_machine(entry));
    let all = all.map(|(place, entry)| format!("{}@{}", name_of(place, entry), version(entry)));
    Ok(all.collect::<std::collections::BTreeSet<_>>().into_iter().collect())
}

/// The name of a package. It differs from the path if the package is installed under an alias.
fn name_of<'l>(place: &'l str, entry: &'l Value) -> &'l str {
    let at_place = || place.rsplit_once("node_modules/").map_or(place, |(_, name)| name);
    entry["name"].as_str().unwrap_or_else(at_place)
}

/// Whether npm would install a package on this machine. Some packages are for one platform.
fn is_for_this_machine(entry: &Value) -> bool {
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let fits = |key: &str, own: &str| {
        let named: Vec<&str> = entry[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (not, only): (Vec<&str>, Vec<&str>) = named.iter().partition(|name| name.starts_with('!'));
        (only.is_empty() || only.contains(&own)) && !not.iter().any(|name| name[1..] == *own)
    };
    fits("os", "linux") && fits("cpu", cpu) && fits("libc", "glibc")
}

/// The name of the file that `npm pack` writes for a package.
fn archive(name: &str, version: &str) -> String {
    format!("{}-{version}.tgz", name.trim_start_matches('@').replace('/', "-"))
}

/// The project name of a wheel, in the normalized form that clients request.
fn project(file: &str) -> Option<String> {
    let stem = file.strip_suffix(".whl")?;
    Some(stem.split('-').next()?.to_lowercase().replace(['_', '.'], "-"))
}

/// The name, unless it could leave its directory.
fn plain(name: &str) -> Option<&str> {
    (!name.contains('/') && !name.starts_with('.')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> Value {
        json!({"packages": {
            "": {"name": "top"},
            "node_modules/@a/b": {"version": "2.0.0", "integrity": "sha512-x", "dependencies": {"c": "^1"}},
            "node_modules/@a/b/node_modules/c": {"version": "1.0.0"},
            "node_modules/c": {"version": "2.0.0"},
            "node_modules/c-of-old": {"name": "c", "version": "0.9.0"},
            "node_modules/d": {"version": "1.0.0", "os": ["win32"]},
            "node_modules/e": {"version": "1.0.0", "os": ["!win32"], "libc": ["glibc"]},
        }})
    }

    #[test]
    fn a_lock_file_is_a_registry() {
        let registry = Registry { packages: packages(&lock()).unwrap(), files: Vec::new() };
        let index = |path: &str| -> Value { serde_json::from_str(&registry.index_of_npm(path, "u").unwrap()).unwrap() };
        let scoped = index("@a%2fb");
        assert_eq!(scoped["dist-tags"]["latest"], "2.0.0");
        assert_eq!(scoped["versions"]["2.0.0"]["dependencies"], json!({"c": "^1"}));
        let dist = json!({"tarball": "u/files/a-b-2.0.0.tgz", "integrity": "sha512-x"});
        assert_eq!(scoped["versions"]["2.0.0"]["dist"], dist);
        assert_eq!(index("c")["dist-tags"]["latest"], "2.0.0");
        assert_eq!(index("c")["versions"].as_object().unwrap().len(), 3);
        assert!(registry.find("/unknown", "u").is_none() && registry.find("/files/../x", "u").is_none());
        assert_eq!(specifiers(&lock()).unwrap(), ["@a/b@2.0.0", "c@0.9.0", "c@1.0.0", "c@2.0.0", "e@1.0.0"]);
    }

    #[test]
    fn sources_survive_json() {
        let sources = Sources { locks: vec!["/a/lock".into()], files: vec!["/b".into(), "/c".into()] };
        assert_eq!(Sources::from_json(&sources.to_json()).unwrap(), sources);
        assert!(Sources::from_json(&json!({"locks": []})).is_err());
    }

    #[test]
    fn lengths_of_bodies() {
        let check = |line: &str, expect: Option<u64>| assert_eq!(length(line), expect, "{line}");
        check("Content-Length: 5", Some(5));
        check("content-length:x", None);
        check("accept: 5", None);
    }

    #[test]
    fn parts_of_files() {
        let check = |line: &str, expect: Option<(usize, usize)>| assert_eq!(range(line), expect, "{line}");
        check("range: bytes=2-5", Some((2, 5)));
        check("Range: bytes=2-", None);
        check("host: bytes=2-5", None);
    }

    #[test]
    fn wheels_are_found_by_project() {
        let directory = tempfile::tempdir().unwrap();
        let file = "Mcp_Server.git-1.0-py3-none-any.whl";
        fs::write(directory.path().join(file), "wheel").unwrap();
        let registry = Registry { packages: BTreeMap::new(), files: vec![directory.path().to_owned()] };
        let found = |path: &str| registry.find(path, "").map(|answer| String::from_utf8(answer.body).unwrap());
        assert!(found("/simple/mcp-server-git/").unwrap().contains(&format!("href=\"/files/{file}\"")));
        assert_eq!(found("/simple/mcp-server/"), None);
        assert_eq!(found(&format!("/files/{file}")).as_deref(), Some("wheel"));
    }
}
