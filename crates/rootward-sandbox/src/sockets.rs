//! What kind of service listens on a unix socket, judged by the socket's name.
//!
//! A container engine, a bus, a service manager or a key agent acts for its user outside the sandbox. A command that may connect to
//! one is not confined. No flag opens such a socket by name. This is a list of well-known names and cannot be complete; closing too
//! much is the safe mistake.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::follow_ambient;
use serde::{Deserialize, Serialize};

/// The kind of a socket, judged by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SocketKind {
    /// Not on the list: a database, a development server.
    Ordinary,
    /// Controls the user's session: a display, a terminal, an editor, a browser. Open only if the user names it.
    Session,
    /// Starts containers or virtual machines, which can mount any directory.
    ContainerEngine,
    /// The session bus or the system bus.
    Bus,
    /// Starts programs for the user.
    ServiceManager,
    /// Holds keys and uses them on request.
    Agent,
}

/// Known names, in lower case. A `*` matches any text.
struct Known {
    kind: SocketKind,
    /// The name of the socket.
    names: &'static [&'static str],
    /// A part of the name.
    parts: &'static [&'static str],
    /// Its parent directory.
    parents: &'static [&'static str],
    /// Any directory above it.
    directories: &'static [&'static str],
}

const KNOWN: &[Known] = &[
    Known {
        kind: SocketKind::ContainerEngine,
        names: &[
            "docker.sock*",
            "docker-*",
            "docker_*",
            "dockerd*",
            "docker.raw.sock",
            "podman*",
            "containerd*",
            "crio*",
            "cri-docker*",
            "dockershim*",
            "buildkit*",
            "libpod*",
            "libvirt-*",
            "virtqemud-*",
            "virtlxcd-*",
            "lxd*",
            "incus*",
            "colima*",
            "nerdctl*",
        ],
        parts: &[],
        parents: &["docker", "podman", "crio", "buildkit", "lxc"],
        directories: &[
            "containerd",
            "libpod",
            "libvirt",
            "lxd",
            "incus",
            "lxd-user",
            "incus-user",
            ".docker",
            ".colima",
            ".lima",
            ".orbstack",
            ".rd",
            ".finch",
        ],
    },
    Known {
        kind: SocketKind::Bus,
        names: &["system_bus_socket", "dbus-*", "ibus-*"],
        parts: &[],
        parents: &["ibus"],
        directories: &["dbus", "dbus-1", "at-spi", "at-spi2", "gvfs", "gvfsd"],
    },
    Known {
        kind: SocketKind::ServiceManager,
        names: &["io.systemd.*", "snapd*.socket", "supervisor.sock", "supervisord.sock", "pm2.sock"],
        parts: &[],
        parents: &[],
        directories: &["systemd", ".pm2", "watchman"],
    },
    Known {
        kind: SocketKind::Agent,
        names: &["s.gpg-agent*", "s.keyboxd*", "s.scdaemon*", "s.dirmngr*", "kwallet*", "kcm*", "pcscd.comm"],
        parts: &["ssh-agent", "ssh_agent", "ssh-auth", "ssh_auth", "gpg-agent", "keepassxc", "1password", "kcm-socket"],
        parents: &["gcr", "pkcs11", "p11-kit", "yubikey-agent"],
        directories: &["keyring", "keyring-*", "keyrings", ".gnupg", "gnupg", ".ssh", ".1password", "1password"],
    },
    Known {
        kind: SocketKind::Session,
        names: &[
            "wayland-*",
            "sway-ipc.*",
            "ipc-socket.*",
            "niri.*",
            "pipewire-*",
            "kitty*",
            "mykitty*",
            "alacritty*",
            "nvim.*",
            "nvim*.sock",
            "vscode-*",
            "code-server*",
            "cursor-*",
            "singletonsocket",
            ".java_pid*",
            "dotnet-diagnostic-*",
        ],
        parts: &[],
        parents: &["emacs*", "nvim*", "pulse", "wezterm", "zellij*"],
        directories: &[
            ".x11-unix",
            ".ice-unix",
            ".xim-unix",
            "hypr",
            "i3",
            "screen",
            "screens",
            ".screen",
            "tmux-*",
            ".emacs.d",
        ],
    },
];

