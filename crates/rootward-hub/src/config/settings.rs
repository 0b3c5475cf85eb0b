//! The key `rootward` of a server: the keys of a recipe, plus settings of the hub.
//!
//! The recipe keys share their names and parsers with recipes. An unknown key is an error.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use rootward_core::{Access, Origin, Root, Shown};
use rootward_sandbox::{Network, PassedVariable};

use super::error::ConfigError;
use super::naming::{LONGEST_PREFIX, is_plain};
use super::path_map::PathMap;
use super::template::{Template, TemplateError};
use super::tools::{ToolFilter, ToolPattern};
use super::tree::{Node, Section};
use crate::recipe::{HomeKind, Takes, reading};
use crate::scan::Treatment;

/// The keys, in the order of the documentation.
pub(super) const KEYS: [&str; 22] = [
    "recipe",
    "env",
    "set",
    "home",
    "directories",
    "switches",
    "arguments",
    "allow",
    "deny",
    "sandbox",
    "network",
    "unix_sockets",
    "roots",
    "ceiling",
    "access",
    "paths",
    "tell_roots",
    "check_paths",
    "allow_plain_http",
    "isolation",
    "tools",
    "prefix",
];
/// Keys that apply only to processes, not to remote servers.
pub(super) const KEYS_OF_PROCESSES: [&str; 11] =
    ["recipe", "env", "set", "home", "directories", "switches", "allow", "deny", "sandbox", "network", "unix_sockets"];
/// Keys that apply only to remote servers, not to processes.
pub(super) const KEYS_OF_ADDRESSES: [&str; 2] = ["check_paths", "allow_plain_http"];
/// The keys of `allow`.
pub(super) const ALLOW_KEYS: [&str; 3] = ["read", "write", "sockets"];
/// The keys of `deny`.
pub(super) const DENY_KEYS: [&str; 2] = ["read", "write"];
/// The keys of `tools`.
pub(super) const TOOLS_KEYS: [&str; 2] = ["allow", "deny"];
/// The keys of an entry of `paths`.
pub(super) const PATHS_KEYS: [&str; 2] = ["from", "to"];

/// The values of `access`, same as the suffixes on the command line.
pub(super) const ACCESS: [&str; 4] = ["ro", "rw", "rw-nodelete", "rwx"];
/// The values of `isolation`.
pub(super) const ISOLATION: [(Isolation, &str); 3] =
    [(Isolation::Session, "session"), (Isolation::Roots, "roots"), (Isolation::All, "all")];
/// The values of `sandbox`.
pub(super) const SANDBOX: [(SandboxLevel, &str); 3] =
    [(SandboxLevel::Auto, "auto"), (SandboxLevel::Landlock, "landlock"), (SandboxLevel::Off, "off")];
/// The values of `network`.
pub(super) const NETWORK: [(Network, &str); 2] = [(Network::On, "on"), (Network::Off, "off")];
/// The values of `unix_sockets`.
pub(super) const UNIX_SOCKETS: [(UnixSocketLevel, &str); 3] =
    [(UnixSocketLevel::On, "on"), (UnixSocketLevel::Off, "off"), (UnixSocketLevel::None, "none")];

