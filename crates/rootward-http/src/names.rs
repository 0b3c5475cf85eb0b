//! Which `Host` and `Origin` headers are accepted.
//!
//! A web page can make a browser send requests to the loopback address under the page's own name, if that name
//! resolves there (DNS rebinding). The name then appears in both headers.

use std::net::{Ipv4Addr, Ipv6Addr};

use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;

/// The names that a front answers to.
#[derive(Debug)]
pub(crate) struct Names {
    hosts: Vec<Authority>,
    origins: Vec<String>,
}

/// Why a request is refused for its names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum NameError {
    #[error("the request has no `Host` header, or more than one")]
    NoHost,
    #[error("this `Host` is not served here")]
    Host,
    #[error("requests from this `Origin` are not accepted")]
    Origin,
}

/// Why a configured name cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadName {
    /// A host.
    #[error("not a host name: `{0}` (expected a name such as `example.org`, or with a port, `example.org:8443`)")]
    Host(String),
    /// An origin.
    #[error("not a valid web page origin: `{0}` (expected only a scheme and a name, such as `https://example.org`)")]
    Origin(String),
}

impl Names {
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Result<Names, BadName> {
        let hosts = hosts.iter().map(|host| host.parse().map_err(|_| BadName::Host(host.clone())));
        let origins = origins.iter().map(|text| origin(text).ok_or_else(|| BadName::Origin(text.clone())));
        Ok(Names { hosts: hosts.collect::<Result<_, _>>()?, origins: origins.collect::<Result<_, _>>()? })
    }

    /// Checks the names of a request. `authority` comes from its target, if it has one.
    pub(crate) fn check(&self, authority: Option<&Authority>, headers: &HeaderMap) -> Result<(), NameError> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(NameError::NoHost) };
        let host: Option<Authority> = Authority::try_from(host.as_bytes()).ok();
        // SECURITY: otherwise a page whose name resolves to the loopback address could talk to the front as its own
        // server
        // (test: names_of_others_are_refused)
        if !host.is_some_and(|host| self.serves(&host)) || authority.is_some_and(|authority| !self.serves(authority)) {
            return Err(NameError::Host);
        }
        // SECURITY: otherwise any page could send requests to the front (test: names_of_others_are_refused)
        if headers.get_all(ORIGIN).iter().any(|origin| !self.accepts(origin.as_bytes())) {
            return Err(NameError::Origin);
        }
        Ok(())
    }

    fn serves(&self, host: &Authority) -> bool {
        let is_configured = self.hosts.iter().any(|known| {
            known.host().eq_ignore_ascii_case(host.host())
                && known.port_u16().is_none_or(|port| host.port_u16() == Some(port))
        });
        !host.as_str().contains('@') && (is_loopback(host.host()) || is_configured)
    }

    /// Whether the operator listed this origin.
    pub(crate) fn names_origin(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(origin))
    }

    fn accepts(&self, origin: &[u8]) -> bool {
        let Ok(origin) = std::str::from_utf8(origin) else { return false };
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let host: Option<Authority> = host.and_then(|host| host.parse().ok());
        host.is_some_and(|host| !host.as_str().contains('@') && is_loopback(host.host()))
    }
}

/// An origin as browsers write it; `None` if the text is not one. `null` is not accepted: every page without an
/// origin sends it.
// SECURITY: browsers send `null` for pages of anyone (test: an_origin_is_a_scheme_and_a_name)
fn origin(text: &str) -> Option<String> {
    let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    let (scheme, name) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_name = name.parse::<Authority>().is_ok() && !name.contains(['@', '*']);
    (is_scheme && is_name).then_some(text)
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || bare.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn names_of_others_are_refused() {
        let hosts = ["mcp.example.org".to_owned(), "other.example.org:8443".to_owned()];
        let names = Names::new(&hosts, &["https://App.example.org/".to_owned()]).unwrap();
        let check = |host: &str, origin: Option<&str>, expect: Result<(), NameError>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_str(host).unwrap());
            if let Some(origin) = origin {
                headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
            }
            assert_eq!(names.check(None, &headers), expect, "{host} {origin:?}");
        };
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:4000", "127.9.9.9", "[::1]", "[::1]:4000"] {
            check(host, None, Ok(()));
        }
        for host in ["mcp.example.org", "MCP.example.org:1234", "other.example.org:8443"] {
            check(host, None, Ok(()));
        }
        for host in [
            "evil.example",
            "evil.example:4000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "other.example.org",
            "other.example.org:1",
            "128.0.0.1",
            "0.0.0.0",
            "[::2]",
            "localhost@evil.example",
            "evil.example@localhost",
            "",
            "a b",
        ] {
            check(host, None, Err(NameError::Host));
        }
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5", "https://app.example.org"] {
            check("localhost", Some(origin), Ok(()));
        }
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://localhost.evil.example",
            "http://app.example.org",
            "https://app.example.org:8443",
            "file://localhost",
            "http://localhost@evil.example",
            "http://localhost/path",
        ] {
            check("localhost", Some(origin), Err(NameError::Origin));
        }
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_name() {
        for fine in ["https://example.org", "http://[::1]:80/", "HTTPS://Example.org:8443", "chrome-extension://abc"] {
            assert!(Names::new(&[], &[fine.to_owned()]).is_ok(), "{fine}");
        }
        for wrong in [
            "",
            "*",
            "null",
            "example.org",
            "https://",
            "https://*",
            "https://*.example.org",
            "https://a/b",
            "https://u@a",
            "://a",
            "https://a//",
        ] {
            assert_eq!(Names::new(&[], &[wrong.to_owned()]).err(), Some(BadName::Origin(wrong.to_owned())), "{wrong}");
        }
    }

    #[test]
    fn a_request_has_one_host() {
        let names = Names::new(&[], &[]).unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(names.check(None, &headers), Err(NameError::NoHost));
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(names.check(Some(&Authority::from_static("evil.example")), &headers), Err(NameError::Host));
        assert_eq!(names.check(Some(&Authority::from_static("localhost:1")), &headers), Ok(()));
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(names.check(None, &headers), Err(NameError::NoHost));
        assert!(Names::new(&["a b".to_owned()], &[]).is_err());
    }
}
