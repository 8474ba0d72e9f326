//! Lists of clients and of authors' domains in the settings.

use std::collections::HashSet;
use std::net::IpAddr;
use std::str::FromStr;

use oarlock_dkim::host_form;
use oarlock_network::IpNetwork;
use serde::Deserialize;

/// Clients of the MTA by address, network, name or domain.
///
/// | entry | clients |
/// |---|---|
/// | `192.0.2.7`, `2001:db8::7` | this address |
/// | `192.0.2.0/24`, `2001:db8::/32` | all addresses of this network |
/// | `mail.example.com` | the host of this name |
/// | `.example.com` | all hosts below this domain |
/// | `!192.0.2.7` and so on | excludes these clients from a larger entry |
///
/// The most precise entry that matches decides. A name is more precise than a domain, and a domain is more precise than
/// an address or a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct ClientList(Vec<ClientEntry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ClientEntry {
    pattern: HostPattern,
    is_excluded: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Network(IpNetwork),
    Name(String),
    /// The hosts below a domain. It begins with a dot.
    Below(String),
}

/// An error for a text that is not an entry of a [`ClientList`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?}: expected an address, a network such as 192.0.2.0/24, a host name with a domain, or .DOMAIN for all \
     hosts below, each with an optional ! before it"
)]
pub struct ClientEntryError(String);

/// An error for a text that is not an entry of a [`DomainList`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: expected a domain, or .DOMAIN for all domains below")]
pub struct DomainEntryError(String);

impl ClientList {
    /// Returns true if the list contains the client with this address and this name. An MTA passes a name only if the
    /// name also leads to the address.
    #[must_use]
    pub fn contains(&self, address: Option<IpAddr>, name: Option<&str>) -> bool {
        let precision = |entry: &&ClientEntry| entry.pattern.precision();
        let matching = self.0.iter().filter(|entry| entry.pattern.matches(address, name));
        matching.max_by_key(precision).is_some_and(|entry| !entry.is_excluded)
    }
}

impl TryFrom<Vec<String>> for ClientList {
    type Error = ClientEntryError;

