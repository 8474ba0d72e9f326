//! Listeners: the sections `[listen]` and `[[listener]]`.

use std::collections::BTreeSet;
use std::net::{Ipv6Addr, SocketAddr};

use oarlock_network::IpNetwork;
use oarlock_service_kit::settings::{SettingsError, expect, parse_unix_mode};
use serde::Deserialize;

use super::{ListenAddress, ProxyConfig, ProxySocketSettings};

/// The name of the listener that `[listen] sockets` makes.
pub const LISTEN_NAME: &str = "listen";

/// The maximum length of a name, in bytes.
const MAX_NAME_LEN: usize = 64;

/// Sockets with a name, to which routes may be restricted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenerSettings {
    /// The name by which routes refer to the sockets.
    pub name: String,
    /// The addresses: `ADDRESS:PORT`, `:PORT`, `unix:PATH`, or `systemd` for the sockets of a socket unit.
    pub sockets: Vec<ListenAddress>,
    /// The permissions of UNIX sockets in octal digits.
    #[serde(default = "unix_mode")]
    pub unix_mode: String,
    /// The networks whose connections begin with a PROXY header, of version 1 or 2.
    #[serde(default)]
    pub proxy_protocol_from: Vec<IpNetwork>,
}

/// Returns the default permissions of UNIX sockets.
pub(super) fn unix_mode() -> String {
    "0660".to_owned()
}

impl ListenerSettings {
    pub(crate) fn unix_mode(&self) -> Result<u32, SettingsError> {
        parse_unix_mode(&self.unix_mode)
    }
}

impl ProxySocketSettings {
    /// Returns the listener of these sockets, which is the first one.
    fn listener(&self, sockets: Vec<ListenAddress>) -> ListenerSettings {
        ListenerSettings {
            name: LISTEN_NAME.to_owned(),
            sockets,
            unix_mode: self.unix_mode.clone(),
            proxy_protocol_from: self.proxy_protocol_from.clone(),
        }
    }
}

impl ProxyConfig {
    /// Returns the listeners: that of `[listen]`, if it has sockets, and those with names. Port 443 of every address is
    /// the default if there is neither.
    #[must_use]
    pub fn listeners(&self) -> Vec<ListenerSettings> {
        let default = || self.listener.is_empty().then(|| vec![ListenAddress::AnyAddress(443)]);
        let first = self.listen.sockets.clone().or_else(default);
        let first = first.map(|sockets| self.listen.listener(sockets));
        first.into_iter().chain(self.listener.iter().cloned()).collect()
    }

    /// Returns the number of a listener, if it exists.
    pub(crate) fn listener_number(&self, name: &str) -> Option<usize> {
        self.listeners().iter().position(|listener| listener.name == name)
    }

    pub(super) fn check_listeners(&self) -> Result<(), SettingsError> {
        parse_unix_mode(&self.listen.unix_mode)?;
        let (mut names, mut sockets) = (BTreeSet::from([LISTEN_NAME.to_owned()]), BTreeSet::new());
        for ListenerSettings { name, .. } in &self.listener {
            let is_name = (1..=MAX_NAME_LEN).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
            let expected = "1 to 64 letters, digits, '-', '_' and '.'";
            expect("[[listener]] name", expected, is_name, format_args!("{name:?}"))?;
            let expected = "another name for each, and not \"listen\", the name of [listen] sockets";
            expect(
                "[[listener]] name",
                expected,
                names.insert(name.clone()),
                format_args!("{name:?} again"),
            )?;
        }
        for listener in self.listeners() {
            listener.unix_mode()?;
            let field =
                if listener.name == LISTEN_NAME { "[listen] sockets" } else { "[[listener]] sockets" };
            expect(field, "at least one", !listener.sockets.is_empty(), "none")?;
            for address in &listener.sockets {
                let is_new = sockets.insert(bound_address(address)) || is_any_port(address);
                let found = format!("{:?} again", address.to_string());
                expect(field, "each address once, in one listener", is_new, found)?;
            }
        }
        Ok(())
    }
}

/// Returns the address that is bound: `:PORT` is `[::]:PORT`.
fn bound_address(address: &ListenAddress) -> String {
    match address {
        ListenAddress::AnyAddress(port) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, *port)).to_string(),
        address => address.to_string(),
    }
}

/// Returns true for port 0, which is another free port each time.
fn is_any_port(address: &ListenAddress) -> bool {
    match address {
        ListenAddress::Tcp(address) => address.port() == 0,
        ListenAddress::AnyAddress(port) => *port == 0,
        ListenAddress::Unix(_) | ListenAddress::Systemd => false,
    }
}