impl SocketKind {
    /// The kind of the socket at a path.
    pub fn of(path: &Path) -> SocketKind {
        let names: Vec<Vec<u8>> = path.iter().map(|name| name.as_bytes().to_ascii_lowercase()).collect();
        let Some((name, directories)) = names.split_last() else { return SocketKind::Ordinary };
        let parent = directories.last().map(Vec::as_slice).unwrap_or_default();
        // Names that count only in some directories.
        if parent.starts_with(b"ssh-") && name.starts_with(b"agent.") {
            return SocketKind::Agent;
        }
        if name == b"bus" && (path.starts_with("/run") || path.starts_with("/var/run")) {
            return SocketKind::Bus;
        }
        let is = |known: &&Known| {
            known.names.iter().any(|pattern| matches(pattern, name))
                || known.parts.iter().any(|part| holds(name, part.as_bytes()))
                || known.parents.iter().any(|pattern| matches(pattern, parent))
                || directories.iter().any(|name| known.directories.iter().any(|pattern| matches(pattern, name)))
        };
        KNOWN.iter().find(is).map_or(SocketKind::Ordinary, |known| known.kind)
    }

    /// Whether no flag opens it by name.
    pub fn is_never(self) -> bool {
        match self {
            SocketKind::Ordinary | SocketKind::Session => false,
            SocketKind::ContainerEngine | SocketKind::Bus | SocketKind::ServiceManager | SocketKind::Agent => true,
        }
    }
}

impl fmt::Display for SocketKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SocketKind::Ordinary => "a socket",
            SocketKind::Session => "a socket that controls the user's session",
            SocketKind::ContainerEngine => "the socket of a container engine",
            SocketKind::Bus => "the socket of a session or system bus",
            SocketKind::ServiceManager => "the socket of a service manager",
            SocketKind::Agent => "the socket of an agent that holds keys",
        })
    }
}