    fn try_from(entries: Vec<String>) -> Result<Self, ClientEntryError> {
        entries.iter().map(|entry| entry.parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for ClientEntry {
    type Err = ClientEntryError;

    fn from_str(text: &str) -> Result<Self, ClientEntryError> {
        let (is_excluded, rest) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let pattern = HostPattern::parse(rest).ok_or_else(|| ClientEntryError(text.to_owned()))?;
        Ok(Self { pattern, is_excluded })
    }
}

impl HostPattern {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(network) = text.parse() {
            return Some(Self::Network(network));
        }
        if let Some(parent) = text.strip_prefix('.') {
            return Some(Self::Below(format!(".{}", host_form(parent)?)));
        }
        let name = host_form(text)?;
        // A name without a domain is a mistake, or the word `unknown` that MTAs write for clients without a name. A
        // name of digits alone is an address with a mistake.
        let is_name = name == "localhost"
            || (name.contains('.') && name.bytes().any(|byte| byte.is_ascii_alphabetic()));
        is_name.then(|| Self::Name(name.into_owned()))
    }

    fn matches(&self, address: Option<IpAddr>, client: Option<&str>) -> bool {
        match self {
            Self::Network(network) => address.is_some_and(|address| network.contains(address)),
            Self::Name(name) => client == Some(name),
            Self::Below(domain) => client.is_some_and(|client| client.ends_with(domain)),
        }
    }

    /// Returns the rank among the patterns that match the same client. Of two domains that match, one is below the
    /// other, so the longer one is more precise.
    fn precision(&self) -> (u8, usize) {
        match self {
            Self::Network(network) => (0, network.prefix_bits().into()),
            Self::Below(domain) => (1, domain.len()),
            Self::Name(_) => (2, 0),
        }
    }
}

/// Domains of authors: `example.com` is the domain alone, `.example.com` or `*.example.com` all domains below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct DomainList(HashSet<String>);

impl DomainList {
    /// Returns true if the list contains a domain. The domain must be in ASCII form.
    #[must_use]
    pub fn contains(&self, domain: &str) -> bool {
        let mut parents = domain.match_indices('.').map(|(dot, _)| &domain[dot..]);
        self.0.contains(domain) || parents.any(|parent| self.0.contains(parent))
    }

    /// Returns true if the list has no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<Vec<String>> for DomainList {
    type Error = DomainEntryError;

    fn try_from(entries: Vec<String>) -> Result<Self, DomainEntryError> {
        entries.iter().map(|entry| parse_domain(entry)).collect::<Result<_, _>>().map(Self)
    }
}

fn parse_domain(text: &str) -> Result<String, DomainEntryError> {
    let wrong = || DomainEntryError(text.to_owned());
    let below = text.strip_prefix('*').unwrap_or(text).strip_prefix('.');
    match below {
        Some(parent) => host_form(parent).map(|parent| format!(".{parent}")).ok_or_else(wrong),
        None => host_form(text).map(String::from).ok_or_else(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> ClientList {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        entries.try_into().unwrap()
    }

    fn has(list: &ClientList, address: &str, name: Option<&str>) -> bool {
        list.contains(Some(address.parse().unwrap()), name)
    }

    #[test]
    fn networks_contain_their_first_and_last_address_and_no_neighbour() {
        for (network, before, first, last, after) in [
            ("192.0.2.64/26", "192.0.2.63", "192.0.2.64", "192.0.2.127", "192.0.2.128"),
            ("10.0.0.0/8", "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("192.0.2.7/32", "192.0.2.6", "192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("198.51.100.2/31", "198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"),
            (
                "2001:db8:0:8000::/49",
                "2001:db8:0:7fff::",
                "2001:db8:0:8000::",
                "2001:db8:0:ffff:ffff::",
                "2001:db8:1::",
            ),
            ("2001:db8::5/128", "2001:db8::4", "2001:db8::5", "2001:db8::5", "2001:db8::6"),
            ("::ffff:192.0.2.64/122", "192.0.2.63", "192.0.2.64", "::ffff:192.0.2.127", "192.0.2.128"),
        ] {
            let list = list(&[network]);
            assert!(has(&list, first, None) && has(&list, last, None), "{network}");
            assert!(!has(&list, before, None) && !has(&list, after, None), "{network}");
        }
        assert!(has(&list(&["0.0.0.0/0"]), "203.0.113.9", None));
        assert!(!has(&list(&["0.0.0.0/0"]), "2001:db8::1", None), "an IPv4 network has no IPv6 client");
    }

    #[test]
    fn the_most_precise_entry_decides_in_any_order() {
        for entries in
            [["192.0.2.0/24", "!192.0.2.8/29", "192.0.2.9"], ["192.0.2.9", "!192.0.2.8/29", "192.0.2.0/24"]]
        {
            let list = list(&entries);
            assert!(has(&list, "192.0.2.7", None) && has(&list, "192.0.2.9", None), "{entries:?}");
            assert!(!has(&list, "192.0.2.8", None) && !has(&list, "192.0.2.15", None), "{entries:?}");
            assert!(has(&list, "192.0.2.16", None), "{entries:?}");
        }
        let names =
            list(&[".example.com", "!.outside.example.com", "mx.outside.example.com", "!192.0.2.0/24"]);
        assert!(has(&names, "192.0.2.1", Some("a.example.com")), "a name is more precise than a network");
        assert!(!has(&names, "203.0.113.1", Some("a.outside.example.com")));
        assert!(has(&names, "203.0.113.1", Some("mx.outside.example.com")));
        assert!(!has(&names, "203.0.113.1", Some("example.com")), "a domain is not below itself");
        assert!(!has(&names, "203.0.113.1", Some("badexample.com")));
        assert!(!has(&names, "203.0.113.1", None));
        assert!(!ClientList::default().contains(None, None));
    }

    #[test]
    fn rejects_entries_that_match_nobody() {
        for entry in [
            "",
            "!",
            "unknown",
            "mail",
            "10.0.0.0/33",
            "192.0.2",
            "10.0.0/8",
            ".",
            "a b.example",
            "!!::1",
            "*",
        ] {
            let refused = ClientList::try_from(vec![entry.to_owned()]).unwrap_err();
            assert_eq!(refused, ClientEntryError(entry.to_owned()));
        }
        let names = list(&["LocalHost", "B\u{fc}cher.example", "Relay.example.", ".below.example."]);
        assert!(
            has(&names, "127.0.0.1", Some("localhost"))
                && has(&names, "192.0.2.1", Some("xn--bcher-kva.example"))
                && has(&names, "192.0.2.1", Some("relay.example"))
                && has(&names, "192.0.2.1", Some("a.below.example"))
        );
    }

    #[test]
    fn domains_match_alone_or_with_all_below() {
        let entries = ["Example.com.", ".lists.example", "*.other.example"].map(str::to_owned).to_vec();
        let list = DomainList::try_from(entries).unwrap();
        for inside in ["example.com", "a.lists.example", "a.b.lists.example", "a.other.example"] {
            assert!(list.contains(inside), "{inside}");
        }
        for outside in ["a.example.com", "lists.example", "alists.example", "com", "other.example"] {
            assert!(!list.contains(outside), "{outside}");
        }
        for wrong in ["", ".", "a..b", "joe@example.com", "*"] {
            assert_eq!(DomainList::try_from(vec![wrong.to_owned()]), Err(DomainEntryError(wrong.to_owned())));
        }
    }
}
