//! What a process may read about itself in `/proc`, by name.
//!
//! The lists contain what runtimes ask for and what a process knows anyway: its memory, its threads, the numbers of its
//! open files, its own name and limits. They omit what leads elsewhere (`root`, `cwd`, `exe`, `ns`, `map_files`, a file
//! in `fd`), what changes the process (`mem`), and what describes the machine or other processes (`mountinfo`,
//! `cgroup`, `net`).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// Files of a process, which each of its threads also has.
const FILES: [&str; 11] =
    ["auxv", "cmdline", "comm", "limits", "maps", "oom_score_adj", "smaps", "smaps_rollup", "stat", "statm", "status"];

/// Directories of a process that it may list.
const DIRECTORIES: [&str; 2] = ["fd", "task"];

/// The directory of the calling process.
const SELF: &str = "/proc/self";

/// An entry in `/proc` that a process may read if it is its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OwnEntry {
    /// `/proc` itself: some programs open `self` from there.
    Top,
    /// A file or a directory of a process or thread.
    Entry { whose: Whose, what: What },
}

/// Whose entry a path names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    /// `self`.
    Caller,
    /// `thread-self`.
    CallingThread,
    /// The process or thread with this id, which may not be the caller's.
    Number(i32),
}

/// Which entry of a process a path names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    File(&'static str),
    Directory(&'static str),
    /// A file of the thread with this id.
    OfThread(i32, &'static str),
}

impl OwnEntry {
    /// Parses the components of a path below `/proc`.
    // SECURITY: only what is on the lists, and nothing behind a link (test: a_process_gets_nothing_else_of_proc)
    pub(crate) fn read(components: &[&[u8]]) -> Option<OwnEntry> {
        let (whose, rest) = match components {
            [] => return Some(OwnEntry::Top),
            [b"self", rest @ ..] => (Whose::Caller, rest),
            [b"thread-self", rest @ ..] => (Whose::CallingThread, rest),
            [first, rest @ ..] => (Whose::Number(number(first)?), rest),
        };
        let what = match rest {
            [name] => match (listed(&FILES, name), listed(&DIRECTORIES, name)) {
                (Some(file), _) => What::File(file),
                (None, Some(directory)) => What::Directory(directory),
                (None, None) => return None,
            },
            [b"task", thread, name] => What::OfThread(number(thread)?, listed(&FILES, name)?),
            _ => return None,
        };
        Some(OwnEntry::Entry { whose, what })
    }

    /// Its path below `/proc`, if it belongs to this process; always below the process's own directory.
    // SECURITY: an id must be the process itself, or a thread below its own directory, where the kernel finds no other
    // process's (test: a_process_gets_nothing_of_another)
    pub(crate) fn below_proc(self, process: Pid, thread: Pid) -> Option<String> {
        let (process, thread) = (process.as_raw_pid(), thread.as_raw_pid());
        let OwnEntry::Entry { whose, what } = self else { return Some(".".to_owned()) };
        let is_process = whose == Whose::Caller || whose == Whose::Number(process);
        match (whose, what) {
            (_, What::File(name) | What::Directory(name)) if is_process => Some(format!("{process}/{name}")),
            (_, What::OfThread(thread, name)) if is_process => Some(format!("{process}/task/{thread}/{name}")),
            (Whose::CallingThread, What::File(name)) => Some(format!("{process}/task/{thread}/{name}")),
            (Whose::Number(thread), What::File(name)) => Some(format!("{process}/task/{thread}/{name}")),
            _ => None,
        }
    }

    /// The form used in reports: the same for every process and thread.
    pub(crate) fn reported(self) -> PathBuf {
        match self {
            OwnEntry::Top => "/proc".into(),
            OwnEntry::Entry { what: What::File(name) | What::Directory(name) | What::OfThread(_, name), .. } => {
                Path::new(SELF).join(name)
            }
        }
    }
}

/// The components of a path, without empty ones and `.`.
pub(crate) fn components(path: &[u8]) -> Vec<&[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").collect()
}

/// Whether a path names an entry of the calling process, on the lists or not.
pub(crate) fn is_by_self(path: &[u8]) -> bool {
    path.starts_with(b"/") && matches!(components(path).as_slice(), [b"proc", b"self" | b"thread-self", _, ..])
}

/// Whether this is the reported form of an entry on the lists.
pub(crate) fn is_reported(path: &Path) -> bool {
    let name = path.strip_prefix(SELF).ok().and_then(Path::to_str);
    path == Path::new("/proc") || name.is_some_and(|name| FILES.contains(&name) || DIRECTORIES.contains(&name))
}

/// Whether a path lies in the directory of a process.
pub(crate) fn is_of_process(path: &Path) -> bool {
    let mut parts = path.strip_prefix("/proc").into_iter().flatten();
    let first = parts.next().map(OsStr::as_encoded_bytes);
    first.is_some_and(|name| name == b"self" || name == b"thread-self" || number(name).is_some())
}

/// Parses a number as the kernel writes it.
fn number(text: &[u8]) -> Option<i32> {
    let is_plain = text.first().is_some_and(|first| (b'1'..=b'9').contains(first));
    std::str::from_utf8(text).ok().filter(|_| is_plain)?.parse().ok()
}

fn listed(names: &[&'static str], name: &[u8]) -> Option<&'static str> {
    names.iter().find(|known| known.as_bytes() == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pid(number: i32) -> Pid {
        Pid::from_raw(number).unwrap()
    }

    #[test]
    fn a_process_gets_nothing_else_of_proc() {
        let check = |path: &str, expect: Option<&str>| {
            let named = OwnEntry::read(&components(path.as_bytes()));
            let found = named.and_then(|named| named.below_proc(pid(10), pid(12)));
            assert_eq!(found.as_deref(), expect, "{path}");
        };
        check("", Some("."));
        check("self/maps", Some("10/maps"));
        check("self//./fd/", Some("10/fd"));
        check("self/task", Some("10/task"));
        check("self/task/11/stat", Some("10/task/11/stat"));
        check("thread-self/comm", Some("10/task/12/comm"));
        check("10/status", Some("10/status"));
        check("10/task/12/status", Some("10/task/12/status"));
        for closed in [
            "self",
            "self/mem",
            "self/environ",
            "self/exe",
            "self/cwd",
            "self/root",
            "self/root/etc/shadow",
            "self/fd/3",
            "self/fdinfo/3",
            "self/map_files/x",
            "self/ns/mnt",
            "self/mountinfo",
            "self/net/tcp",
            "self/task/11/mem",
            "self/task/11/fd",
            "self/task/../maps",
            "self/../1/maps",
            "self/task/x/stat",
            "thread-self/fd",
            "thread-self/task/12/stat",
            "010/stat",
            "+10/stat",
            "meminfo",
        ] {
            check(closed, None);
        }
    }

    #[test]
    fn a_number_stays_below_the_callers_own_directory() {
        for number in ["1", "11", "99999"] {
            let path = format!("{number}/maps");
            let named = OwnEntry::read(&components(path.as_bytes())).unwrap();
            assert_eq!(named.below_proc(pid(10), pid(12)), Some(format!("10/task/{number}/maps")));
            let path = format!("{number}/fd");
            let named = OwnEntry::read(&components(path.as_bytes())).unwrap();
            assert_eq!(named.below_proc(pid(10), pid(12)), None);
        }
    }

    #[test]
    fn the_reported_form_is_recognized() {
        for path in ["self/maps", "10/fd", "self/task/11/stat", "thread-self/stat", ""] {
            let told = OwnEntry::read(&components(path.as_bytes())).unwrap().reported();
            assert!(is_reported(&told), "{path}");
        }
        for other in ["/proc/self/mem", "/proc/10/maps", "/proc/self", "/proc/meminfo", "/maps"] {
            assert!(!is_reported(Path::new(other)), "{other}");
        }
        for (path, expect) in [("/proc/self/mem", true), ("/proc/10", true), ("/proc/meminfo", false), ("/proc", false)]
        {
            assert_eq!(is_of_process(Path::new(path)), expect, "{path}");
        }
        assert!(is_by_self(b"/proc//self/mem") && !is_by_self(b"/proc/self") && !is_by_self(b"proc/self/mem"));
    }
}
