//! Starts `rootward serve --http` and `rootward hub --http` on loopback for a host. One principal can reach both projects, and two more can
//! reach one project each.

use std::fs;
use std::path::Path;

use anyhow::Result;
use rootward_testkit::client::Listening;

use super::host::{Reached, Server};
use super::stage::{PROJECTS, Programs, REMOTE};
use crate::listening;

/// The principal that can reach both projects. The roots of a host decide which of them it gets.
pub(super) const EVERYTHING: &str = "everything";

/// Both servers. Dropping this value ends them.
#[derive(Debug)]
pub(super) struct Remote {
    serve: Listening,
    hub: Listening,
}

/// The token of a principal. A principal that can reach only one project has that project's name.
pub(super) fn token(principal: &str) -> String {
    format!("a-token-for-checks-of-the-principal-{principal}")
}

/// The header that a host that shares roots sends, with its token.
pub(super) fn header() -> String {
    format!("Authorization: Bearer {}", token(EVERYTHING))
}

/// The environment variable from which Rootward reads a principal's token.
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

    /// Both servers, for the host's settings.
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
    let section = |principal: &str| {
        let roots = PROJECTS.into_iter().filter(|project| [EVERYTHING, project].contains(&principal));
        let roots: Vec<String> = roots.map(|project| format!("\"{}\"", directory.join(project).display())).collect();
        let (variable, roots) = (variable(principal), roots.join(", "));
        format!("[http.principals.{principal}]\ntoken_env = \"{variable}\"\nroots = [{roots}]\n\n")
    };
    principals().map(section).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_with_the_name_of_a_project_reaches_only_that_project() {
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
