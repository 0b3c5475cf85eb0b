//! `rootward serve`: the file server.

#[cfg(feature = "http")]
mod http;

use std::ffi::OsString;
use std::sync::Arc;
#[cfg(feature = "roots")]
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use rootward_core::session::Sources;
use rootward_core::{Base, Validation};
use rootward_files::{FileServer, Listing, Toolset};
use rootward_server::{LeftOut, RootsService, Settings};
use tokio::signal::unix::{SignalKind, signal};

use crate::Outcome;
#[cfg(feature = "roots")]
use crate::following::Watched;
use crate::ground::Ground;
#[cfg(feature = "http")]
use crate::http::HttpFlags;
use crate::message;
use crate::recording::Recording;
use crate::saved::AskingAs;
use crate::settings::flag_help;

/// Delay from the start of a server until it follows the saved roots.
#[cfg(feature = "roots")]
const AFTER_THE_START: Duration = Duration::from_secs(1);

/// How often the operator's patterns are expanded again.
#[cfg(feature = "roots")]
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How long a pending write may still take when the server is told to exit.
const TO_FINISH: Duration = Duration::from_secs(2);

/// Serve files over MCP, on standard input and output or over HTTP
///
/// Offers the tools of the reference file server and more. Put `rootward serve` into a client's settings: it serves
/// the client's roots, limited to the directories named here.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 the client left, 2 wrong use or failure")]
pub(crate) struct Serve {
    /// A directory or file that limits what the client may share, with `:ro` (read), `:rw` (read, write, delete; the
    /// default), `:rw-nodelete` (read, write) or `:rwx` (all) at its end. If the client names no roots, these are
    /// the roots. Without any, those of `ROOTWARD_ROOTS`, else those of the settings file. If nobody names any, the
    /// saved roots (`rootward roots`)
    #[arg(value_name = "DIR")]
    roots: Vec<OsString>,
    #[arg(long, value_name = "SETS", value_delimiter = ',', value_parser = str::parse::<Toolset>, help = flag_help("--tools"))]
    tools: Vec<Toolset>,
    #[arg(long, value_name = "WHICH", value_parser = str::parse::<Listing>, help = flag_help("--resources"))]
    resources: Option<Listing>,
    #[command(flatten)]
    asking: AskingAs,
    #[command(flatten)]
    recording: Recording,
    #[cfg(feature = "http")]
    #[command(flatten)]
    http: HttpFlags,
    /// The verb that the user typed.
    #[arg(skip = "serve")]
    verb: &'static str,
}

impl Serve {
    /// The server for these roots, as a hub without a configuration runs it.
    #[cfg(feature = "wrap")]
    pub(crate) fn for_hub(roots: Vec<OsString>, asking: AskingAs, recording: Recording) -> Serve {
        Serve {
            roots,
            tools: Vec::new(),
            resources: None,
            asking,
            recording,
            #[cfg(feature = "http")]
            http: HttpFlags::default(),
            verb: "hub",
        }
    }

    /// The same over HTTP, if these flags say so.
    #[cfg(all(feature = "wrap", feature = "http"))]
    pub(crate) fn over(self, http: HttpFlags) -> Serve {
        Serve { http, ..self }
    }

    pub(crate) fn run(self) -> Result<Outcome> {
        let ground = Ground::load_ambient()?;
        let files = FileServer::default()
            .with_confinement(ground.settings.sandbox.options())
            .with_tools(ground.settings.serve.tools(&self.tools))
            .with_listing(ground.settings.serve.listing(self.resources));
        #[cfg(feature = "http")]
        if let Some(http) = self.http.prepare_ambient(&ground, &self.roots)? {
            return self.run_http(&ground, http, files).map(|()| Outcome::Done);
        }
        let service = RootsService::new(self.settings(&ground)?);
        message::warn_on_terminal(self.verb);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let follow = self.follow_ambient(ground, &service)?;
        let outcome = runtime.block_on(serve(service, files, follow));
        runtime.shutdown_timeout(TO_FINISH);
        outcome
    }

