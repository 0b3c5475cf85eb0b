//! The address to listen on.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};

use anyhow::{Context, Result, anyhow};
use rootward_core::Shown;

use crate::message::Hinted;

/// An open port.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) listener: TcpListener,
    /// The real address, even if port 0 was requested.
    pub(super) address: SocketAddr,
}

/// The addresses that a text means.
pub(super) fn addresses(text: &str) -> Result<Vec<SocketAddr>> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(vec![(Ipv4Addr::LOCALHOST, port).into()]);
    }
    let wrong = |why: &str| {
        let says = format!("not a usable address: `{}` ({why})", Shown::new(text));
        anyhow!(Hinted { says, hint: "write address and port, such as `127.0.0.1:8080`".to_owned() })
    };
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?.collect();
    if found.is_empty() { Err(wrong("it resolves to no address")) } else { Ok(found) }
}

impl Listening {
    /// Listens on the first of these addresses that is free.
    pub(super) fn bind(text: &str, addresses: &[SocketAddr]) -> Result<Listening> {
        let context = || format!("cannot listen on `{}`", Shown::new(text));
        let listener = TcpListener::bind(addresses).with_context(context)?;
        let address = listener.local_addr().with_context(context)?;
        Ok(Listening { listener, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_a_port() {
        assert_eq!(addresses("8080").unwrap(), ["127.0.0.1:8080".parse().unwrap()]);
        assert_eq!(addresses("[::1]:0").unwrap(), ["[::1]:0".parse().unwrap()]);
        for wrong in ["", "127.0.0.1", "127.0.0.1:99999", "http://127.0.0.1:8080"] {
            assert!(addresses(wrong).is_err(), "{wrong}");
        }
    }
}
