//! `rootward serve --http` and `rootward hub --http`, on loopback beside a host, with a principal for both projects and one for each.

use std::fs;
use std::path::Path;

use anyhow::Result;
use rootward_testkit::client::Listening;

use super::host::{Reached, Server};
use super::stage::{PROJECTS, Programs, REMOTE};
use crate::listening;

/// The principal that can reach both projects. The roots of a host decide which of them it gets.
pub(super) const EVERYTHING: &str = "everything";

/// Both servers. They end with this value.
#[derive(Debug)]
pub(super) struct Remote {
    serve: Listening,
    hub: Listening,
}

/// The token of a principal: one that can reach a single project is named after it.
pub(super) fn token(principal: &str) -> String {
    format!("a-token-for-checks-of-the-principal-{principal}")
}

/// The header with the token of a host that shares roots.
pub(super) fn header() -> String {
    format!("Authorization: Bearer {}", token(EVERYTHING))
}

/// The variable from which Rootward reads that token.
fn variable(principal: &str) -> String {
    format!("TOKEN_OF_{}", principal.to_uppercase())
}

impl Remote {
    /// Starts both for the projects in `directory`.
    pub(super) fn start(programs: &Programs, directory: &Path) -> Result<Remote> {
        let home = directory.join("home-of-remote");
        fs::create_dir_all(home.join("rootward"))?;
        fs::write(home.join("rootward/config.toml"), settings(directory))?;
        let servers = home.join("servers.json");
        fs::write(&servers, programs.behind_hub().to_string())?;
        let tokens = principals().map(|principal| (variable(principal), token(principal)));
        let tokens: Vec<(&str, &str)> = tokens.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let start = |words: &[&str]| {
            let words: Vec<String> = words.iter().copied().map(str::to_owned).collect();
            listening::start(&programs.rootward, &words, &home, &tokens)
        };
        Ok(Remote { serve: start(&["serve"])?, hub: start(&["hub", "--config", &servers.display().to_string()])? })
    }

    /// The URL of `rootward serve`.
    pub(super) fn serve(&self) -> &str {
        &self.serve.url
    }

    /// Both, for the host's settings.
    pub(super) fn servers(&self) -> Vec<Server> {
        let servers = REMOTE.into_iter().zip([&self.serve, &self.hub]);
        servers.map(|(name, listening)| Server { name, reached: Reached::Url(listening.url.clone()) }).collect()
    }
}

fn principals() -> [&'static str; 3] {
    [EVERYTHING, PROJECTS[0], PROJECTS[1]]
}

/// Rootward's settings.
fn settings(directory: &Path) -> String {
    let of = |principal: &str| {
        let roots = PROJECTS.into_iter().filter(|project| [EVERYTHING, project].contains(&principal));
        let roots: Vec<String> = roots.map(|project| format!("\"{}\"", directory.join(project).display())).collect();
        let (variable, roots) = (variable(principal), roots.join(", "));
        format!("[http.principals.{principal}]\ntoken_env = \"{variable}\"\nroots = [{roots}]\n\n")
    };
    principals().map(of).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_that_is_named_after_a_project_reaches_only_that() {
        let expect = "\
[http.principals.everything]
token_env = \"TOKEN_OF_EVERYTHING\"
roots = [\"/p/one\", \"/p/two\"]

[http.principals.one]
token_env = \"TOKEN_OF_ONE\"
roots = [\"/p/one\"]

[http.principals.two]
token_env = \"TOKEN_OF_TWO\"
roots = [\"/p/two\"]

";
        assert_eq!(settings(Path::new("/p")), expect);
    }
}
