//! Why a request to a remote server has no answer, with a remedy.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};

use http::StatusCode;

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server was not reached.
    Unreached(Unreached),
    /// It answered with a status other than success.
    Status(StatusCode),
    /// It redirects: the new address, without possible secrets.
    Redirect(StatusCode, Option<String>),
    /// The body has another type.
    ContentType(String),
    /// The connection broke in the middle of an answer.
    Cut(String),
    /// The response ended without an answer to this request.
    NoAnswer,
    /// A message exceeds the maximum size.
    TooLong(String),
    /// It no longer knows the session.
    SessionGone,
}

/// Why a server was not reached.
#[derive(Debug)]
pub(super) enum Unreached {
    Name(String),
    Refused,
    TimedOut,
    Tls(String),
    Other(String),
}

/// A failure with the address that it is about.
pub(super) struct Told<'f> {
    pub(super) address: &'f str,
    pub(super) failure: &'f Failure,
}

impl Failure {
    /// Converts an error of the HTTP client.
    pub(super) fn of_client(error: &(dyn Error + 'static), is_connect: bool) -> Failure {
        if is_connect { Failure::Unreached(Unreached::of(error)) } else { Failure::Cut(innermost(error)) }
    }
}

impl Unreached {
    fn of(error: &(dyn Error + 'static)) -> Unreached {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(tls) = error.downcast_ref::<rustls::Error>() {
                return Unreached::Tls(tls.to_string());
            }
            match error.downcast_ref::<io::Error>().map(io::Error::kind) {
                Some(ErrorKind::ConnectionRefused) => return Unreached::Refused,
                Some(ErrorKind::TimedOut) => return Unreached::TimedOut,
                _ => {}
            }
            if error.to_string() == "dns error" {
                return Unreached::Name(innermost(error));
            }
            next = cause(error);
        }
        Unreached::Other(innermost(error))
    }
}

/// The last cause, which is the most specific.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = cause(last) {
        last = source;
    }
    last.to_string()
}

/// The cause of an error. [`io::Error::source`] skips the error that it wraps, so this returns that one.
fn cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        match self.failure {
            Failure::Unreached(why) => {
                write!(f, "the server at `{address}` cannot be reached: ")?;
                match why {
                    Unreached::Name(why) => write!(f, "its name cannot be resolved ({why}); check `url`"),
                    Unreached::Refused => f.write_str("the connection was refused; check that it runs, and `url`"),
                    Unreached::TimedOut => f.write_str("it did not accept the connection in time"),
                    Unreached::Tls(why) => write!(
                        f,
                        "TLS failed ({why}); if its certificate was signed by your own authority, name the file with that authority's certificate in `SSL_CERT_FILE`"
                    ),
                    Unreached::Other(why) => f.write_str(why),
                }
            }
            Failure::Status(status) => {
                write!(f, "the server at `{address}` answered with status {}; {}", shown(*status), advice(*status))
            }
            Failure::Redirect(status, to) => {
                write!(f, "the server at `{address}` redirects ({})", shown(*status))?;
                if let Some(to) = to {
                    write!(f, " to `{to}`")?;
                }
                f.write_str(
                    ", which is not followed, because it would send the headers there too; set `url` to the right address",
                )
            }
            Failure::ContentType(found) => write!(
                f,
                "the server at `{address}` answered with `{found}`, which is not MCP; check that `url` is the address of the MCP endpoint"
            ),
            Failure::Cut(why) => write!(f, "the connection to `{address}` closed before the answer: {why}"),
            Failure::NoAnswer => write!(f, "the server at `{address}` ended the stream without an answer"),
            Failure::TooLong(why) => write!(f, "the answer of the server at `{address}` is refused: {why}"),
            Failure::SessionGone => write!(f, "the server at `{address}` no longer knows this session"),
        }
    }
}

fn shown(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

/// A remedy for the user.
fn advice(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "the server requires a token: set it in `headers`, for example `\"Authorization\": \"Bearer ${TOKEN}\"`",
        403 => "the token in `headers` does not allow this",
        404 => "there is no MCP endpoint at this address: check `url`",
        405 | 410 => "it does not speak Streamable HTTP at this address: check `url`",
        429 => "it received too many requests: try again later",
        500.. => "the server itself failed: try again later",
        _ => "check `url` and `headers`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_suggest_a_remedy() {
        let check = |failure: Failure, expect: &str| {
            let told = Told { address: "https://h/mcp", failure: &failure }.to_string();
            assert!(told.contains("`https://h/mcp`") && told.contains(expect), "{told}");
        };
        check(Failure::Status(StatusCode::UNAUTHORIZED), "401 Unauthorized; the server requires a token");
        check(Failure::Status(StatusCode::BAD_GATEWAY), "try again later");
        check(Failure::Redirect(StatusCode::FOUND, Some("https://o/".to_owned())), "302 Found) to `https://o/`");
        check(Failure::Unreached(Unreached::Tls("bad certificate".to_owned())), "SSL_CERT_FILE");
        let refused = io::Error::from(ErrorKind::ConnectionRefused);
        check(Failure::of_client(&refused, true), "the connection was refused");
        let tls = io::Error::new(ErrorKind::InvalidData, rustls::Error::HandshakeNotComplete);
        check(Failure::of_client(&io::Error::other(tls), true), "TLS failed (handshake not complete)");
        check(Failure::of_client(&refused, false), "closed before the answer");
    }
}
