//! A second program for the tests: the launcher that confines a command, and with `serve DIR`, a server that a test can kill.

#![expect(clippy::unwrap_used, reason = "a test program may panic")]

use rootward_core::{Origin, Root, RootSet, Validation};
use rootward_files::FileServer;
use rootward_server::{RootsService, Settings};

fn main() {
    rootward_sandbox::launcher();
    let mut arguments = std::env::args_os().skip(1);
    assert_eq!(arguments.next().unwrap(), "serve");
    let root = Root::from_path(arguments.next().unwrap(), Origin::Flag).unwrap();
    let mut settings = Settings::new(None);
    settings.sources.ceiling = RootSet::place_ambient([root], &Validation::new(None));
    let server = RootsService::new(settings).install(FileServer::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { server.serve_stdio().await.unwrap().waiting().await.unwrap() });
}
