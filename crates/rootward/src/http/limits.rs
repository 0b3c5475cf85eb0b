//! The limit on open files: each connection takes one, and each session holds its roots open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as this process may. What it starts gets it, too.
pub(super) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // Where that fails, the server has fewer sessions, and says so when it runs out.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
