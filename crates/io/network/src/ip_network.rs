//! IP networks.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::Deserialize;

/// An IP network, written as `192.0.2.0/24`, `2001:db8::/32` or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct IpNetwork {
    base: IpAddr,
    bits: u8,
}

/// An error for a text that is not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a network: expected an address, or a network such as 192.0.2.0/24")]
pub struct NetworkError(String);

impl IpNetwork {
    /// Returns the number of leading bits that all addresses of the network share.
    #[must_use]
    pub fn prefix_bits(&self) -> u8 {
        self.bits
    }

    /// Returns true if the network contains the address. An IPv4 address mapped into IPv6 counts as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let shared = |network: u128, other: u128, width: u8| {
            let rest = u32::from(width - self.bits);
            network.checked_shr(rest).unwrap_or(0) == other.checked_shr(rest).unwrap_or(0)
        };
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(other)) => {
                shared(network.to_bits().into(), other.to_bits().into(), 32)
            }
            (IpAddr::V6(network), IpAddr::V6(other)) => shared(network.to_bits(), other.to_bits(), 128),
            _ => false,
        }
    }
}

impl FromStr for IpNetwork {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError(text.to_owned());
        let (base, bits) = match text.split_once('/') {
            Some((base, bits)) => (base, Some(bits.parse::<u8>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let base: IpAddr = base.parse().map_err(|_| wrong())?;
        let width = if base.is_ipv4() { 32 } else { 128 };
        match (bits.unwrap_or(width), base.to_canonical()) {
            // Addresses are compared in canonical form, so a network of mapped addresses is one of IPv4.
            (bits @ 96..=128, IpAddr::V4(base)) if width == 128 => {
                Ok(Self { base: base.into(), bits: bits - 96 })
            }
            (bits, _) if bits <= width => Ok(Self { base, bits }),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for IpNetwork {
    type Error = NetworkError;

    fn try_from(text: String) -> Result<Self, NetworkError> {
        text.parse()
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(network: &str, address: &str) -> bool {
        network.parse::<IpNetwork>().unwrap().contains(address.parse().unwrap())
    }

    #[test]
    fn a_network_contains_addresses_with_its_prefix() {
        assert!(has("127.0.0.0/8", "127.9.9.9") && !has("127.0.0.0/8", "128.0.0.1"));
        assert!(has("192.0.2.128/25", "192.0.2.200") && !has("192.0.2.128/25", "192.0.2.1"));
        assert!(has("0.0.0.0/0", "8.8.8.8") && !has("0.0.0.0/0", "::1"));
        assert!(has("::/0", "2001:db8::1") && has("::1", "::1") && !has("::1", "::2"));
        assert!(has("2001:db8::/33", "2001:db8:7fff::1") && !has("2001:db8::/33", "2001:db8:8000::1"));
        assert!(has("127.0.0.0/8", "::ffff:127.0.0.1") && has("10.1.1.1", "10.1.1.1"));
        assert!(has("::ffff:127.0.0.0/104", "127.9.9.9") && has("::ffff:10.1.1.1", "::ffff:10.1.1.1"));
        assert!(!has("::ffff:127.0.0.0/104", "128.0.0.1") && has("::/0", "2001:db8::1"));
    }

    #[test]
    fn rejects_texts_that_are_not_networks() {
        for text in ["", "x", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "10.0.0.0/-1"] {
            assert_eq!(text.parse::<IpNetwork>(), Err(NetworkError(text.into())));
        }
    }
}