fn matches(pattern: &str, name: &[u8]) -> bool {
    let pattern = pattern.as_bytes();
    match pattern.iter().position(|byte| *byte == b'*') {
        None => name == pattern,
        Some(star) => {
            let (start, end) = (&pattern[..star], &pattern[star + 1..]);
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

fn holds(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}

/// The sockets that environment variables of the user's session name, as spelled and resolved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SessionSockets(Vec<(PathBuf, SocketKind)>);

impl SessionSockets {
    /// Reads the variables of an environment.
    pub fn of_ambient(variables: impl IntoIterator<Item = (OsString, OsString)>) -> SessionSockets {
        let variables: Vec<_> = variables.into_iter().collect();
        let runtime = variables.iter().find(|(name, _)| name == "XDG_RUNTIME_DIR").map(|(_, value)| Path::new(value));
        let mut found = Vec::new();
        for (path, kind) in variables.iter().flat_map(|(name, value)| named(name, value, runtime)) {
            let lies_at = follow_ambient(&path).map(|followed| followed.place);
            found.extend(lies_at.filter(|place| *place != path).map(|place| (place, kind)));
            found.push((path, kind));
        }
        SessionSockets(found)
    }

    /// The reverse of [`SessionSockets::places`].
    pub(crate) fn new(places: Vec<(PathBuf, SocketKind)>) -> SessionSockets {
        SessionSockets(places)
    }

    pub(crate) fn places(&self) -> &[(PathBuf, SocketKind)] {
        &self.0
    }

    /// The kind of a socket, by these variables and by its name.
    pub fn kind(&self, path: &Path) -> SocketKind {
        let here = self.0.iter().filter(|(known, _)| known == path).map(|(_, kind)| *kind);
        // The strictest kind is the last one.
        here.chain([SocketKind::of(path)]).max().unwrap_or(SocketKind::Ordinary)
    }
}

/// The sockets that one variable names.
fn named(name: &OsStr, value: &OsStr, runtime: Option<&Path>) -> Vec<(PathBuf, SocketKind)> {
    let absolute = |bytes: &[u8]| Some(PathBuf::from(OsStr::from_bytes(bytes))).filter(|path| path.is_absolute());
    let bytes = value.as_bytes();
    let one = |path: Option<PathBuf>, kind| path.into_iter().map(|path| (path, kind)).collect();
    match name.to_str().unwrap_or_default() {
        "SSH_AUTH_SOCK" => one(absolute(bytes), SocketKind::Agent),
        // `path:process:version`.
        "GPG_AGENT_INFO" => one(bytes.split(|byte| *byte == b':').next().and_then(absolute), SocketKind::Agent),
        "DOCKER_HOST" | "CONTAINER_HOST" | "CONTAINERD_ADDRESS" | "BUILDKIT_HOST" | "LIBVIRT_DEFAULT_URI" => {
            let path = bytes.strip_prefix(b"unix://").or_else(|| bytes.strip_prefix(b"unix:")).unwrap_or(bytes);
            one(absolute(path), SocketKind::ContainerEngine)
        }
        // `unix:path=/run/user/1000/bus,guid=…;unix:…` (D-Bus Specification, server addresses).
        "DBUS_SESSION_BUS_ADDRESS" | "DBUS_SYSTEM_BUS_ADDRESS" | "AT_SPI_BUS_ADDRESS" | "IBUS_ADDRESS" => {
            let pairs = bytes.split(|byte| matches!(byte, b';' | b',' | b':'));
            let paths = pairs.filter_map(|pair| absolute(pair.strip_prefix(b"path=")?));
            paths.map(|path| (path, SocketKind::Bus)).collect()
        }
        "WAYLAND_DISPLAY" | "PIPEWIRE_REMOTE" => {
            one(absolute(bytes).or_else(|| Some(runtime?.join(value))), SocketKind::Session)
        }
        "SWAYSOCK" | "I3SOCK" | "NIRI_SOCKET" | "VSCODE_IPC_HOOK_CLI" | "VSCODE_GIT_IPC_HANDLE" | "NVIM" => {
            one(absolute(bytes), SocketKind::Session)
        }
        "KITTY_LISTEN_ON" => one(bytes.strip_prefix(b"unix:").and_then(absolute), SocketKind::Session),
        // `path,process,session`.
        "TMUX" => one(bytes.split(|byte| *byte == b',').next().and_then(absolute), SocketKind::Session),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_listener_does() {
        let check = |path: &str, expect: SocketKind| assert_eq!(SocketKind::of(Path::new(path)), expect, "{path}");
        for path in [
            "/run/docker.sock",
            "/var/run/docker.sock",
            "/home/u/project/Docker.sock",
            "/home/u/.colima/default/docker.sock",
            "/home/u/.docker/run/any.sock",
            "/run/user/1000/podman/podman.sock",
            "/run/containerd/containerd.sock",
            "/run/containerd/s/0a1b2c",
            "/run/crio/crio.sock",
            "/run/buildkit/buildkitd.sock",
            "/var/lib/lxd/unix.socket",
            "/var/lib/incus/unix.socket.user",
            "/run/libpod/x",
            "/run/libvirt/libvirt-sock",
        ] {
            check(path, SocketKind::ContainerEngine);
        }
        for path in ["/run/user/1000/bus", "/run/dbus/system_bus_socket", "/tmp/dbus-A1b2", "/run/user/1/at-spi/bus_0"]
        {
            check(path, SocketKind::Bus);
        }
        for path in
            ["/run/systemd/private", "/run/user/1000/systemd/private", "/run/snapd.socket", "/home/u/.pm2/rpc.sock"]
        {
            check(path, SocketKind::ServiceManager);
        }
        for path in [
            "/tmp/ssh-XXXX/agent.12",
            "/home/u/.gnupg/S.gpg-agent.ssh",
            "/run/user/1000/gnupg/S.gpg-agent",
            "/run/user/1000/keyring/control",
            "/home/u/.1password/agent.sock",
            "/run/user/1000/kwallet5.socket",
            "/run/user/1000/ssh-agent.socket",
            "/run/user/1000/gcr/ssh",
        ] {
            check(path, SocketKind::Agent);
        }
        for path in ["/tmp/.X11-unix/X0", "/run/user/1000/wayland-0", "/tmp/tmux-1000/default", "/tmp/.java_pid12"] {
            check(path, SocketKind::Session);
        }
        for path in [
            "/run/postgresql/.s.PGSQL.5432",
            "/var/run/mysqld/mysqld.sock",
            "/home/u/project/dev.sock",
            "/home/u/project/bus",
            "/home/u/docker/compose/app.sock",
            "/tmp/playwright/x.sock",
            "/",
        ] {
            check(path, SocketKind::Ordinary);
        }
        assert!(SocketKind::Agent.is_never() && !SocketKind::Session.is_never() && !SocketKind::Ordinary.is_never());
    }

    #[test]
    fn variables_of_the_session_name_sockets() {
        let variables = [
            ("SSH_AUTH_SOCK", "/home/u/project/a"),
            ("DOCKER_HOST", "unix:///home/u/project/b"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/home/u/project/c,guid=1;unix:abstract=/tmp/x"),
            ("XDG_RUNTIME_DIR", "/run/user/7"),
            ("WAYLAND_DISPLAY", "d"),
            ("TMUX", "/home/u/project/e,12,0"),
            ("CONTAINER_HOST", "ssh://host/run/f"),
            ("OTHER", "/home/u/project/g"),
        ];
        let session = SessionSockets::of_ambient(variables.map(|(name, value)| (name.into(), value.into())));
        let check = |path: &str, expect| assert_eq!(session.kind(Path::new(path)), expect, "{path}");
        check("/home/u/project/a", SocketKind::Agent);
        check("/home/u/project/b", SocketKind::ContainerEngine);
        check("/home/u/project/c", SocketKind::Bus);
        check("/run/user/7/d", SocketKind::Session);
        check("/home/u/project/e", SocketKind::Session);
        check("/home/u/project/g", SocketKind::Ordinary);
        check("/run/docker.sock", SocketKind::ContainerEngine);
    }
}
