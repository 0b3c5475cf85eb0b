//! `--http`: the flags that `serve` and `hub` share, and how they are checked before anything is served.
//!
//! All refusals happen here: a principal without a ceiling, a token that others can read, plain HTTP beyond
//! loopback. Tokens, certificate and key are read once, at the start.

mod counted;
#[cfg(feature = "wrap")]
mod handed;
mod limits;
mod listening;
mod log;
mod principals;
mod running;
mod secret_file;
mod token;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_http::{Config, Tls};

pub(crate) use counted::Counted;
use listening::Listening;
pub(crate) use log::{Log, Logged};
pub(crate) use principals::Principal;
#[cfg(feature = "wrap")]
pub(crate) use running::{Front, Threads};

use crate::ground::Ground;
use crate::message::Hinted;
use crate::settings::{Setting, flag_help};

/// The flags.
#[derive(Args, Debug, Default)]
pub(crate) struct HttpFlags {
    /// Serve over HTTP at this address, under `/mcp`, instead of standard input and output: `127.0.0.1:8080`,
    /// `[::1]:8080`, or only a port, on loopback. Port 0 picks a free port and prints it to standard error
    #[arg(long = "http", value_name = "ADDR", help_heading = "HTTP")]
    address: Option<String>,
    #[arg(long, value_name = "FILE", requires = "address", help_heading = "HTTP", help = flag_help("--token-file"))]
    token_file: Option<OsString>,
    #[arg(
        long,
        value_name = "FILE",
        requires = "address",
        requires = "tls_key",
        help_heading = "HTTP",
        help = flag_help("--tls-cert")
    )]
    tls_cert: Option<OsString>,
    #[arg(
        long,
        value_name = "FILE",
        requires = "address",
        requires = "tls_cert",
        help_heading = "HTTP",
        help = flag_help("--tls-key")
    )]
    tls_key: Option<OsString>,
    /// Serve plain HTTP beyond loopback: everybody on the network path can read the tokens and files, and use the
    /// tokens
    #[arg(long, requires = "address", help_heading = "HTTP")]
    insecure_plain_http: bool,
    #[arg(
        long = "allow-host",
        value_name = "NAME",
        requires = "address",
        help_heading = "HTTP",
        help = flag_help("--allow-host")
    )]
    allow_hosts: Vec<String>,
    #[arg(
        long = "allow-origin",
        value_name = "ORIGIN",
        requires = "address",
        help_heading = "HTTP",
        help = flag_help("--allow-origin")
    )]
    allow_origins: Vec<String>,
}

/// Everything needed to serve over HTTP.
#[derive(Debug)]
pub(crate) struct Http {
    /// The accepted principals; each one's index is its [`rootward_http::PrincipalId`].
    pub(crate) principals: Vec<Principal>,
    config: Config,
    listening: Listening,
    log: Log,
}

impl HttpFlags {
    /// What to serve over HTTP, if requested. `roots` are the directories of the command line.
    pub(crate) fn prepare_ambient(&self, ground: &Ground, roots: &[OsString]) -> Result<Option<Http>> {
        let Some(address) = &self.address else { return Ok(None) };
        let log = Log::read(ground)?;
        let settings = &ground.settings.http;
        let path = |flag: &Option<OsString>, setting: &Setting<Option<PathBuf>>| match flag {
            Some(flag) => ground.typed_path(flag).map(Some),
            None => Ok(setting.value.clone()),
        };
        let certificate = path(&self.tls_cert, &settings.tls_cert)?;
        let key = path(&self.tls_key, &settings.tls_key)?;
        let tls = match (certificate, key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(Tls {
                certificates: secret_file::CERTIFICATE.read_ambient(ground, &certificate)?,
                key: secret_file::KEY.read_ambient(ground, &key)?,
            }),
            (Some(_), None) => return Err(anyhow!("`tls_cert` is set without `tls_key`")),
            (None, Some(_)) => return Err(anyhow!("`tls_key` is set without `tls_cert`")),
        };
        let addresses = listening::addresses(address)?;
        let is_loopback = addresses.iter().all(|address| address.ip().is_loopback());
        // SECURITY: everybody on the network path can use a token that is sent unencrypted
        // (test: beyond_loopback_plain_http_takes_a_flag)
        if !is_loopback && tls.is_none() && !self.insecure_plain_http {
            let says = format!("`{address}` can be reached from other machines, and HTTP is not encrypted");
            let hint = "pass `--tls-cert FILE --tls-key FILE`, or `--insecure-plain-http` if something before this server encrypts";
            return Err(Hinted { says, hint: hint.to_owned() }.into());
        }
        let token_file = self.token_file.as_ref().map(|file| ground.typed_path(file)).transpose()?;
        let principals = principals::read_ambient(ground, roots, token_file, is_loopback)?;
        let or = |flag: &Vec<String>, setting: &Setting<Vec<String>>| {
            if flag.is_empty() { setting.value.clone() } else { flag.clone() }
        };
        let config = Config {
            principals: principals.iter().map(Principal::to_config).collect(),
            limits: limits::of(&settings.limits),
            hosts: or(&self.allow_hosts, &settings.allow_hosts),
            origins: or(&self.allow_origins, &settings.allow_origins),
            tls,
        };
        config.check()?;
        let listening = Listening::bind(address, &addresses)?;
        Ok(Some(Http { principals, config, listening, log }))
    }
}
