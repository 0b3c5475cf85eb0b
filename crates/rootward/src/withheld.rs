//! The variables that a confined server does not get, as shown to people.
//!
//! A client's `env` block becomes part of Rootward's environment, and a server without its key usually dies without
//! a useful message. So the names are printed once, and `--env` passes them on. Values are never shown.

use std::ffi::{OsStr, OsString};

use rootward_core::Shown;
use rootward_hub::wrap::Confine;
use rootward_sandbox::{PassedVariable, withheld_variables};

/// How many names the line has, if they look like secrets.
const MOST: usize = 8;

/// How many names the line has, whatever they look like.
const FEW: usize = 3;

/// What shells, terminals and desktops set for every program, and no server needs.
const EVERYDAY: [&str; 32] = [
    "BROWSER",
    "COLUMNS",
    "DEBUGINFOD_URLS",
    "DESKTOP_SESSION",
    "DISPLAY",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_PAGER",
    "HISTFILE",
    "HISTSIZE",
    "HOSTNAME",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "LINES",
    "LS_COLORS",
    "MAIL",
    "MANAGERPID",
    "OLDPWD",
    "PAGER",
    "PS1",
    "PWD",
    "SESSION_MANAGER",
    "SHLVL",
    "TMUX",
    "VISUAL",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "XAUTHORITY",
    "_",
];

/// More of them, by prefix.
const EVERYDAY_PREFIXES: [&str; 15] = [
    "BASH_",
    "DBUS_",
    "ELECTRON_",
    "GDK_",
    "GNOME_",
    "GTK_",
    "KDE_",
    "QT_",
    "SSH_",
    "SYSTEMD_",
    "TERM_",
    "TMUX_",
    "VSCODE_",
    "VTE_",
    "XDG_",
];

/// Parts of the names of secrets.
const SECRETS: [&str; 6] = ["TOKEN", "KEY", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL"];

/// The names worth showing, those that look like secrets first. `given` are variables that the server gets in
/// another way.
pub(crate) fn worth_telling(
    environment: &[(OsString, OsString)],
    passed: &[PassedVariable],
    given: &[(OsString, OsString)],
) -> Vec<String> {
    let variables = environment.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
    let is_given = |name: &OsStr| given.iter().any(|(known, _)| known == name);
    let withheld = withheld_variables(variables, passed).into_iter().filter(|name| !is_given(name));
    let mut names: Vec<String> = withheld.map(|name| Shown::new(&name).to_string()).collect();
    names.retain(|name| looks_secret(name) || !is_everyday(name));
    names.sort_by_cached_key(|name| (!looks_secret(name), name.clone()));
    names
}

/// The names worth showing of a server that is started with the variables `given`.
pub(crate) fn from_server_ambient(confine: &Confine, given: &[(OsString, OsString)]) -> Vec<String> {
    match confine {
        Confine::To(options) => worth_telling(&std::env::vars_os().collect::<Vec<_>>(), &options.variables, given),
        Confine::Off => Vec::new(),
    }
}

/// One line about them, if there are any. Of many, it names only those that look like secrets.
pub(crate) fn line(names: &[String]) -> Option<String> {
    let first = names.first()?;
    let count = names.len();
    let secrets = names.iter().take(MOST).take_while(|name| looks_secret(name)).count();
    let shown = if count <= FEW { count } else { secrets };
    let listed = names[..shown].join(", ");
    Some(match (count, shown) {
        (1, _) => format!("note: 1 variable is withheld: {first}; pass it with --env {first}"),
        (_, 0) => {
            format!("note: {count} variables are withheld; `rootward doctor` names them; pass one with --env NAME")
        }
        _ if shown == count => {
            format!("note: {count} variables are withheld: {listed}; pass one with --env {first}")
        }
        _ => format!(
            "note: {count} variables are withheld: {listed} and {} more; `rootward doctor` names all; pass one with --env {first}",
            count - shown
        ),
    })
}

fn is_everyday(name: &str) -> bool {
    EVERYDAY.contains(&name) || EVERYDAY_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a name suggests that its value is a secret. A wrong guess only costs a place in the line.
fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(names: &[&str]) -> Vec<String> {
        let environment: Vec<(OsString, OsString)> =
            names.iter().map(|name| (OsString::from(name), OsString::from("s3cr3t"))).collect();
        worth_telling(&environment, &[], &[("GIVEN".into(), "x".into())])
    }

    #[test]
    fn a_person_sees_the_key_and_not_the_desktop() {
        let everyday =
            ["PWD", "SHLVL", "_", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "PATH", "HOME"];
        assert_eq!(told(&everyday), Vec::<String>::new());
        let mut names = vec!["MY_MODE", "GIVEN", "GITHUB_TOKEN", "SSH_PASSWORD", "BRAVE_API_KEY"];
        names.extend(everyday);
        assert_eq!(told(&names), ["BRAVE_API_KEY", "GITHUB_TOKEN", "SSH_PASSWORD", "MY_MODE"]);
    }

    #[test]
    fn the_line_stays_short() {
        let names = |count: usize| (0..count).map(|number| format!("N{number}")).collect::<Vec<String>>();
        assert_eq!(line(&[]), None);
        let check = |count: usize, expect: &str| assert_eq!(line(&names(count)).as_deref(), Some(expect));
        check(1, "note: 1 variable is withheld: N0; pass it with --env N0");
        check(2, "note: 2 variables are withheld: N0, N1; pass one with --env N0");
        check(11, "note: 11 variables are withheld; `rootward doctor` names them; pass one with --env NAME");
        let with = |secrets: usize, others: usize| {
            let secrets = (0..secrets).map(|number| format!("T{number}_TOKEN"));
            line(&secrets.chain(names(others)).collect::<Vec<String>>()).unwrap()
        };
        assert_eq!(
            with(2, 9),
            "note: 11 variables are withheld: T0_TOKEN, T1_TOKEN and 9 more; `rootward doctor` names all; pass one with \
             --env T0_TOKEN"
        );
        assert!(with(4, 0).starts_with("note: 4 variables are withheld: T0_TOKEN, T1_TOKEN, T2_TOKEN, T3_TOKEN; pass"));
        assert!(with(9, 9).contains("T7_TOKEN and 10 more;"));
    }
}
