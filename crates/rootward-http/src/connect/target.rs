//! The target of a connection: a remote server's address and the headers of every request.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use thiserror::Error;
use url::{Host, Url};

/// Replaces possible secrets.
const HIDDEN: &str = "…";
/// Path segments of at least this length are not shown: some services put the key there.
const LONGEST_SHOWN: usize = 16;

/// Headers that the connection itself sets.
const OWN_HEADERS: [&str; 11] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "te",
    "transfer-encoding",
];

/// Whether the address may be reached without TLS.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PlainHttp {
    /// Only on this machine: headers carry tokens.
    #[default]
    Loopback,
    /// Anywhere, because the user allowed it.
    Anywhere,
}

/// A remote server. Neither its `Debug` output nor [`Target::shown`] contains a secret.
#[derive(Clone)]
pub struct Target {
    pub(super) uri: Uri,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    shown: String,
}

/// Why an address or its headers cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TargetError {
    /// Not an HTTP address.
    #[error("the address is not a valid HTTP URL")]
    Url,
    /// The address contains a user name or a password.
    #[error("the address contains a user name or a password, which HTTP does not send: use the header `Authorization`")]
    UserInfo,
    /// Not encrypted, and not on this machine.
    #[error(
        "`{0}` is not encrypted, and the server is not on this machine: use `https://`, or set `\"allow_plain_http\": true`"
    )]
    Plain(String),
    /// A header that HTTP does not allow.
    #[error("header `{0}` is not valid in HTTP")]
    Header(String),
    /// A header that the connection itself sets.
    #[error("header `{0}` is set by Rootward itself: remove it")]
    OwnHeader(String),
}

impl Target {
    /// A server at an address, with these headers in every request.
    pub fn new<'h>(
        address: &str,
        headers: impl IntoIterator<Item = (&'h str, &'h str)>,
        plain: PlainHttp,
    ) -> Result<Target, TargetError> {
        let mut url = Url::parse(address).map_err(|_| TargetError::Url)?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(TargetError::Url);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::UserInfo);
        }
        url.set_fragment(None);
        let shown = shown(&url);
        // SECURITY: anyone on the network path could read the tokens
        // (test: plain_http_leaves_this_machine_only_if_allowed)
        if url.scheme() == "http" && plain == PlainHttp::Loopback && !is_loopback_host(&url) {
            return Err(TargetError::Plain(shown));
        }
        let uri = url.as_str().parse().map_err(|_| TargetError::Url)?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let key: HeaderName = name.parse().map_err(|_| TargetError::Header(name.to_owned()))?;
            if OWN_HEADERS.contains(&key.as_str()) || key.as_str().starts_with("mcp-param-") {
                return Err(TargetError::OwnHeader(name.to_owned()));
            }
            let mut value =
                HeaderValue::from_bytes(value.as_bytes()).map_err(|_| TargetError::Header(name.to_owned()))?;
            value.set_sensitive(true);
            map.append(key, value);
        }
        Ok(Target { uri, url, headers: map, shown })
    }

    /// The address without possible secrets.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Target").field("address", &self.shown).field("headers", &names).finish_non_exhaustive()
    }
}

/// An address without its query and without path segments that may be a key.
pub(super) fn shown(url: &Url) -> String {
    let part = |part: &str| if part.len() >= LONGEST_SHOWN { HIDDEN.to_owned() } else { part.to_owned() };
    let path: Vec<String> = url.path_segments().into_iter().flatten().map(part).collect();
    format!("{}/{}", url.origin().ascii_serialization(), path.join("/"))
}

/// Whether an address is certainly on this machine.
pub fn is_loopback(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| is_loopback_host(&url))
}

fn is_loopback_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}

/// Whether a server at an address may see this machine's files, judging by the address: it is on this machine or in
/// the local network, or has a name that only the local network knows. True if the address cannot be parsed.
pub fn may_be_this_machine(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return true };
    if url.scheme() != "https" {
        return true;
    }
    match url.host() {
        Some(Host::Ipv4(ip)) => is_near(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => is_near(IpAddr::V6(ip)),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            let last = name.rsplit('.').next().unwrap_or(name);
            !name.contains('.') || ["localhost", "local", "internal", "lan", "home", "test", "arpa"].contains(&last)
        }
        None => true,
    }
}

/// Whether an IP address is local: not part of the public internet.
fn is_near(ip: IpAddr) -> bool {
    let v6_near =
        |ip: Ipv6Addr| ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local();
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified(),
        IpAddr::V6(ip) => v6_near(ip) || ip.to_ipv4_mapped().is_some_and(|ip| is_near(IpAddr::V4(ip))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_leaves_this_machine_only_if_allowed() {
        let check = |address: &str, loopback: bool| {
            let target = Target::new(address, [], PlainHttp::Loopback);
            assert_eq!(target.is_ok(), loopback, "{address}: {target:?}");
            assert!(Target::new(address, [], PlainHttp::Anywhere).is_ok(), "{address}");
        };
        for address in
            ["http://127.0.0.1:1/mcp", "http://[::1]/", "http://localhost/", "http://a.localhost/", "http://127.1/"]
        {
            check(address, true);
        }
        for address in
            ["http://example.org/", "http://10.0.0.1/", "http://127.0.0.1.example.org/", "http://localhost.example.org"]
        {
            check(address, false);
        }
        check("https://example.org/", true);
    }

    #[test]
    fn addresses_and_headers_that_cannot_be_used() {
        let check = |address: &str, header: (&str, &str), expect: TargetError| {
            assert_eq!(Target::new(address, [header], PlainHttp::Loopback).unwrap_err(), expect);
        };
        let fine = ("A", "b");
        check("file:///etc/passwd", fine, TargetError::Url);
        check("nonsense", fine, TargetError::Url);
        check("https://me:secret@example.org/", fine, TargetError::UserInfo);
        check("https://example.org/", ("A b", "c"), TargetError::Header("A b".to_owned()));
        check("https://example.org/", ("A", "b\r\nC: d"), TargetError::Header("A".to_owned()));
        check("https://example.org/", ("Host", "b"), TargetError::OwnHeader("Host".to_owned()));
        check("https://example.org/", ("Mcp-Param-X", "b"), TargetError::OwnHeader("Mcp-Param-X".to_owned()));
    }

    #[test]
    fn what_is_shown_has_no_secret() {
        let target = Target::new(
            "https://example.org/s/0123456789abcdef01/mcp?key=hunter2#hunter2",
            [("Authorization", "Bearer hunter2")],
            PlainHttp::Loopback,
        )
        .unwrap();
        assert_eq!(target.shown(), "https://example.org/s/…/mcp");
        assert_eq!(target.origin(), "https://example.org");
        let debug = format!("{target:?}");
        assert!(debug.contains("authorization") && !debug.contains("hunter2") && !debug.contains("0123"), "{debug}");
    }

    #[test]
    fn servers_that_may_see_this_machine() {
        for near in [
            "http://example.org/",
            "https://localhost/",
            "https://192.168.0.7/",
            "https://[fd00::1]/",
            "https://nas/",
            "https://nas.local/",
            "https://host.docker.internal/",
            "https://[::ffff:10.0.0.1]/",
            "nonsense",
        ] {
            assert!(may_be_this_machine(near), "{near}");
        }
        for far in ["https://api.githubcopilot.com/mcp/", "https://1.1.1.1/", "https://example.org./"] {
            assert!(!may_be_this_machine(far), "{far}");
        }
    }
}
