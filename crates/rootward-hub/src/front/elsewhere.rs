//! Makes paths absolute in a command line that was typed in one directory and starts in another.
//!
//! Only words that are certainly paths are changed: a program with a `/`, an interpreter's script, and arguments that
//! start with `./` or `../`. Any other argument may be a plain word, or be relative to the server's own directory.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rootward_sandbox::script_position;

/// Programs whose first non-option argument is the script they run. Trailing digits and dots in a name are ignored.
const INTERPRETERS: [&str; 19] = [
    "bash", "bun", "dash", "deno", "java", "ksh", "lua", "node", "nodejs", "perl", "php", "pypy", "python", "ruby",
    "sh", "ts-node", "tsx", "uv", "zsh",
];

/// The subcommand after which some of them take their script.
const RUN: &str = "run";

/// Makes the paths absolute that were typed in `here`.
pub(super) fn make_absolute_ambient(program: &mut OsString, arguments: &mut [OsString], here: &Path) {
    let script = if is_interpreter(program) { script_ambient(arguments, here) } else { None };
    for (position, argument) in arguments.iter_mut().enumerate() {
        let text = argument.as_bytes();
        if script == Some(position) || text.starts_with(b"./") || text.starts_with(b"../") {
            *argument = here.join(&*argument).into();
        }
    }
    if program.as_bytes().contains(&b'/') {
        *program = here.join(&*program).into();
    }
}

fn is_interpreter(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    INTERPRETERS.contains(&name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
}

/// The position of the script, if it is a file.
#[expect(clippy::disallowed_methods, reason = "the operator's own arguments, in the operator's directory")]
fn script_ambient(arguments: &[OsString], here: &Path) -> Option<usize> {
    let first = script_position(arguments)?;
    let behind = first + 1;
    let position = match arguments.get(first)? {
        verb if verb == RUN => behind + script_position(arguments.get(behind..)?)?,
        _ => first,
    };
    here.join(arguments.get(position)?).is_file().then_some(position)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user")]
mod tests {
    use super::*;

    #[test]
    fn only_paths_are_made_absolute() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        std::fs::create_dir(here.join("dist")).unwrap();
        for name in ["server.py", "dist/index.js", "data.csv"] {
            std::fs::write(here.join(name), "").unwrap();
        }
        let check = |line: &str, expect: &str| {
            let mut words = line.split(' ').map(OsString::from);
            let mut program = words.next().unwrap();
            let mut arguments: Vec<OsString> = words.collect();
            make_absolute_ambient(&mut program, &mut arguments, here);
            let words: Vec<&str> =
                [&program].into_iter().chain(&arguments).map(|word| word.to_str().unwrap()).collect();
            assert_eq!(words.join(" "), expect.replace('@', here.to_str().unwrap()), "{line}");
        };
        check("./server x", "@/./server x");
        check("bin/server data.csv", "@/bin/server data.csv");
        check("/opt/server ../x ./y z/./w", "/opt/server @/../x @/./y z/./w");
        check("python3 server.py data.csv", "python3 @/server.py data.csv");
        check("python3.12 -u server.py", "python3.12 -u @/server.py");
        check("/usr/bin/node dist/index.js ./data.csv", "/usr/bin/node @/dist/index.js @/./data.csv");
        check("uv run server.py", "uv run @/server.py");
        check("node gone.js data.csv", "node gone.js data.csv");
        check("python3 -m server data.csv", "python3 -m server data.csv");
        check("sh -c server.py", "sh -c server.py");
        check("npx -y server.py .", "npx -y server.py .");
        check("server server.py --config=./x", "server server.py --config=./x");
    }
}