    /// Tells the sessions when the user saves or removes roots, or a root disappears. This does not begin at the
    /// start, when a client waits for its first answer; changes since then are still found.
    #[cfg(feature = "roots")]
    fn follow_ambient(&self, ground: Ground, service: &RootsService) -> Result<impl Future<Output = ()> + use<>> {
        let (service, peer) = (service.clone(), self.asking.name().map(str::to_owned));
        let (mut patterns, flags) = (ground.patterns_of_operator(&self.roots)?, self.roots.clone());
        let looks = patterns.has_any();
        let again = if looks { Some(Ground::load_ambient()?) } else { None };
        Ok(async move {
            tokio::time::sleep(AFTER_THE_START).await;
            let settings = service.settings();
            let given = (settings.sources.clone(), Arc::clone(&settings.guard.restrictions));
            let given = Arc::new(Mutex::new(given));
            let (kept, told) = (Arc::clone(&given), service.clone());
            let _watched = Watched::begin_ambient(ground, peer, move |saved| {
                let mut given = kept.lock().unwrap_or_else(PoisonError::into_inner);
                (given.0.saved, given.1) = (saved.roots, saved.restrictions);
                told.change(given.0.clone(), Arc::clone(&given.1));
            });
            let Some(ground) = again else { return std::future::pending().await };
            let ground = Arc::new(ground);
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                // A disk that does not answer must not block anyone.
                let (ground, flags, mut looked) = (Arc::clone(&ground), flags.clone(), patterns.clone());
                let look = move || {
                    let ceiling = looked.changed_ambient().then(|| ground.ceiling(&flags).ok());
                    (looked, ceiling.flatten())
                };
                let Ok((looked, ceiling)) = tokio::task::spawn_blocking(look).await else { continue };
                patterns = looked;
                if let Some(ceiling) = ceiling {
                    let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
                    given.0.ceiling = ceiling.set;
                    service.change(given.0.clone(), Arc::clone(&given.1));
                }
            }
        })
    }

    #[cfg(not(feature = "roots"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    fn follow_ambient(&self, _: Ground, _: &RootsService) -> Result<impl Future<Output = ()> + use<>> {
        Ok(std::future::pending())
    }

    fn settings(&self, ground: &Ground) -> Result<Settings> {
        let ceiling = ground.ceiling(&self.roots)?;
        ceiling.warn();
        let fallback = ground.fallback_for_server_ambient();
        fallback.warn();
        let saved = ground.saved(self.asking.name());
        if !ceiling.set.names_any() {
            saved.warn();
        }
        let mut settings = Settings::with_guard(ground.guard_options(Base::FirstRoot));
        settings.validation = Validation::of(&ground.directories);
        settings.policy = ground.settings.policy();
        settings.sources = Sources { ceiling: ceiling.set, saved: saved.set, fallback: fallback.set, bound: None };
        settings.way = Some("name one as `rootward serve DIR`, or save one with `rootward roots add DIR`");
        settings.left_out = Some(Arc::new(tell_left_out));
        settings.refusals = ground.settings.refusal.value;
        settings.audit = self.recording.open_ambient(ground)?;
        settings.server = Some("rootward serve".to_owned());
        Ok(settings)
    }
}

/// Tells the operator which of a client's roots was left out.
fn tell_left_out(root: &LeftOut) {
    message::line_in_passing(&format!("rootward: {root}"));
}

async fn serve(service: RootsService, files: FileServer, follow: impl Future<Output = ()>) -> Result<Outcome> {
    let mut ended = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    tokio::select! {
        served = files.serve_stdio(&service) => Ok(served.map(|()| Outcome::Done)?),
        _ = ended.recv() => Ok(Outcome::Done),
        _ = interrupted.recv() => Ok(Outcome::Done),
        () = follow => Ok(Outcome::Done),
    }
}
