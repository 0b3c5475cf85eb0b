//! Prepares a remote server: its process is Rootward's own `connect`, which gets no directory.
//!
//! The address and the headers go to that process in variables instead of arguments, because every user of this
//! machine can read arguments. Only the same user can read a variable; it is expanded and masked like those of other
//! servers, and needs no second channel through the launcher. No confined server can read the variables of another
//! process.

use std::ffi::OsString;

use anyhow::{Context, Result, anyhow};
use rootward_core::session::{Follow, Policy, Sources};
use rootward_core::{Base, Shown};
use rootward_http::connect::{PlainHttp, Target, may_be_this_machine};
use rootward_hub::config::{Expanded, Isolation, RootValues, RootsFrom, ServerConfig, Surroundings};
use rootward_hub::hub::HubServer;
use rootward_hub::recipe::HomeKind;
use rootward_hub::scan::Protection;
use rootward_hub::wrap::{Confine, Homes, Inject, Launch, Runs};
use rootward_sandbox::{Network, Options, Trace, UnixSockets};

use super::preparing::{ItsRoots, Preparing, hinted};
use crate::connect;
use crate::known_server::KnownServer;

impl Preparing<'_> {
    /// A remote server, ready to connect to.
    pub(super) fn remote_ambient(
        &self,
        server: &ServerConfig,
        expanded: &Expanded,
        url: &str,
        headers: &[(String, String)],
    ) -> Result<HubServer> {
        let around = Surroundings { environment: self.environment, home: self.ground.home(), roots: RootValues::Later };
        let paths = server.path_pairs(&around).map_err(|error| hinted(&error))?;
        let plain = if server.rootward.allow_plain_http { PlainHttp::Anywhere } else { PlainHttp::Loopback };
        let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let target = Target::new(url, pairs, plain)
            .map_err(|error| anyhow!("server `{}`: {error}", Shown::new(&server.name)))?;
        let is_checked = server
            .rootward
            .check_paths
            .unwrap_or_else(|| server.tells_roots() || !paths.is_empty() || may_be_this_machine(url));
        let roots = self.roots_of_remote_ambient(server, expanded, is_checked)?;
        let program = std::env::current_exe().context("cannot find the program that is running")?;
        let arguments = vec![OsString::from(connect::NAME), OsString::from(target.origin())];
        let options = Options {
            network: Network::On,
            unix_sockets: UnixSockets::None,
            unenforced: self.ground.settings.sandbox.options().unenforced,
            ..Options::default()
        };
        let mut secrets = expanded.secrets.clone();
        if url != target.shown() {
            secrets.push(url.to_owned());
        }
        let launch = Launch {
            homes: Homes::new_ambient(HomeKind::None, None, program.as_os_str(), &arguments),
            program: program.into(),
            arguments,
            runs: Runs::Elsewhere,
            typed_in: None,
            variables: connect::variables(url, headers, plain),
            withheld: Vec::new(),
            file_server: None,
            inject: Inject::Nothing,
            paths,
            confine: Confine::To(Box::new(options)),
            trace: Trace::Off,
            secrets,
        };
        let known = KnownServer::unknown(roots.sources.ceiling.clone());
        let mut ready = self.ready(server, launch, known, roots, Base::FirstRoot);
        if !is_checked {
            ready.rules.protection = Protection::Elsewhere;
        }
        Ok(ready)
    }

    /// Which roots count for a remote server: none, unless something about it depends on them.
    fn roots_of_remote_ambient(
        &self,
        server: &ServerConfig,
        expanded: &Expanded,
        is_checked: bool,
    ) -> Result<ItsRoots> {
        let of_client = server.rootward.roots == RootsFrom::Client;
        let depends = is_checked || server.tells_roots() || server.uses_roots();
        // A child for all clients gets no client's roots.
        if of_client && (!depends || server.rootward.isolation == Isolation::All) {
            let policy = Policy { follow: Follow::IgnoreClient, ..self.ground.settings.policy() };
            return Ok(ItsRoots { policy, sources: Sources::default() });
        }
        self.roots_ambient(server, expanded)
    }
}