/// The user's settings for one server. They take precedence over the server's recipe.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerSettings {
    /// Which recipe to use.
    pub recipe: RecipeChoice,
    /// Variables that are passed on from the hub's environment.
    pub env: Vec<PassedVariable>,
    /// Variables set for the server, in the form of [`crate::recipe::Recipe::set`].
    pub set: BTreeMap<String, String>,
    /// Which home directory it gets.
    pub home: Option<HomeKind>,
    /// How it takes directories.
    pub directories: Option<Takes>,
    /// How to treat arguments of its tools, by `TOOL.ARGUMENT`; `*` matches every tool.
    pub arguments: BTreeMap<String, Treatment>,
    /// Places that are open in addition to the roots.
    pub allow: AllowedPlaces,
    /// Places that stay closed, whatever other settings say.
    pub deny: DeniedPlaces,
    /// How strongly it is confined.
    pub sandbox: SandboxLevel,
    /// Whether it can reach the network.
    pub network: Option<Network>,
    /// Which unix sockets it can connect to.
    pub unix_sockets: Option<UnixSocketLevel>,
    /// Where its roots come from.
    pub roots: RootsFrom,
    /// The server gets no root outside these. Each is a root as on the command line, with an optional suffix.
    pub ceiling: Option<Vec<Template>>,
    /// The server gets at most this access to any root.
    pub access: Option<Access>,
    /// The server's own names for directories of this machine.
    pub paths: Vec<PathPair>,
    /// Whether the server may see the roots when it asks. By default, processes may and remote servers may not.
    pub tell_roots: Option<bool>,
    /// Whether strings in calls to a remote server are checked as paths of this machine. By default, the address
    /// decides.
    pub check_paths: Option<bool>,
    /// Whether a remote server on another machine may be reached without TLS.
    pub allow_plain_http: bool,
    /// Which sessions share a child.
    pub isolation: Isolation,
    /// Which of its tools clients can see and call.
    pub tools: ToolFilter,
    /// The prefix of its tool names. Empty means no prefix, `None` means the server's name.
    pub prefix: Option<String>,
}

/// Which recipe a server uses.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum RecipeChoice {
    /// The recipe that matches the command, if any.
    #[default]
    Fitting,
    /// This one, whatever the command is.
    Named(String),
    /// No recipe.
    Off,
}

/// Open places: absolute or starting with `~/`; may contain variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AllowedPlaces {
    /// For reading and executing.
    pub read: Vec<Template>,
    /// For reading and writing.
    pub write: Vec<Template>,
    /// Unix sockets to connect to.
    pub sockets: Vec<Template>,
}

/// Places that stay closed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeniedPlaces {
    /// Not readable.
    pub read: Vec<Template>,
    /// Not writable.
    pub write: Vec<Template>,
}

/// How strongly a server is confined, as `wrap --sandbox`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SandboxLevel {
    /// The strongest available on this machine. The server is not started if less than `Landlock` is available.
    #[default]
    Auto,
    /// Landlock and a system call filter.
    Landlock,
    /// No confinement.
    Off,
}

/// Which unix sockets a server can connect to, as `wrap --unix-sockets`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnixSocketLevel {
    /// All.
    On,
    /// Those in places that the server can write to, and those that `allow.sockets` names.
    Off,
    /// None.
    None,
}

/// Where a server's roots come from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum RootsFrom {
    /// From the client of each session.
    #[default]
    Client,
    /// These, whatever the client shares. Each is a root as on the command line, with an optional suffix.
    Fixed(Vec<Template>),
    /// It has no roots.
    Nothing,
}

/// Which sessions share a child of a server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Isolation {
    /// Each session has its own child.
    #[default]
    Session,
    /// Sessions of one user with the same roots, access and restrictions share a child.
    Roots,
    /// All sessions share one child. The server must not depend on the client's roots.
    All,
}

/// A directory of this machine and the server's name for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPair {
    /// The directory here; may contain variables.
    pub from: Template,
    /// The server's name for it.
    pub to: String,
}

