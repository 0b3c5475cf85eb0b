//! `rootward connect`: talks to a remote server, on standard input and output. The hub starts it for each remote
//! server.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_core::env::{CONNECT_HEADER as HEADER, CONNECT_PLAIN_HTTP as PLAIN, CONNECT_URL as URL};
use rootward_http::connect::{Ended, PlainHttp, Target, run_stdio};

use crate::Outcome;

/// The verb.
pub(crate) const NAME: &str = "connect";

/// Connect to a remote MCP server, on standard input and output
///
/// The hub starts this for each remote server, and the kernel gives it no directory. Headers come from the variables
/// `ROOTWARD_CONNECT_HEADER_1` and so on, as `Name: value`.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 the client left, 1 the server ended the session, 2 wrong use or failure")]
pub(crate) struct Connect {
    /// The address. The variable `ROOTWARD_CONNECT_URL` takes precedence
    #[arg(value_name = "URL")]
    address: Option<String>,
}

/// The variables that tell the process what to connect to.
pub(crate) fn variables(url: &str, headers: &[(String, String)], plain: PlainHttp) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = vec![(URL.into(), url.into())];
    for (number, (name, value)) in (1..).zip(headers) {
        variables.push((format!("{HEADER}{number}").into(), format!("{name}: {value}").into()));
    }
    if plain == PlainHttp::Anywhere {
        variables.push((PLAIN.into(), "1".into()));
    }
    variables
}

impl Connect {
    pub(crate) fn run(self) -> Result<Outcome> {
        let target = self.target_ambient()?;
        let shown = target.shown().to_owned();
        let says = |text: &str| {
            // Perhaps nobody reads it.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        };
        match run_stdio(target, Arc::new(says))? {
            Ended::ByClient => Ok(Outcome::Done),
            Ended::SessionGone => {
                says(&format!("the server at `{shown}` no longer knows this session"));
                Ok(Outcome::Denied)
            }
        }
    }

    fn target_ambient(self) -> Result<Target> {
        let address = std::env::var(URL).ok().or(self.address);
        let address = address.ok_or_else(|| anyhow!("no address was named"))?;
        let mut headers = Vec::new();
        for number in 1.. {
            let Ok(header) = std::env::var(format!("{HEADER}{number}")) else { break };
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| anyhow!("`{HEADER}{number}` is not a header: write `Name: value`"))?;
            headers.push((name.to_owned(), value.trim_start().to_owned()));
        }
        let plain = if std::env::var_os(PLAIN).is_some() { PlainHttp::Anywhere } else { PlainHttp::Loopback };
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Ok(Target::new(&address, headers, plain)?)
    }
}