impl ServerSettings {
    /// The templates that may contain a session's roots.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        let places = [&self.allow.read, &self.allow.write, &self.allow.sockets, &self.deny.read, &self.deny.write];
        places.into_iter().flatten().chain(self.paths.iter().map(|pair| &pair.from))
    }

    /// Reads the value of a server's key `rootward`.
    pub(super) fn read(node: &Node<'_, '_>) -> Result<ServerSettings, ConfigError> {
        let section = node.section()?;
        section.allow_only(&KEYS)?;
        let word = |key: &str| section.get(key);
        let settings = ServerSettings {
            recipe: word("recipe").map(|node| recipe(&node)).transpose()?.unwrap_or_default(),
            env: each(&section, "env", passed)?,
            set: set(&section)?,
            home: word("home").map(|node| parsed(&node, node.string()?, reading::home)).transpose()?,
            directories: directories(&section)?,
            arguments: arguments(&section)?,
            allow: allow(&section)?,
            deny: deny(&section)?,
            sandbox: word("sandbox").map(|node| node.word(&SANDBOX)).transpose()?.unwrap_or_default(),
            network: word("network").map(|node| node.word(&NETWORK)).transpose()?,
            unix_sockets: word("unix_sockets").map(|node| node.word(&UNIX_SOCKETS)).transpose()?,
            roots: word("roots").map(|node| roots(&node)).transpose()?.unwrap_or_default(),
            ceiling: word("ceiling").map(|node| root_list(&node)).transpose()?,
            access: word("access").map(|node| access(&node)).transpose()?,
            paths: paths(&section)?,
            tell_roots: word("tell_roots").map(|node| node.boolean()).transpose()?,
            check_paths: word("check_paths").map(|node| node.boolean()).transpose()?,
            allow_plain_http: word("allow_plain_http").map(|node| node.boolean()).transpose()?.unwrap_or_default(),
            isolation: word("isolation").map(|node| node.word(&ISOLATION)).transpose()?.unwrap_or_default(),
            tools: tools(&section)?,
            prefix: word("prefix").map(|node| prefix(&node)).transpose()?,
        };
        if settings.unix_sockets == Some(UnixSocketLevel::None) && !settings.allow.sockets.is_empty() {
            let says = "`rootward.unix_sockets` is `none`, but `rootward.allow.sockets` names sockets";
            return Err(section.wrong_key("unix_sockets", says, "remove one of the two"));
        }
        Ok(settings)
    }
}

/// Reads every entry of a list; empty if the key is absent.
pub(super) fn each<T>(
    section: &Section<'_, '_>,
    key: &str,
    read: impl Fn(&Node<'_, '_>) -> Result<T, ConfigError>,
) -> Result<Vec<T>, ConfigError> {
    match section.get(key) {
        None => Ok(Vec::new()),
        Some(node) => node.list()?.iter().map(read).collect(),
    }
}

/// Reads a string with a recipe parser.
fn parsed<T>(
    node: &Node<'_, '_>,
    text: &str,
    read: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<T, ConfigError> {
    read(text).map_err(|reason| {
        let says = format!("`{}`: `{}` is not usable", Shown::new(node.key()), Shown::new(text));
        node.wrong(says, reason)
    })
}

/// Parses a template.
pub(super) fn template(node: &Node<'_, '_>, text: &str) -> Result<Template, ConfigError> {
    Template::parse(text).map_err(|TemplateError { form, why }| {
        let key = node.key();
        // A password can contain `${`, so do not show it.
        let is_secret = key.starts_with("env.") || key.starts_with("headers.");
        let says = format!("`{}`: {why}", Shown::new(if is_secret { key } else { &form }));
        node.wrong(says, TemplateError::HINT)
    })
}

fn recipe(node: &Node<'_, '_>) -> Result<RecipeChoice, ConfigError> {
    match node.string()? {
        "auto" => Ok(RecipeChoice::Fitting),
        "none" => Ok(RecipeChoice::Off),
        "" => Err(node.wrong("`rootward.recipe`: an empty name", "write the name of a recipe, `auto` or `none`")),
        name => Ok(RecipeChoice::Named(name.to_owned())),
    }
}

fn passed(node: &Node<'_, '_>) -> Result<PassedVariable, ConfigError> {
    let text = node.string()?;
    PassedVariable::read(text).map_err(|error| {
        node.wrong(format!("`{}`: `{}` is not usable", Shown::new(node.key()), Shown::new(text)), error.to_string())
    })
}

fn set(section: &Section<'_, '_>) -> Result<BTreeMap<String, String>, ConfigError> {
    let Some(node) = section.get("set") else { return Ok(BTreeMap::new()) };
    let entries = node.section()?;
    let one = |(name, value): (&str, Node<'_, '_>)| {
        Ok((parsed(&value, name, reading::variable)?, value.string()?.to_owned()))
    };
    entries.entries().map(one).collect()
}

fn directories(section: &Section<'_, '_>) -> Result<Option<Takes>, ConfigError> {
    let switches = each(section, "switches", |node| Ok(node.string()?.to_owned()))?;
    let takes =
        section.get("directories").map(|node| parsed(&node, node.string()?, |text| reading::takes(text, &switches)));
    let takes = takes.transpose()?;
    if section.get("switches").is_some() && !matches!(takes, Some(Takes::Arguments { .. })) {
        let says = "`rootward.switches` has no effect here";
        return Err(section.wrong_key("switches", says, "set `\"directories\": \"arguments\"` too, or remove it"));
    }
    Ok(takes)
}

fn arguments(section: &Section<'_, '_>) -> Result<BTreeMap<String, Treatment>, ConfigError> {
    let Some(node) = section.get("arguments") else { return Ok(BTreeMap::new()) };
    let one = |(place, value): (&str, Node<'_, '_>)| {
        let place = parsed(&value, place, reading::argument)?;
        Ok((place, parsed(&value, value.string()?, reading::treatment)?))
    };
    node.section()?.entries().map(one).collect()
}

fn allow(section: &Section<'_, '_>) -> Result<AllowedPlaces, ConfigError> {
    let Some(node) = section.get("allow") else { return Ok(AllowedPlaces::default()) };
    let section = node.section()?;
    section.allow_only(&ALLOW_KEYS)?;
    let of = |key: &str| each(&section, key, place);
    Ok(AllowedPlaces { read: of("read")?, write: of("write")?, sockets: of("sockets")? })
}

fn deny(section: &Section<'_, '_>) -> Result<DeniedPlaces, ConfigError> {
    let Some(node) = section.get("deny") else { return Ok(DeniedPlaces::default()) };
    let section = node.section()?;
    section.allow_only(&DENY_KEYS)?;
    let of = |key: &str| each(&section, key, place);
    Ok(DeniedPlaces { read: of("read")?, write: of("write")? })
}

/// Reads a place: absolute or starting with `~/`, as in a recipe, or starting with a variable.
pub(super) fn place(node: &Node<'_, '_>) -> Result<Template, ConfigError> {
    let text = node.string()?;
    let template = without_all_roots(node, template(node, text)?)?;
    let begins = template.beginning();
    let is_absolute = begins.starts_with('/') || begins.starts_with("~/") || (begins.is_empty() && !text.is_empty());
    let has_dots = template.written().split('/').any(|name| matches!(name, "." | ".."));
    if !is_absolute || has_dots || text.contains('\0') {
        let says = format!("`{}`: `{}` is not usable", Shown::new(node.key()), Shown::new(text));
        return Err(node.wrong(says, "write an absolute path, or one from `~/`, without `.` and `..`"));
    }
    Ok(template)
}

fn roots(node: &Node<'_, '_>) -> Result<RootsFrom, ConfigError> {
    if let Ok(word) = node.string() {
        return match word {
            "client" => Ok(RootsFrom::Client),
            "none" => Ok(RootsFrom::Nothing),
            _ => {
                let says = format!("`rootward.roots`: unknown value `{}`", Shown::new(word));
                Err(node.wrong(says, "use `client`, `none`, or a list of directories: `[\"~/docs:ro\"]`"))
            }
        };
    }
    let list = root_list(node)?;
    if list.is_empty() {
        return Err(node.wrong("`rootward.roots`: an empty list", "write `none` for no roots"));
    }
    Ok(RootsFrom::Fixed(list))
}

/// Reads roots as on the command line. They come from the operator and must not depend on a session.
fn root_list(node: &Node<'_, '_>) -> Result<Vec<Template>, ConfigError> {
    let one = |node: &Node<'_, '_>| {
        let template = template(node, node.string()?)?;
        // SECURITY: a root that the client chooses would widen the operator's ceiling
        // (test: the_operators_roots_do_not_depend_on_the_session)
        if template.uses_roots() {
            let says = format!("`{}`: `{}` depends on the client", Shown::new(node.key()), template.written());
            return Err(node.wrong(says, "name directories of your own; `\"roots\": \"client\"` gives the client's"));
        }
        if let Some(text) = template.literal() {
            let home = Some(Path::new("/home"));
            Root::from_typed(OsStr::new(text), Path::new(""), home, Origin::Config).map_err(|error| {
                node.wrong(error.to_string(), "write an absolute path, one from `~/`, or a `file:` URI")
            })?;
        }
        Ok(template)
    };
    node.list()?.iter().map(one).collect()
}

fn access(node: &Node<'_, '_>) -> Result<Access, ConfigError> {
    let words: Vec<(Access, &str)> =
        ACCESS.into_iter().filter_map(|word| Some((Access::from_suffix(word)?, word))).collect();
    node.word(&words)
}

fn paths(section: &Section<'_, '_>) -> Result<Vec<PathPair>, ConfigError> {
    let pairs = each(section, "paths", |node| {
        let section = node.section()?;
        section.allow_only(&PATHS_KEYS)?;
        let (Some(from), Some(to)) = (section.get("from"), section.get("to")) else {
            return Err(
                section.wrong("a pair of paths needs `from` and `to`", "`from` is the path here, `to` the server's")
            );
        };
        Ok(PathPair { from: place(&from)?, to: to.string()?.to_owned() })
    })?;
    // Check what is known now; the rest is checked once the session's roots are known.
    let known = pairs.iter().filter_map(|pair| Some((pair.from.literal()?, &pair.to)));
    let known = known.filter(|(from, _)| !from.starts_with('~')).map(|(from, to)| (from.into(), to.clone()));
    let map = PathMap::new(known).and_then(|_| {
        let unknown = pairs.iter().enumerate().map(|(number, pair)| (format!("/{number}").into(), pair.to.clone()));
        PathMap::new(unknown)
    });
    match map {
        Ok(_) => Ok(pairs),
        Err(error) => {
            Err(section.wrong_key("paths", format!("`rootward.paths`: {error}"), "correct the pair, or remove it"))
        }
    }
}

fn tools(section: &Section<'_, '_>) -> Result<ToolFilter, ConfigError> {
    let Some(node) = section.get("tools") else { return Ok(ToolFilter::default()) };
    let section = node.section()?;
    section.allow_only(&TOOLS_KEYS)?;
    let allow = each(&section, "allow", ToolPattern::read)?;
    Ok(ToolFilter { allow: section.get("allow").map(|_| allow), deny: each(&section, "deny", ToolPattern::read)? })
}

fn prefix(node: &Node<'_, '_>) -> Result<String, ConfigError> {
    let text = node.string()?;
    if text.len() > LONGEST_PREFIX || !text.chars().all(is_plain) {
        let says = format!("`{}`: `{}` is not usable", Shown::new(node.key()), Shown::new(text));
        return Err(
            node.wrong(says, format!("use letters, digits, `_` and `-`, at most {LONGEST_PREFIX}; empty for none"))
        );
    }
    Ok(text.to_owned())
}

/// Rejects `${roots}` where only one path is possible.
pub(super) fn without_all_roots(node: &Node<'_, '_>, template: Template) -> Result<Template, ConfigError> {
    if template.has_all_roots() {
        let says = format!("`{}`: `${{roots}}` must be an argument of its own", Shown::new(node.key()));
        let hint = "use `${root}` for the first root, or `\"rootward\": {\"directories\": \"env:NAME\"}` for a variable with all";
        return Err(node.wrong(says, hint));
    }
    Ok(template)
}
